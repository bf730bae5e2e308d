package web

import (
	"net/http"
	"strings"
)

// Gate lets nothing but the set-up through while there is no account: nobody
// can be meant by any request yet.
func (p *Pages) Gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		needed, err := p.accounts.NeedsSetup(r.Context())
		switch {
		case err != nil:
			p.report(r, err)
			p.close(w, r, "Unavailable", "The service cannot do this now. Please try again in a moment.", "unavailable")
		case needed && !open(r.URL.Path):
			p.close(w, r, "Not set up yet", "This service has no account yet. It printed a link for making the first one where it was started.", "not set up")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// open reports whether a path is served before the set-up. That the service is
// up tells a supervisor not to start it again.
func open(path string) bool {
	return path == setupPath || path == "/healthz" || strings.HasPrefix(path, "/assets/")
}

// close answers for everything behind the gate: a page to browsers, JSON to programs.
func (p *Pages) close(w http.ResponseWriter, r *http.Request, heading, text, short string) {
	a := answer{status: http.StatusServiceUnavailable, json: refusal{short}}
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		a = trouble(http.StatusServiceUnavailable, problem{Heading: heading, Text: text})
	}
	p.write(w, &visit{Request: r}, a)
}
