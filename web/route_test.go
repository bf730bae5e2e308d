package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// cell is what an address answers.
type cell struct {
	status   int
	location string // what it begins with, where the browser is sent on
}

// row is what an address answers to everybody. No cell may be empty.
type row struct {
	fields      url.Values // that a form sends
	anonymous   cell
	signedIn    cell
	wrongToken  cell // signed in, with a form that is not this browser's
	crossSite   cell // signed in, by Sec-Fetch-Site
	otherOrigin cell // signed in, by Origin
}

func ok(status int) cell          { return cell{status: status} }
func to(location string) cell     { return cell{http.StatusSeeOther, location} }
func same(anonymous, c cell) row  { return row{nil, anonymous, c, c, c, c} }
func page(anonymous cell) row     { return same(anonymous, ok(200)) }
func mustSignIn(page string) cell { return to(signInFor(page)) }

// change is an address that changes something: nothing but the person's own
// form may.
func change(fields url.Values, anonymous, signedIn cell) row {
	return row{fields, anonymous, signedIn, ok(403), ok(403), ok(403)}
}

// answers is the whole table. A GET may come from anywhere: links are meant to.
var answers = map[string]row{
	"GET /{$}":                          same(to("/sign-in"), to(home)),
	"GET /assets/{hash}/{name}":         page(ok(200)),
	"GET /sign-in":                      same(ok(200), to(home)),
	"GET /sign-in/recovery":             same(ok(200), to(home)),
	"GET /setup":                        same(to("/"), to("/")),
	"GET " + authorizationPath:          page(ok(200)),
	"GET " + authorizationPath + "/{$}": page(ok(200)),
	"GET /device":                       page(mustSignIn("/device")),
	"GET /device/{$}":                   same(to("/device"), to("/device")),
	"GET /account":                      page(mustSignIn("/account")),
	"GET /account/apps":                 page(mustSignIn("/account/apps")),
	"GET /account/controllers":          page(mustSignIn("/account/controllers")),
	"GET /account/sessions":             page(mustSignIn("/account/sessions")),
	"GET /account/password":             page(mustSignIn("/account/password")),
	"GET /account/passkeys":             page(mustSignIn("/account/passkeys")),
	"GET /account/recovery-codes":       page(mustSignIn("/account/recovery-codes")),
	"GET /account/":                     same(ok(404), ok(404)),

	"POST /sign-in":                change(url.Values{"email": {email}, "password": {password}}, to(home), to(home)),
	"POST /sign-in/recovery":       change(url.Values{"email": {email}, "code": {"no"}}, ok(401), ok(401)),
	"POST /sign-in/passkey/begin":  change(nil, ok(200), ok(200)),
	"POST /sign-in/passkey/finish": change(nil, ok(401), ok(401)),
	"POST /sign-out":               change(nil, to("/sign-in"), to("/sign-in")),
	"POST /setup":                  change(nil, to("/"), to("/")),
	"POST " + authorizationPath:    change(url.Values{"decision": {"deny"}}, to(authorizationPath), to(callback+"?error=access_denied")),
	"POST " + authorizationPath + "/{$}": change(url.Values{"decision": {"allow"}, "scope": {"OPENDOOR"}},
		to(authorizationPath+"/"), to(callback+"?code=lto_")),
	"POST /device":                       change(url.Values{"user_code": {"no"}}, mustSignIn("/device"), ok(400)),
	"POST /account/apps/{id}/disconnect": change(nil, mustSignIn("/account/apps"), to("/account/apps?done=")),
	"POST /account/apps/tokens/{id}/end": change(nil, mustSignIn("/account/apps"), to("/account/apps?done=")),
	"POST /account/sessions/{id}/end":    change(nil, mustSignIn("/account/sessions"), to("/account/sessions?done=")),
	"POST /account/sessions/end-others":  change(nil, mustSignIn("/account/sessions"), to("/account/sessions?done=")),
	"POST /account/password": change(url.Values{"current": {password}, "next": {"another horse entirely"}},
		mustSignIn("/account/password"), to("/account?done=")),
	"POST /account/passkeys/begin":       change(url.Values{"name": {"key"}}, ok(401), ok(200)),
	"POST /account/passkeys/finish":      change(url.Values{"name": {"key"}}, ok(401), ok(401)),
	"POST /account/passkeys/{id}/remove": change(nil, mustSignIn("/account/passkeys"), to("/account/passkeys?done=")),
	"POST /account/recovery-codes":       change(nil, mustSignIn("/account/recovery-codes"), ok(200)),
}

func (r row) cells() map[string]cell {
	return map[string]cell{"anonymous": r.anonymous, "signed in": r.signedIn, "wrong token": r.wrongToken,
		"cross-site": r.crossSite, "other origin": r.otherOrigin}
}

// address fills in a route's path.
func (w *world) address(path string, of things) string {
	id := of.session
	switch {
	case strings.Contains(path, "/apps/tokens/"):
		id = of.token
	case strings.Contains(path, "/apps/"):
		id = of.grant
	case strings.Contains(path, "/passkeys/"):
		id = of.passkey
	}
	switch {
	case path == "/account/":
		return "/account/nothing"
	case strings.HasPrefix(path, authorizationPath):
		_, query, _ := strings.Cut(ask, "?")
		return strings.TrimSuffix(path, "{$}") + "?" + query
	}
	return strings.NewReplacer("{$}", "", "{id}", string(id), "{hash}/{name}", w.pages.assets["style.css"].hash+"/style.css").Replace(path)
}

