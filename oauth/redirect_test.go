package oauth

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"lintel"
)

// Which clients may register a redirect URI.
const (
	nobody = 0
	native = 1 // public clients only
	all    = 2
)

var registrations = map[string]int{
	"https://a.example":                 all,
	"https://a.example/":                all,
	"https://a.example:8443/cb":         all,
	"https://a.example/cb?a=b&c=d%20e":  all,
	"https://a.example/cb?":             all,
	"https://a.example/cb?codes=1":      all,
	"https://a.example/cb/%2e%2e/":      all,
	"https://192.0.2.1/cb":              all,
	"https://[2001:db8::1]/cb":          all,
	"HTTPS://A.EXAMPLE/cb":              all,
	"http://127.0.0.1/cb":               all,
	"http://127.0.0.1:8080/cb":          all,
	"http://[::1]/cb":                   all,
	"http://[::1]:8080/cb":              all,
	"http://localhost/cb":               all,
	"http://localhost:3000":             all,
	"com.example.app:/cb":               native,
	"com.example.app:/cb?a=b":           native,
	"com.example.app://cb":              native,
	"com.example.app:cb":                native,
	"com.example-2.app:/cb":             native,
	"":                                  nobody,
	" ":                                 nobody,
	"/cb":                               nobody,
	"//a.example/cb":                    nobody,
	"a.example/cb":                      nobody,
	"https:":                            nobody,
	"https:/cb":                         nobody,
	"https:///cb":                       nobody,
	"https://:443/cb":                   nobody,
	"https:a.example/cb":                nobody,
	"https://a.example:x/cb":            nobody,
	"https://a.example/%zz":             nobody,
	"https://a.example/cb#":             nobody,
	"https://a.example/cb#f":            nobody,
	"https://a.example/cb?a#f":          nobody,
	"https://*.example/cb":              nobody,
	"https://a.example/*":               nobody,
	"https://a.example/cb?a=*":          nobody,
	"https://b@a.example/cb":            nobody,
	"https://b:c@a.example/cb":          nobody,
	"https://@a.example/cb":             nobody,
	"https://a.example\\@b.example/":    nobody,
	"https://a.example/\\cb":            nobody,
	"https://a.example/c b":             nobody,
	" https://a.example/cb":             nobody,
	"https://a.example/cb ":             nobody,
	"https://a.example/cb\n":            nobody,
	"https://a.example/cb\r\nX: y":      nobody,
	"https://a.example/\tcb":            nobody,
	"https://a.example/\x00":            nobody,
	"https://a.example/\x7f":            nobody,
	"https://a.example/ü":               nobody,
	"https://ü.example/":                nobody,
	"https://a.example/\xff":            nobody,
	"https://a.example/\"":              nobody,
	"https://a.example/<b>":             nobody,
	"https://a.example/{b}":             nobody,
	"https://a.example/cb?code=1":       nobody,
	"https://a.example/cb?a=b&state=":   nobody,
	"https://a.example/cb?iss":          nobody,
	"https://a.example/cb?error=1":      nobody,
	"https://a.example/cb?%63ode=1":     nobody,
	"https://a.example/cb?a;b":          nobody,
	"https://a.example/cb?a=%zz":        nobody,
	"com.example.app:/cb?error=1":       nobody,
	"http://a.example/cb":               nobody,
	"http://127.0.0.2/cb":               nobody,
	"http://127.1/cb":                   nobody,
	"http://2130706433/cb":              nobody,
	"http://0.0.0.0/cb":                 nobody,
	"http://[::]/cb":                    nobody,
	"http://[::ffff:127.0.0.1]/cb":      nobody,
	"http://[::1%25lo]/cb":              nobody,
	"http://127.0.0.1.evil.example/":    nobody,
	"http://127.0.0.1:80@evil.example/": nobody,
	"http://127.0.0.1@evil.example/":    nobody,
	"http://localhost.evil.example/":    nobody,
	"http://localhost@evil.example/":    nobody,
	"http://evil.example#@127.0.0.1/":   nobody,
	"http://evil.example\\@127.0.0.1/":  nobody,
	"http:/cb":                          nobody,
	"http:127.0.0.1/cb":                 nobody,
	"javascript:alert(1)":               nobody,
	"javascript://a.example/%0aalert()": nobody,
	"data:text/html,x":                  nobody,
	"data:text/html;a.b,x":              nobody,
	"vbscript:x":                        nobody,
	"file:///etc/passwd":                nobody,
	"blob:https://a.example/1":          nobody,
	"ftp://a.example/cb":                nobody,
	"ws://a.example/cb":                 nobody,
	"intent://a.example/#Intent;end":    nobody,
	"myapp:/cb":                         nobody,
	"myapp://a.example/cb":              nobody,
	"urn:ietf:wg:oauth:2.0:oob":         nobody,
	".:/cb":                             nobody,
	".com.example:/cb":                  nobody,
}

