package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lintel/secret"
)

// endpoints are what clients send forms to.
var endpoints = []string{PathToken, PathRevocation, PathIntrospection, PathDeviceAuthorization}

// TestLegacyForms sends the requests that the deployed services' examples show:
// everything in the query of a GET, two values of grant_type.
func TestLegacyForms(t *testing.T) {
	w := newWorld(t)
	a := w.legacy
	got := w.get(t, PathToken, a.redemption(w.code(t, a))).tokens(t)
	got = w.get(t, PathToken, a.renewal(got.RefreshToken)).tokens(t)
	both := a.renewal(got.RefreshToken)
	both.Add("grant_type", "authorization_code")
	got = w.get(t, PathToken, both).tokens(t)
	both.Set("refresh_token", got.RefreshToken)
	both["grant_type"] = []string{"authorization_code", "refresh_token"}
	got = w.post(t, PathToken, both).tokens(t)
	both.Set("refresh_token", got.RefreshToken)
	got = w.call(t, w.request(t, http.MethodPost, PathToken+"?"+both.Encode(), nil)).tokens(t)

	form := a.renewal(got.RefreshToken)
	got = w.call(t, w.request(t, http.MethodPost, PathToken+"?client_id="+a.ID, change(form, "client_id", ""))).tokens(t)
	r := w.request(t, http.MethodGet, PathToken, a.renewal(got.RefreshToken))
	got = w.call(t, r).tokens(t) // in the body of a GET
	r = w.request(t, http.MethodGet, PathToken+"?"+change(a.renewal(got.RefreshToken), "client_id", "", "client_secret", "").Encode(), nil)
	r.Header.Set("Authorization", basicOf(a.ID, a.secret))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got = w.call(t, r).tokens(t)

	form = a.renewal(got.RefreshToken)
	w.call(t, w.request(t, http.MethodPost, PathToken+"?client_id="+a.ID, form)).wantRefused(t, "the client in both", 400, InvalidRequest)
	w.call(t, w.request(t, http.MethodPost, PathToken+"?client_id="+w.confidential.ID, form)).wantRefused(t, "two clients", 400, InvalidRequest)
	w.call(t, w.request(t, http.MethodPost, PathToken+"?refresh_token=", form)).wantRefused(t, "an empty one beside it", 400, InvalidRequest)
	w.get(t, PathToken, change(form, "client_secret", "x")).wantRefused(t, "a wrong secret", 401, InvalidClient)
	w.get(t, PathToken, change(form, "client_id", "", "client_secret", "")).wantRefused(t, "nobody", 401, InvalidClient)
	three := url.Values{"grant_type": {"refresh_token", "authorization_code", "refresh_token"}}
	w.get(t, PathToken, a.form("refresh_token", got.RefreshToken, "grant_type", "refresh_token")).tokens(t)
	three.Set("client_id", a.ID)
	w.get(t, PathToken, three).wantRefused(t, "three grant types", 400, InvalidRequest)
	for _, path := range endpoints[1:] {
		w.get(t, path, a.form("token", got.AccessToken)).wantRefused(t, path, 405, InvalidRequest)
		w.call(t, w.request(t, http.MethodPost, path+"?token="+got.AccessToken, a.form())).wantRefused(t, path, 400, InvalidRequest)
	}
	if !w.alive(t, got.AccessToken) {
		t.Error("a token was revoked")
	}
}

// TestOnlyLegacyForms holds that nobody else may send them (RFC 6749 §3.2, RFC
// 9700 §4.3.1 on what an address gives away).
func TestOnlyLegacyForms(t *testing.T) {
	w := newWorld(t)
	for _, a := range []app{w.confidential, w.public} {
		code := w.code(t, a)
		form := a.redemption(code)
		w.get(t, PathToken, form).wantRefused(t, "GET", 405, InvalidRequest)
		w.call(t, w.request(t, http.MethodGet, PathToken, form)).wantRefused(t, "GET with a body", 405, InvalidRequest)
		w.call(t, w.request(t, http.MethodPost, PathToken+"?"+form.Encode(), nil)).wantRefused(t, "query", 400, InvalidRequest)
		w.call(t, w.request(t, http.MethodPost, PathToken+"?x=y", form)).wantRefused(t, "something in the query", 400, InvalidRequest)
		w.call(t, w.request(t, http.MethodPost, PathToken+"?client_secret=x", change(form, "client_secret", ""))).wantRefused(t, "the secret in the query", 400, InvalidRequest)
		got := w.post(t, PathToken, form).tokens(t)
		both := a.renewal(got.RefreshToken)
		both.Add("grant_type", "authorization_code")
		w.post(t, PathToken, both).wantRefused(t, "two grant types", 400, InvalidRequest)
		w.refresh(t, a, got.RefreshToken)
		if !w.alive(t, got.AccessToken) {
			t.Errorf("%s: a bad request revoked a grant", a.ID)
		}
	}
	w.get(t, PathToken, form("client_id", "unknown")).wantRefused(t, "unknown", 401, InvalidClient)
}

