package web

import (
	"crypto/subtle"
	"net/http"
	"net/url"

	"lintel"
	"lintel/account"
	"lintel/secret"
)

// visit is one request with who makes it.
type visit struct {
	*http.Request
	route    route
	signedIn bool
	session  lintel.Session
	person   lintel.Person
	known    string // what marks the browser as one that signed in before
	key      string // the secret of the browser that its forms are tied to
	newKey   bool   // key is not in the browser yet
	stale    bool   // the browser has a session that is over
}

// identify finds out who makes a request.
func (p *Pages) identify(v *visit) error {
	v.known = p.cookies.read(v.Request, knownCookie, secret.KnownBrowser)
	if key := p.cookies.read(v.Request, sessionCookie, secret.Session); key != "" {
		session, person, err := p.accounts.Session(v.Context(), key)
		switch lintel.CodeOf(err) {
		case "":
			v.signedIn, v.session, v.person, v.key = true, session, person, key
			return nil
		case lintel.CodeUnauthenticated:
			v.stale = true
		default:
			return err
		}
	}
	v.key = p.cookies.read(v.Request, visitorCookie, secret.Visitor)
	if v.key == "" {
		v.key, v.newKey = secret.New(secret.Visitor), true
	}
	return nil
}

// token is what ties a form to this browser and, after signing in, to this
// session. It tells nothing of the secret that it is made of.
func (v *visit) token() string { return secret.Hash("form " + v.key) }

// tokenSent reports whether the form that was sent is one of this browser.
func (v *visit) tokenSent() bool {
	return v.key != "" && !v.newKey && subtle.ConstantTimeCompare([]byte(v.PostForm.Get("csrf")), []byte(v.token())) == 1
}

// holder names the browser to whom a ticket is given.
func (v *visit) holder() string { return secret.Hash("holder " + v.key) }

// field returns a field of the form that was sent.
func (v *visit) field(name string) string { return v.PostForm.Get(name) }

// kept are the parameters that pages read from their addresses. Others are not
// repeated in a page: who knows what was typed there.
var kept = map[string]string{"/sign-in": "return", "/sign-in/recovery": "return", setupPath: "ticket", devicePath: "user_code"}

// address is the path and query of the request.
func (v *visit) address() string {
	query := v.URL.RawQuery
	if v.route.access != signInHere { // there it is as the app wrote it
		query = ""
		name := kept[v.route.path]
		if value := firstOf(v.URL.Query().Get(name), v.PostForm.Get(name)); value != "" {
			query = url.Values{name: {value}}.Encode()
		}
	}
	if query == "" {
		return v.URL.EscapedPath()
	}
	return v.URL.EscapedPath() + "?" + query
}

// browser describes the visit's browser to the sign-in.
func (p *Pages) browser(v *visit) account.Browser {
	return account.Browser{Address: p.cfg.Source(v.Request), UserAgent: v.UserAgent(), Known: v.known}
}
