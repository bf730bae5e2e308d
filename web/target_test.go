package web

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"":                              home,
		"/":                             home,
		"/account":                      "/account",
		"/account/":                     "/account/",
		"/account/apps?x=1":             "/account/apps?x=1",
		"/device?user_code=WDJB-MJHT":   "/device?user_code=WDJB-MJHT",
		ask:                             ask,
		authorizationPath + "?a=//evil": authorizationPath + "?a=//evil",
		"/sign-in":                      home,
		"/accounts":                     home,
		"//evil.example/account":        home,
		`/\evil.example/account`:        home,
		`/account\..\..\x`:              home,
		"/account/../sign-out":          home,
		"/account/%2e%2e/sign-out":      home,
		"/account/%5c%2e%2e":            home,
		"https://evil.example/account":  home,
		"javascript:alert(1)":           home,
		"/account\r\nSet-Cookie: a=b":   home,
		"/account\t":                    home,
		" /account":                     home,
		"/account#x":                    home,
		"/account//evil":                home,
		"/acc%6funt":                    "/acc%6funt",
		"/account?" + strings.Repeat("x", maxTarget): home,
	} {
		if got := target(asked); got != want {
			t.Errorf("%.60q leads to %.60q, want %.60q", asked, got, want)
		}
	}
}

// FuzzReturn: whatever is asked for, the browser stays at this service, at one
// of the pages it may be sent to, and the text can stand in a header.
func FuzzReturn(f *testing.F) {
	for _, seed := range []string{"/account", "//evil.example", `/\evil`, "/account/../..", "/device?user_code=A", "/account\n", "/%2e%2e//x", "http:/account", "/account;//x"} {
		f.Add(seed)
	}
	here, err := url.Parse("https://doors.example/sign-in")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		got := target(asked)
		if strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q leads to %q, which is no header", asked, got)
		}
		// Browsers take a backslash for a slash.
		u, err := here.Parse(strings.ReplaceAll(got, `\`, "/"))
		if err != nil {
			t.Fatalf("%q leads to %q: %v", asked, got, err)
		}
		if u.Scheme != here.Scheme || u.Host != here.Host || u.User != nil {
			t.Fatalf("%q leads to %s", asked, u)
		}
		clean := path.Clean(u.Path)
		for _, allowed := range targets {
			if clean == allowed || strings.HasPrefix(clean, allowed+"/") {
				return
			}
		}
		t.Fatalf("%q leads to %s", asked, u)
	})
}
