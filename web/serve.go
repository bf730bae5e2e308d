package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
)

// maxForm bounds what is read of a form.
const maxForm = 64 << 10

func (p *Pages) serve(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		v := &visit{Request: r}
		p.write(w, v, p.safely(v, route))
	})
}

// safely turns a panic into a page.
func (p *Pages) safely(v *visit, route route) (a answer) {
	defer func() {
		if caught := recover(); caught != nil {
			p.cfg.Log.Error("panic", "path", v.URL.Path, "panic", caught, "stack", string(debug.Stack()))
			a = broken()
		}
		if route.script {
			a = forScript(a)
		}
	}()
	v.route = route
	if a, refused := p.method(v); refused {
		return a
	}
	if err := p.identify(v); err != nil {
		return p.failed(v, err)
	}
	if v.Method != http.MethodPost {
		if a, refused := p.admit(v); refused {
			return a
		}
		return route.get(v)
	}
	if a, refused := p.checkForm(v); refused {
		return a
	}
	return route.post(v)
}

// method refuses methods that an address does not have.
func (p *Pages) method(v *visit) (answer, bool) {
	var allow []string
	if v.route.get != nil {
		allow = append(allow, http.MethodGet, http.MethodHead)
	}
	if v.route.post != nil {
		allow = append(allow, http.MethodPost)
	}
	allow = append(allow, http.MethodOptions)
	allowed := map[string]string{"Allow": strings.Join(allow, ", ")}
	for _, method := range allow {
		if method == v.Method && method != http.MethodOptions {
			return answer{}, false
		}
	}
	if v.Method == http.MethodOptions {
		return answer{status: http.StatusNoContent, headers: allowed}, true
	}
	a := trouble(http.StatusMethodNotAllowed, problem{Heading: "This address cannot be used like that",
		Text: "It does not take requests of this kind.", Link: home, Label: "Go to your account"})
	a.headers = allowed
	return a, true
}

// checkForm refuses a form that another site sent, that is none, that may not
// be sent by this person, or that is not from a page that this browser was shown.
func (p *Pages) checkForm(v *visit) (answer, bool) {
	if err := p.crossOrigin.Check(v.Request); err != nil {
		return trouble(http.StatusForbidden, problem{Heading: "This came from another site",
			Text: "A form of this service was sent from elsewhere. Nothing was changed.", Link: v.back(), Label: "Go to the page"}), true
	}
	if status := parseForm(v.Request); status != 0 {
		return trouble(status, problem{Heading: "This form cannot be read", Text: "It is too long, or damaged. Nothing was changed.",
			Link: v.back(), Label: "Go back"}), true
	}
	if a, refused := p.admit(v); refused {
		return a, true
	}
	if !v.tokenSent() {
		return expired(v), true
	}
	return answer{}, false
}

// parseForm reads the form from the body alone: no field is taken from a URL.
// The status is that of a refusal.
func parseForm(r *http.Request) (status int) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return http.StatusUnsupportedMediaType
	}
	body, err := io.ReadAll(r.Body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if err == nil {
		r.PostForm, err = url.ParseQuery(string(body))
	}
	if err != nil {
		return http.StatusBadRequest
	}
	return 0
}

// admit refuses who may not open a page.
func (p *Pages) admit(v *visit) (answer, bool) {
	switch {
	case v.route.access == anyone:
	case v.signedIn && v.route.access == fresh && !p.accounts.Fresh(v.session):
		return goTo(signInFor(v.back())), true
	case v.signedIn:
	case v.route.access != signInHere:
		return goTo(signInFor(v.back())), true
	case v.Method == http.MethodPost:
		return goTo(v.address()), true
	}
	return answer{}, false
}

// signInFor is the sign-in page that leads on to another.
func signInFor(page string) string {
	return "/sign-in?" + url.Values{"return": {page}}.Encode()
}

// back is the page that a visit belongs to.
func (v *visit) back() string {
	switch {
	case v.route.page != "":
		return v.route.page
	case v.route.get != nil:
		return v.address()
	}
	return home
}

// forScript makes what every route can answer readable for the script.
func forScript(a answer) answer {
	said, isProblem := a.data.(problem)
	switch {
	case isProblem:
		a.json, a.page = refusal{said.Text}, ""
	case a.location != "":
		a.status, a.json, a.location = http.StatusUnauthorized, gone{"Please sign in again.", a.location}, ""
	}
	return a
}

// gone tells the script to go elsewhere.
type gone struct {
	Error    string `json:"error,omitempty"`
	Location string `json:"location"`
}