func TestRegistrations(t *testing.T) {
	registrations["https://a.example/"+strings.Repeat("a", 2000-18)] = all
	registrations["https://a.example/"+strings.Repeat("a", 2001-18)] = nobody
	for uri, want := range registrations {
		for kind, ok := range map[lintel.ClientKind]bool{lintel.Public: want != nobody, lintel.Confidential: want == all} {
			err := CheckRedirectURI(uri, kind)
			if (err == nil) != ok || err != nil && lintel.CodeOf(err) != lintel.CodeInvalid {
				t.Errorf("%s client, %q: %v", kind, uri, err)
			}
		}
	}
}

func TestMatches(t *testing.T) {
	public, confidential := lintel.Client{Kind: lintel.Public}, lintel.Client{Kind: lintel.Confidential}
	for _, c := range []struct {
		registered string
		other      []string // match where the client is public
		never      []string
	}{
		{
			registered: "https://a.example/cb?a=b",
			never: []string{
				"", "https://a.example/cb", "https://a.example/cb?a=b&", "https://a.example/cb?a=b&c=d", "https://a.example/cb?a=c",
				"https://a.example/cb/?a=b", "https://a.example//cb?a=b", "https://a.example/x/../cb?a=b", "https://a.example/./cb?a=b",
				"https://a.example/%63b?a=b", "https://a.example/CB?a=b", "https://A.example/cb?a=b", "HTTPS://a.example/cb?a=b",
				"https://a.example:443/cb?a=b", "https://a.example:8443/cb?a=b", "https://a.example./cb?a=b", "http://a.example/cb?a=b",
				"https://a.example/cb?a=b#", "https://a.example/cb?a=b#f", "https://b@a.example/cb?a=b", "https://a.example@evil.example/cb?a=b",
				"https://a.example.evil.example/cb?a=b", "https://evil.example/cb?a=b", "//a.example/cb?a=b", " https://a.example/cb?a=b",
				"https://a.example/cb?a=b ", "https://a.example/cb?a=b\n", "https://a.example\\cb?a=b", "https://a.example/cb;x?a=b",
			},
		},
		{
			registered: "http://127.0.0.1/cb",
			other:      []string{"http://127.0.0.1:1/cb", "http://127.0.0.1:80/cb", "http://127.0.0.1:65535/cb"},
			never: []string{
				"http://127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1:80", "http://127.0.0.1:80/", "http://127.0.0.1:80/cb/", "http://127.0.0.1:80/CB",
				"http://127.0.0.1:80/cb?", "http://127.0.0.1:80/cb?a=b", "http://127.0.0.1:80/cb#", "http://127.0.0.1:80/cb#f", "http://127.0.0.1:80/%63b",
				"http://127.0.0.1:80/x/../cb", "http://127.0.0.1:80//cb", "http://127.0.0.1:/cb", "http://127.0.0.1:123456/cb", "http://127.0.0.1:-1/cb",
				"http://127.0.0.1:+80/cb", "http://127.0.0.1: 80/cb", "http://127.0.0.1:８０/cb", "http://127.0.0.1:80:80/cb", "http://127.0.0.1::80/cb",
				"https://127.0.0.1/cb", "https://127.0.0.1:80/cb", "HTTP://127.0.0.1:80/cb", "http://[::1]:80/cb", "http://localhost/cb", "http://localhost:80/cb",
				"http://127.0.0.2:80/cb", "http://127.1:80/cb", "http://0.0.0.0:80/cb", "http://127.0.0.1.:80/cb", "http://127.0.0.10:80/cb",
				"http://127.0.0.1:80@evil/", "http://127.0.0.1:80@evil/cb", "http://127.0.0.1@evil/cb", "http://127.0.0.1:80@evil:80/cb",
				"http://127.0.0.1.evil/", "http://127.0.0.1.evil/cb", "http://127.0.0.1evil/cb", "http://127.0.0.1:80.evil/cb", "http://127.0.0.1:80evil/cb",
				"http://127.0.0.1:80\\@evil/cb", "http://127.0.0.1\\@evil/cb", "http://127.0.0.1:80\\cb", "http://127.0.0.1:80#@evil/cb", "http://127.0.0.1:80;x/cb",
				"http://x@127.0.0.1:80/cb", "http://evil#@127.0.0.1:80/cb", "http://evil/http://127.0.0.1:80/cb", "http:/127.0.0.1:80/cb", "http:\\\\127.0.0.1:80/cb",
				"http://127.0.0.1:80/cb\n", "http://127.0.0.1:80\n/cb", "http://127.0.0.1:80/cb ", "http://127.0.0.1:80/c\tb", "http://127%2e0.0.1:80/cb",
			},
		},
		{
			registered: "http://[::1]:8080/cb?a=b",
			other:      []string{"http://[::1]/cb?a=b", "http://[::1]:1/cb?a=b"},
			never:      []string{"http://127.0.0.1:8080/cb?a=b", "http://[::1]:1/cb", "http://[::1]:1/cb?a=c", "http://[0:0:0:0:0:0:0:1]:1/cb?a=b", "http://[::1%25lo]:1/cb?a=b", "http://::1:1/cb?a=b", "http://[::1]evil/cb?a=b", "http://[::1]@evil/cb?a=b"},
		},
		{registered: "http://127.0.0.1", other: []string{"http://127.0.0.1:1"}, never: []string{"http://127.0.0.1/", "http://127.0.0.1:1/", "http://127.0.0.1?", "http://127.0.0.1:1@evil"}},
		{registered: "http://127.0.0.1?a", other: []string{"http://127.0.0.1:1?a"}, never: []string{"http://127.0.0.1:1/?a", "http://127.0.0.1:1"}},
		{registered: "http://127.0.0.1.evil/cb", never: []string{"http://127.0.0.1:1.evil/cb", "http://127.0.0.1:.evil/cb"}}, // were it registered
		{registered: "http://127.0.0.1@evil/cb", never: []string{"http://127.0.0.1:80@evil/cb"}},
		{registered: "http://localhost/cb", never: []string{"http://localhost:1/cb", "http://127.0.0.1/cb", "http://[::1]/cb", "http://LOCALHOST/cb"}},
		{registered: "https://127.0.0.1/cb", never: []string{"https://127.0.0.1:1/cb", "http://127.0.0.1:1/cb"}},
		{registered: "com.example.app:/cb", never: []string{"com.example.app://cb", "com.example.app:/cb/", "com.example.app:cb", "Com.example.app:/cb", "com.example.app:/cb?a", "com.example.app:1/cb"}},
	} {
		public.RedirectURIs, confidential.RedirectURIs = []string{"https://z.example/z", c.registered}, []string{c.registered}
		for _, uri := range append(c.other, c.registered) {
			if !matchRedirect(public, uri) {
				t.Errorf("%s of a public client does not match %s", uri, c.registered)
			}
			if matchRedirect(confidential, uri) != (uri == c.registered) {
				t.Errorf("%s of a confidential client: %v for %s", uri, uri != c.registered, c.registered)
			}
		}
		for _, uri := range c.never {
			if matchRedirect(public, uri) || matchRedirect(confidential, uri) {
				t.Errorf("%s matches %s", uri, c.registered)
			}
		}
	}
	if matchRedirect(lintel.Client{Kind: lintel.Public}, "") || matchRedirect(lintel.Client{Kind: lintel.Public}, "http://127.0.0.1:1/") {
		t.Error("a client without redirect URIs has one")
	}
}

