package oauth

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lintel"
)

// CheckRedirectURI reports whether a redirect URI may be registered for a
// client of the kind: an absolute https URI; http to this machine only; for a
// public client also a private-use scheme that holds a dot (RFC 8252 §7). No
// fragment (RFC 6749 §3.1.2), no user, no wildcard. The error has CodeInvalid.
func CheckRedirectURI(uri string, kind lintel.ClientKind) error {
	refuse := func(why string) error {
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "the redirect URI " + why}
	}
	u, err := url.Parse(uri)
	switch {
	case uri == "" || len(uri) > 2000 || err != nil || !plainURI(uri):
		return refuse("is not a URI of at most 2000 bytes")
	case strings.Contains(uri, "#"):
		return refuse("has a fragment")
	case strings.Contains(uri, "*"):
		return refuse("has a wildcard; register each address")
	case u.User != nil:
		return refuse("names a user")
	case u.Port() != "" && !isPort(u.Port()):
		return refuse("has a port that is not 1 to 65535")
	case hasResponse(u):
		return refuse("has a parameter of the answer in its query")
	}
	switch u.Scheme {
	case "https":
		if u.Hostname() == "" {
			return refuse("has no host")
		}
		return nil
	case "http":
		if !slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname()) {
			return refuse("is plain http to another machine; use https")
		}
		return nil
	}
	if kind != lintel.Public || !strings.Contains(u.Scheme, ".") {
		return refuse("has a scheme other than https, http, or (public clients) a reversed domain name of yours")
	}
	return nil
}

// plainURI reports whether a text has only the characters of a URI (RFC 3986
// §2), so that it can stand in a header as it is.
func plainURI(uri string) bool {
	return !strings.ContainsFunc(uri, func(r rune) bool {
		return r > unicode.MaxASCII || r <= ' ' || r == 0x7f || strings.ContainsRune("\"<>\\^`{|}", r)
	})
}

// hasResponse reports whether a query already has a parameter that the answer
// will add.
func hasResponse(u *url.URL) bool {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return true
	}
	for _, name := range []string{"code", "state", "iss", "error", "error_description"} {
		if query.Has(name) {
			return true
		}
	}
	return false
}

// matchRedirect reports whether a redirect URI is one of a client's. The texts
// are compared as they are (RFC 9700 §2.1); for a public client the port of a
// loopback address may differ, because a program on a person's machine takes
// the port it gets (RFC 8252 §7.3).
func matchRedirect(c lintel.Client, uri string) bool {
	if slices.Contains(c.RedirectURIs, uri) {
		return true
	}
	if c.Kind != lintel.Public {
		return false
	}
	host, rest, ok := loopback(uri)
	return ok && slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		registeredHost, registeredRest, ok := loopback(registered)
		return ok && host == registeredHost && rest == registeredRest
	})
}

// loopback takes the port out of an http URI to a loopback address. ok is false
// for any other URI.
func loopback(uri string) (host, rest string, ok bool) {
	for _, host := range []string{"http://127.0.0.1", "http://[::1]"} {
		after, found := strings.CutPrefix(uri, host)
		if !found {
			continue
		}
		if port, cut := strings.CutPrefix(after, ":"); cut {
			digits := len(port) - len(strings.TrimLeft(port, "0123456789"))
			if !isPort(port[:digits]) {
				return "", "", false
			}
			after = port[digits:]
		}
		if !plainURI(after) || strings.Contains(after, "#") || after != "" && after[0] != '/' && after[0] != '?' {
			return "", "", false
		}
		return host, after, true
	}
	return "", "", false
}

// isPort reports whether a text is a port number as it is usually written.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s[0] != '0'
}

// redirectTo adds the parameters of an answer to a redirect URI, whose own text
// stays as it is (RFC 6749 §3.1.2). A space is %20: clients that only undo percent
// signs read it as well as those that read forms.
func redirectTo(uri string, answer url.Values) string {
	separator := "&"
	switch _, query, found := strings.Cut(uri, "?"); {
	case !found:
		separator = "?"
	case query == "", strings.HasSuffix(query, "&"):
		separator = ""
	}
	return uri + separator + strings.ReplaceAll(answer.Encode(), "+", "%20")
}