func TestMethods(t *testing.T) {
	w := newWorld(t)
	for _, path := range endpoints {
		for _, method := range []string{"HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "post"} {
			answer := w.call(t, w.request(t, method, path, w.legacy.form()))
			if method == "HEAD" && answer.body == "" {
				answer.body = `{"error":"invalid_request","error_description":"x"}`
			}
			answer.wantRefused(t, method+" "+path, 405, InvalidRequest)
		}
	}
}

// TestPaths: with and without the last slash, and nothing below. Clients do not
// follow redirects of a POST.
func TestPaths(t *testing.T) {
	w := newWorld(t)
	for _, path := range endpoints {
		for path, want := range map[string]int{path: 401, strings.TrimSuffix(path, "/"): 401} {
			if answer := w.post(t, path, form("client_id", "x")); answer.status != want {
				t.Errorf("%s: %d", path, answer.status)
			}
		}
		for _, below := range []string{path + "x", path + "x/", path + "x/y", strings.ToUpper(path)} {
			answer, err := w.send(w.request(t, http.MethodPost, below, form("client_id", "x")))
			if must(t, err); answer.status != 404 {
				t.Errorf("%s: %d", below, answer.status)
			}
		}
	}
}

func TestContentTypes(t *testing.T) {
	w := newWorld(t)
	for value, ok := range map[string]bool{
		"application/x-www-form-urlencoded":                   true,
		"Application/X-WWW-Form-Urlencoded":                   true,
		"application/x-www-form-urlencoded; charset=utf-8":    true,
		"application/x-www-form-urlencoded;charset=\"UTF-8\"": true,
		"":                                       false,
		"application/json":                       false,
		"multipart/form-data; boundary=x":        false,
		"text/plain":                             false,
		"application/x-www-form-urlencoded2":     false,
		"application/x-www-form-urlencoded, x/y": false,
		"x-www-form-urlencoded":                  false,
		"*/*":                                    false,
	} {
		for _, path := range endpoints {
			r := w.request(t, http.MethodPost, path, w.confidential.form("token", "x", "grant_type", "refresh_token", "refresh_token", "x"))
			r.Header.Set("Content-Type", value)
			answer := w.call(t, r)
			switch {
			case !ok:
				answer.wantRefused(t, path+" of type "+value, 400, InvalidRequest)
			case path == PathToken:
				answer.wantRefused(t, value, 400, InvalidGrant)
			case answer.status != 200:
				t.Errorf("%s of type %q: %d", path, value, answer.status)
			}
		}
	}
	r := w.request(t, http.MethodPost, PathToken, nil)
	w.call(t, r).wantRefused(t, "no body", 401, InvalidClient)
}

func TestBodies(t *testing.T) {
	w := newWorld(t)
	right := w.confidential.form("grant_type", "refresh_token", "refresh_token", secret.New(secret.RefreshToken)).Encode()
	for _, c := range []struct {
		name, body string
		status     int
		code       ErrorCode
	}{
		{"as usual", right, 400, InvalidGrant},
		{"of the greatest length", right + "&x=" + strings.Repeat("a", maxParameters-len(right)-3), 400, InvalidGrant},
		{"a byte too long", right + "&x=" + strings.Repeat("a", maxParameters-len(right)-2), 413, InvalidRequest},
		{"far too long", strings.Repeat("a", 1<<20), 413, InvalidRequest},
		{"a broken escape", right + "&scope=%zz", 400, InvalidRequest},
		{"a semicolon", right + ";x=y", 400, InvalidGrant}, // part of the value
		{"JSON", `{"grant_type":"refresh_token"}`, 401, InvalidClient},
		{"no text", right + "&state=%ff", 400, InvalidRequest},
		{"twice", right + "&client_id=" + w.confidential.ID, 400, InvalidRequest},
		{"an unknown parameter twice", right + "&x=1&x=2&resource=a&resource=b", 400, InvalidGrant},
		{"compressed", "\x1f\x8b\x08\x00", 401, InvalidClient},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+PathToken, strings.NewReader(c.body))
		must(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w.call(t, r).wantRefused(t, c.name, c.status, c.code)
	}
	chunked, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+PathToken, struct{ *strings.Reader }{strings.NewReader(strings.Repeat("a", maxParameters+1))})
	must(t, err)
	chunked.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w.call(t, chunked).wantRefused(t, "too long, of unknown length", 413, InvalidRequest)
	long := w.request(t, http.MethodGet, PathToken+"?x="+strings.Repeat("a", maxParameters), nil)
	w.call(t, long).wantRefused(t, "a query that is too long", 400, InvalidRequest)
}