func TestAnswersKeepTheRegisteredText(t *testing.T) {
	answer := url.Values{"code": {"c"}}
	for uri, want := range map[string]string{
		"https://a.example":                "https://a.example?code=c",
		"https://a.example/cb":             "https://a.example/cb?code=c",
		"https://a.example/cb?":            "https://a.example/cb?code=c",
		"https://a.example/cb?a=b%20c+d":   "https://a.example/cb?a=b%20c+d&code=c",
		"https://a.example/cb?a=b&":        "https://a.example/cb?a=b&code=c",
		"https://a.example/cb?a?":          "https://a.example/cb?a?&code=c",
		"https://a.example/cb?a=b?":        "https://a.example/cb?a=b?&code=c",
		"https://a.example/cb??":           "https://a.example/cb??&code=c",
		"https://a.example/cb&":            "https://a.example/cb&?code=c",
		"https://a.example/%2e%2E/cb":      "https://a.example/%2e%2E/cb?code=c",
		"http://[::1]:1/cb":                "http://[::1]:1/cb?code=c",
		"com.example.app:/cb":              "com.example.app:/cb?code=c",
		"com.example.app:cb?a":             "com.example.app:cb?a&code=c",
		"https://a.example/cb?z=1&a=2&z=3": "https://a.example/cb?z=1&a=2&z=3&code=c",
	} {
		if got := redirectTo(uri, answer); got != want {
			t.Errorf("%s became %s", uri, got)
		}
	}
}

