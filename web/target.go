package web

import (
	"net/url"
	"path"
	"strings"
)

// home is where people go who were not on their way elsewhere.
const home = "/account"

// maxTarget bounds a return target. Requests for consent carry their whole query.
const maxTarget = 20 << 10

// targets are the pages, with what is below them, that a sign-in may lead to.
var targets = []string{home, devicePath, authorizationPath}

// target returns where to go after a sign-in: what was asked for where it is
// one of targets at this service, and home otherwise. It never leaves the
// origin, whatever a browser makes of odd URLs.
func target(asked string) string {
	if !isTarget(asked) {
		return home
	}
	return asked
}

func isTarget(asked string) bool {
	if len(asked) > maxTarget || !strings.HasPrefix(asked, "/") || strings.ContainsFunc(asked, odd) {
		return false
	}
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return false
	}
	if strings.Contains(u.Path, `\`) || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") {
		return false // also decoded: browsers take %2e%2e for ".."
	}
	for _, allowed := range targets {
		if u.Path == allowed || strings.HasPrefix(u.Path, allowed+"/") {
			return true
		}
	}
	return false
}

// odd reports whether a character stands in no local URL that this service makes.
func odd(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' || r == '#' }
