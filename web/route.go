package web

import (
	"net/http"
	"strings"

	"lintel/oauth"
)

// access is what a page asks of who opens it.
type access int

const (
	anyone     access = iota
	signedIn          // who is not is sent to the sign-in page, and from there back
	signInHere        // the page itself asks who is not to sign in
	fresh             // who did not sign in just now must do it again
)

// route is one address: who may open it, and what it does.
type route struct {
	path   string
	access access
	get    func(*visit) answer
	post   func(*visit) answer
	page   string // the page whose forms are sent here, where the route has no get
	script bool   // called by the script, which wants JSON
}

const (
	devicePath        = oauth.PathDevice
	authorizationPath = "/oauth/v2/endpoints/authorization"
)

// routes are all addresses.
func (p *Pages) routes() []route {
	return []route{
		{path: "/{$}", get: p.start},
		{path: "/assets/{hash}/{name}", get: p.asset},

		{path: "/sign-in", get: p.signInPage, post: p.signIn},
		{path: "/sign-in/recovery", get: p.recoveryPage, post: p.signInWithRecoveryCode},
		{path: "/sign-in/passkey/begin", post: p.beginPasskeySignIn, page: "/sign-in", script: true},
		{path: "/sign-in/passkey/finish", post: p.finishPasskeySignIn, page: "/sign-in", script: true},
		{path: "/sign-out", post: p.signOut, page: "/sign-in"},
		{path: "/setup", get: p.setupPage, post: p.setUp},

		{path: authorizationPath, access: signInHere, get: p.consentPage, post: p.consent},
		{path: authorizationPath + "/{$}", access: signInHere, get: p.consentPage, post: p.consent},
		{path: devicePath, access: signedIn, get: p.devicePage, post: p.device},
		{path: devicePath + "/{$}", get: p.toDevice},

		{path: home, access: signedIn, get: p.overview},
		{path: "/account/apps", access: signedIn, get: p.apps},
		{path: "/account/apps/{id}/disconnect", access: signedIn, post: p.disconnect, page: "/account/apps"},
		{path: "/account/apps/tokens/{id}/end", access: signedIn, post: p.endToken, page: "/account/apps"},
		{path: "/account/sessions", access: signedIn, get: p.sessions},
		{path: "/account/sessions/{id}/end", access: signedIn, post: p.endSession, page: "/account/sessions"},
		{path: "/account/sessions/end-others", access: signedIn, post: p.endOtherSessions, page: "/account/sessions"},
		{path: "/account/controllers", access: signedIn, get: p.controllers},
		{path: passwordPath, access: signedIn, get: p.passwordPage, post: p.changePassword},
		{path: "/account/passkeys", access: fresh, get: p.passkeys},
		{path: "/account/passkeys/begin", access: fresh, post: p.beginAddPasskey, page: "/account/passkeys", script: true},
		{path: "/account/passkeys/finish", access: signedIn, post: p.finishAddPasskey, page: "/account/passkeys", script: true},
		{path: "/account/passkeys/{id}/remove", access: fresh, post: p.removePasskey, page: "/account/passkeys"},
		{path: "/account/recovery-codes", access: fresh, get: p.recoveryCodesPage, post: p.newRecoveryCodes},
		{path: "/account/", get: p.unknown},
	}
}

// Routes adds all pages to a mux.
func (p *Pages) Routes(mux *http.ServeMux) {
	for _, r := range p.routes() {
		mux.Handle(r.path, p.serve(r))
	}
}

func (p *Pages) unknown(*visit) answer { return missing() }

// Missing is for all addresses that are nobody's: a page for browsers, and next for
// programs, and for all of the API.
func (p *Pages) Missing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browses := r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
		if !browses || r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		p.write(w, &visit{Request: r}, missing())
	})
}

// toDevice leads to the page for devices, whose address people type.
func (p *Pages) toDevice(v *visit) answer { return goTo(devicePath) }

// start leads to the account, where who is not signed in is sent on.
func (p *Pages) start(v *visit) answer {
	if v.signedIn {
		return goTo(home)
	}
	return goTo("/sign-in")
}
