package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"lintel"
)

// answer is what a handler returns; write turns it into a response. One of
// page, json, body and location is set.
type answer struct {
	status   int
	page     string // name of a page, shown with data
	data     any
	json     any    // for the script
	body     []byte // of the type kind
	kind     string
	location string // where the browser goes on to
	policy   policy
	cookies  []*http.Cookie
	headers  map[string]string // extra facts
}

// show answers with a page.
func show(page string, data any) answer {
	return answer{status: http.StatusOK, page: page, data: data}
}

// goTo sends the browser on, and always with a GET.
func goTo(location string, cookies ...*http.Cookie) answer {
	return answer{status: http.StatusSeeOther, location: location, cookies: cookies}
}

// as returns the answer with another status.
func (a answer) as(status int) answer {
	a.status = status
	return a
}

// problem is what the page for all that went wrong says.
type problem struct {
	Heading string
	Text    string
	Link    string // where to go on; empty for nowhere
	Label   string // of the link
}

func trouble(status int, p problem) answer { return show("problem", p).as(status) }

func missing() answer {
	return trouble(http.StatusNotFound, problem{Heading: "There is no such page",
		Text: "It may have moved, or what it was about no longer exists.", Link: home, Label: "Go to your account"})
}

func broken() answer {
	return trouble(http.StatusInternalServerError, problem{Heading: "That did not work",
		Text: "Something went wrong inside the service. Please try again in a moment."})
}

func expired(v *visit) answer {
	return trouble(http.StatusForbidden, problem{Heading: "This form has expired",
		Text: "Nothing was changed. You may have signed in or out since the page was opened. Please try again.",
		Link: v.back(), Label: "Try again"})
}

// statusOf maps the codes of this service to statuses.
var statusOf = map[lintel.Code]int{
	lintel.CodeInvalid:         http.StatusBadRequest,
	lintel.CodeUnauthenticated: http.StatusUnauthorized,
	lintel.CodeForbidden:       http.StatusForbidden,
	lintel.CodeNotFound:        http.StatusNotFound,
	lintel.CodeConflict:        http.StatusConflict,
	lintel.CodeTooMany:         http.StatusTooManyRequests,
	lintel.CodeInternal:        http.StatusInternalServerError,
}

// failed answers an error that a page has no words of its own for. Nothing
// internal of it leaves this function.
func (p *Pages) failed(v *visit, err error) answer {
	switch lintel.CodeOf(err) {
	case lintel.CodeInternal:
		p.report(v.Request, err)
		return broken()
	case lintel.CodeNotFound:
		return missing()
	}
	return trouble(statusOf[lintel.CodeOf(err)], problem{Heading: "That did not work", Text: sentence(err), Link: v.back(), Label: "Go back"})
}

// report logs an error, unless it is only that the browser is gone. Of the
// request only the path is logged: the rest may hold secrets.
func (p *Pages) report(r *http.Request, err error) {
	if r.Context().Err() == nil {
		p.cfg.Log.Error("page failed", "path", r.URL.Path, "error", err)
	}
}

// refusal is an error for the script.
type refusal struct {
	Error string `json:"error"`
}

func refuse(status int, message string) answer {
	return answer{status: status, json: refusal{message}}
}

// retryAfter is the header that says when to try again, in whole seconds.
func retryAfter(wait time.Duration) map[string]string {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	return map[string]string{"Retry-After": strconv.Itoa(seconds)}
}

// write is the one place that writes answers.
func (p *Pages) write(w http.ResponseWriter, v *visit, a answer) {
	body, err := p.render(v, &a)
	if err != nil {
		p.report(v.Request, err)
		a = answer{status: http.StatusInternalServerError, kind: "text/plain; charset=utf-8"}
		body = []byte("Something went wrong inside the service.\n")
	}
	h := w.Header()
	p.secureHeaders(h, a.policy)
	for name, value := range a.headers {
		h.Set(name, value)
	}
	if a.kind != "" {
		h.Set("Content-Type", a.kind)
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	for _, cookie := range a.cookies {
		http.SetCookie(w, cookie)
	}
	w.WriteHeader(a.status)
	if v.Method != http.MethodHead {
		_, _ = w.Write(body) // the browser may be gone
	}
}

// render makes the body of an answer, and sets what belongs to it.
func (p *Pages) render(v *visit, a *answer) ([]byte, error) {
	switch {
	case a.json != nil:
		a.kind = "application/json; charset=utf-8"
		body, err := json.Marshal(a.json)
		return append(body, '\n'), err
	case a.page != "":
		a.kind = "text/html; charset=utf-8"
		a.cookies = append(a.cookies, p.keyCookies(v)...)
		var body bytes.Buffer
		err := p.pages.render(&body, a.page, p.view(v, *a))
		return body.Bytes(), err
	}
	return a.body, nil
}

// keyCookies gives a browser what its forms are tied to, and takes what is over.
func (p *Pages) keyCookies(v *visit) []*http.Cookie {
	var made []*http.Cookie
	if v.newKey {
		made = append(made, p.cookies.set(visitorCookie, v.key, 0))
	}
	if v.stale {
		made = append(made, p.cookies.clear(sessionCookie))
	}
	return made
}