func FuzzMatchRedirect(f *testing.F) {
	f.Add("https://a.example/cb?a=b", "https://a.example/cb?a=b", false)
	f.Add("http://127.0.0.1/cb", "http://127.0.0.1:8080/cb", true)
	f.Add("http://[::1]:1/cb?a", "http://[::1]/cb?a", true)
	f.Add("http://127.0.0.1/cb", "http://127.0.0.1:80@evil/cb", true)
	f.Add("http://127.0.0.1", "http://127.0.0.1:80\\@evil", true)
	f.Add("com.example.app:/cb", "com.example.app:/cb", true)
	f.Add("https://a.example/cb?a?", "https://a.example/cb?a?", false)
	f.Fuzz(func(t *testing.T, registered, uri string, public bool) {
		c := lintel.Client{Kind: lintel.Confidential, RedirectURIs: []string{registered}}
		if public {
			c.Kind = lintel.Public
		}
		if CheckRedirectURI(registered, c.Kind) != nil {
			return
		}
		if !matchRedirect(c, registered) {
			t.Fatalf("%q does not match itself", registered)
		}
		if !matchRedirect(c, uri) {
			uri = registered
		}
		u, want := parsed(t, uri), parsed(t, registered)
		if uri != registered && (!public || u.Scheme != "http" || !slices.Contains([]string{"127.0.0.1", "::1"}, u.Hostname()) ||
			u.Hostname() != want.Hostname() || u.EscapedPath() != want.EscapedPath() || u.RawQuery != want.RawQuery ||
			u.ForceQuery != want.ForceQuery || u.Opaque != want.Opaque) {
			t.Fatalf("%q matches %q", uri, registered)
		}
		if u.User != nil || u.Fragment != "" {
			t.Fatalf("%q matches", uri)
		}
		answer := url.Values{"code": {"a b&c=d#e"}, "state": {"ü%00+"}, "iss": {issuer}}
		location := redirectTo(uri, answer)
		got := parsed(t, location)
		if !strings.HasPrefix(location, uri) || got.Scheme != want.Scheme || got.Hostname() != want.Hostname() || got.Port() != u.Port() ||
			got.User != nil || got.EscapedPath() != want.EscapedPath() || got.Opaque != want.Opaque || got.Fragment != "" || !plainURI(location) {
			t.Fatalf("%q leads to %q", uri, location)
		}
		query, err := url.ParseQuery(got.RawQuery)
		must(t, err)
		for name, value := range answer {
			if !slices.Equal(query[name], value) {
				t.Fatalf("%q has %s=%q", location, name, query[name])
			}
			delete(query, name)
		}
		if query.Encode() != want.Query().Encode() {
			t.Fatalf("%q lost of its own query", location)
		}
	})
}