// TestEveryAddressToEverybody: each address, to each kind of request.
func TestEveryAddressToEverybody(t *testing.T) {
	left := map[string]bool{}
	for key := range answers {
		left[key] = true
	}
	for _, route := range (&Pages{}).routes() {
		for method, handler := range map[string]bool{"GET": route.get != nil, "POST": route.post != nil} {
			if !handler {
				continue
			}
			key := method + " " + route.path
			delete(left, key)
			r, found := answers[key]
			if !found {
				t.Errorf("nothing is written down for %s", key)
				continue
			}
			t.Run(key, func(t *testing.T) {
				t.Parallel()
				everybody(t, method, route, r)
			})
		}
	}
	for key := range left {
		t.Errorf("%s is no address", key)
	}
}

func everybody(t *testing.T, method string, route route, r row) {
	w := newWorld(t)
	of, stranger, ada := w.things(t), w.browser(), w.signedIn(t)
	stranger.get(t, "/sign-in")
	for _, who := range []string{"cross-site", "other origin", "wrong token", "anonymous", "signed in"} {
		want := r.cells()[who]
		if want.status == 0 {
			t.Fatalf("nothing is written down for %s", who)
		}
		b := ada
		if who == "anonymous" {
			b = stranger
		}
		path := w.address(route.path, of)
		if strings.HasPrefix(path, authorizationPath) && who != "anonymous" {
			b.get(t, ask).is(t, 200)
		}
		got := b.send(t, b.request(t, method, path, who, r.fields))
		if got.status != want.status || !strings.HasPrefix(got.header.Get("Location"), want.location) || want.location == "" && got.header.Get("Location") != "" {
			t.Errorf("%s: %d to %q, want %d to %q: %s", who, got.status, got.header.Get("Location"), want.status, want.location, got.body)
		}
		if strings.Contains(got.body, password) {
			t.Errorf("%s: the page shows the password", who)
		}
		held(t, got)
	}
}

// request makes a request as such a one would send it.
func (b *browser) request(t *testing.T, method, path, who string, fields url.Values) *http.Request {
	t.Helper()
	all := url.Values{"ticket": {b.ticket}}
	for name, values := range fields {
		all[name] = values
	}
	r := b.form(t, path, all)
	if method == http.MethodGet {
		r.Method, r.Body = method, http.NoBody
	}
	switch who {
	case "wrong token":
		right := b.csrf
		b.csrf = hashOf(right) // of the right form
		r = b.form(t, path, all)
		r.Method = method
		b.csrf = right
	case "cross-site":
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	case "other origin":
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Set("Origin", "https://evil.example")
	}
	return r
}

// held holds what is true of every answer.
func held(t *testing.T, r reply) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Permissions-Policy":        permissions,
		"Strict-Transport-Security": "max-age=63072000",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	caching := r.header.Get("Cache-Control")
	if caching != "no-store" && !strings.HasSuffix(caching, "immutable") {
		t.Errorf("Cache-Control is %q", caching)
	}
	csp := r.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "style-src 'self'", "img-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("the policy %q lacks %s", csp, want)
		}
	}
	if strings.Contains(csp, "script-src") != strings.Contains(r.body, "<script") && r.header.Get("Content-Type") == "text/html; charset=utf-8" {
		t.Errorf("the policy is %q where the page has scripts: %v", csp, strings.Contains(r.body, "<script"))
	}
	for _, inline := range []string{"<style", " style=", "<script>", " onclick=", "javascript:", "//cdn"} {
		if strings.Contains(r.body, inline) {
			t.Errorf("the page has %q", inline)
		}
	}
	for _, c := range r.header["Set-Cookie"] {
		if !strings.HasPrefix(c, "__Host-lintel-") || !strings.Contains(c, "; Path=/") || !strings.Contains(c, "; HttpOnly; Secure; SameSite=Lax") {
			t.Errorf("cookie %s", c)
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"PUT", "/sign-in", 405, "GET, HEAD, POST, OPTIONS"},
		{"GET", "/sign-out", 405, "POST, OPTIONS"},
		{"POST", "/account", 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS", "/account", 204, "GET, HEAD, OPTIONS"},
		{"TRACE", authorizationPath, 405, "GET, HEAD, POST, OPTIONS"},
	} {
		r := b.form(t, c.path, nil)
		r.Method = c.method
		got := b.send(t, r)
		if got.status != c.status || got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.path, got.status, got.header.Get("Allow"))
		}
	}
	head := b.form(t, "/account", nil)
	head.Method = http.MethodHead
	if got := b.send(t, head); got.status != 200 || got.body != "" || got.header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d with %d bytes", got.status, len(got.body))
	}
}

func TestNoRedirectBetweenTheTwoForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, want := range map[string]int{
		authorizationPath: 400, authorizationPath + "/": 400, authorizationPath + "/x": 418, authorizationPath + "//": 307,
	} {
		if got := w.browser().get(t, path); got.status != want {
			t.Errorf("%s: %d, want %d", path, got.status, want)
		}
	}
}
