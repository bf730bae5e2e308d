package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy is what a page may do beyond showing itself.
type policy struct {
	script bool   // run the script, and let it call this service
	once   bool   // run the script that sends a form once, however often it is clicked
	leads  string // a redirect URI that sending a form may lead to
}

// contentSecurity returns the Content-Security-Policy.
func (c policy) contentSecurity() string {
	rules := []string{"default-src 'none'", "style-src 'self'", "img-src 'self'"}
	if c.script || c.once {
		rules = append(rules, "script-src 'self'")
	}
	if c.script {
		rules = append(rules, "connect-src 'self'")
	}
	form := "form-action 'self'"
	if source := formSource(c.leads); source != "" {
		form += " " + source
	}
	return strings.Join(append(rules, form, "base-uri 'none'", "frame-ancestors 'none'"), "; ")
}

// formSource is what form-action must allow, so that a browser that holds
// redirects to it, as Chromium does, goes to a redirect URI. An app may lead on
// to another of its hosts. It is made of known parts only: nothing of a URI can
// become a rule of its own.
func formSource(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil || u.Scheme == "":
		return ""
	case u.Scheme != "http":
		return u.Scheme + ":"
	case !slices.Contains([]string{"127.0.0.1", "localhost"}, u.Hostname()):
		return "http:" // [::1], which no source expression can name
	case u.Port() == "":
		return "http://" + u.Hostname()
	}
	return "http://" + u.Hostname() + ":" + u.Port()
}

// permissions takes from the pages what they do not use.
const permissions = "camera=(), geolocation=(), microphone=(), payment=(), usb=(), " +
	"publickey-credentials-create=(self), publickey-credentials-get=(self)"

// secureHeaders sets what every answer carries. Not Cross-Origin-Opener-Policy:
// apps that ask for consent in a window of their own would lose it.
func (p *Pages) secureHeaders(h http.Header, c policy) {
	h.Set("Content-Security-Policy", c.contentSecurity())
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: browsers would send "Origin: null" with forms, and then
	// nothing tells our own from others over plain http.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions)
	h.Set("Cache-Control", "no-store")
	if p.strict {
		h.Set("Strict-Transport-Security", "max-age=63072000")
	}
}
