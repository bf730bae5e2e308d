package web

import (
	"net/url"
	"strings"
	"testing"
)

func TestFormSource(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"":                              "",
		"https://app.example/cb":        "https:",
		"http://127.0.0.1:5123/cb":      "http://127.0.0.1:5123",
		"http://127.0.0.1/cb":           "http://127.0.0.1",
		"http://localhost:7777/cb":      "http://localhost:7777",
		"http://[::1]:5123/cb":          "http:",
		"org.example.doors:/cb":         "org.example.doors:",
		"https://a/;script-src *,b/'x'": "https:",
		"http://127.0.0.1:1;script-src": "",
	} {
		if got := formSource(uri); got != want {
			t.Errorf("%s allows %q, want %q", uri, got, want)
		}
	}
}

// TestWhereConsentMayLead: the page allows the browser to go where the answer
// leads, and no other page does.
func TestWhereConsentMayLead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	for uri, want := range map[string]string{
		"http://127.0.0.1:5123/cb": "form-action 'self' http://127.0.0.1:5123;",
		"http://[::1]:5123/cb":     "form-action 'self' http:;",
		"http://localhost:7777/cb": "form-action 'self' http://localhost:7777;",
		"org.example.doors:/cb":    "form-action 'self' org.example.doors:;",
	} {
		address := authorizationPath + "?response_type=code&client_id=native1&redirect_uri=" + url.QueryEscape(uri) + pkce
		got := b.get(t, address).is(t, 200).header.Get("Content-Security-Policy")
		if !strings.Contains(got, want) {
			t.Errorf("%s: the policy is %q", uri, got)
		}
		location := b.post(t, address, url.Values{"ticket": {b.ticket}, "decision": {"allow"}, "scope": {"READ"}}).is(t, 303).header.Get("Location")
		if !strings.HasPrefix(location, uri+"?code=") {
			t.Errorf("leads to %s", location)
		}
	}
	if got := b.get(t, ask).header.Get("Content-Security-Policy"); !strings.Contains(got, "form-action 'self' https:;") {
		t.Errorf("the policy is %q", got)
	}
	if got := w.browser().get(t, ask).header.Get("Content-Security-Policy"); !strings.Contains(got, "form-action 'self';") {
		t.Errorf("the policy before signing in is %q", got)
	}
}
