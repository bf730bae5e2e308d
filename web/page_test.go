package web

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// everyPage shows each page once, by the name of its template.
func everyPage(t *testing.T) map[string]reply {
	t.Helper()
	w := newWorld(t)
	w.things(t)
	w.request(t, userCode)
	stranger, b := w.browser(), w.signedIn(t)
	shown := map[string]reply{
		"sign-in":  stranger.get(t, "/sign-in"),
		"recovery": stranger.get(t, "/sign-in/recovery"),
		"problem":  b.get(t, "/account/nothing"),
		"consent":  b.get(t, ask),
		"overview": b.get(t, home), "controllers": b.get(t, "/account/controllers"), "apps": b.get(t, "/account/apps"), "sessions": b.get(t, "/account/sessions"),
		"password": b.get(t, passwordPath), "passkeys": b.get(t, "/account/passkeys"), "recovery-codes": b.get(t, "/account/recovery-codes"),
		"device": b.get(t, "/device"), "device-confirm": b.post(t, "/device", url.Values{"user_code": {userCode}}),
		"device-done": b.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"deny"}}),
		"setup":       emptyWorld(t, origin).browser().get(t, "/setup?ticket=x"),
	}
	if len(shown) != len(w.pages.pages) {
		t.Fatalf("%d pages are shown of %d", len(shown), len(w.pages.pages))
	}
	return shown
}

var (
	inputs   = regexp.MustCompile(`<input[^>]*>`)
	forms    = regexp.MustCompile(`(?s)<form[^>]*>.*?</form>`)
	links    = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	named    = regexp.MustCompile(` id="([^"]+)"`)
	headings = regexp.MustCompile(`<h1>[^<]+</h1>`)
)

// TestPages holds every page to what makes it usable: without a mouse, with a
// screen reader, without scripts, and without other sites.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, r := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			held(t, r)
			if n := len(headings.FindAllString(r.body, -1)); n != 1 {
				t.Errorf("%d main headings", n)
			}
			r.says(t, `<html lang="en">`).says(t, `<a class="skip" href="#main">`).says(t, `<main id="main"`).says(t, ` – Lintel</title>`)
			for _, input := range inputs.FindAllString(r.body, -1) {
				labelled(t, r.body, input)
			}
			for _, form := range forms.FindAllString(r.body, -1) {
				if !strings.Contains(form, `name="csrf" value="`) || strings.Contains(form, `name="csrf" value=""`) {
					t.Errorf("a form without its token: %s", form)
				}
				if !strings.Contains(form, `method="post"`) && !strings.Contains(form, "data-passkey") {
					t.Errorf("a form that puts its fields in the address: %s", form)
				}
			}
			for _, link := range links.FindAllStringSubmatch(r.body, -1) {
				if !strings.HasPrefix(link[1], "/") && !strings.HasPrefix(link[1], "#") || strings.HasPrefix(link[1], "//") {
					t.Errorf("a link to %s", link[1])
				}
			}
		})
	}
}

// labelled holds that an input that people see has a label.
func labelled(t *testing.T, body, input string) {
	t.Helper()
	if strings.Contains(input, `type="hidden"`) || strings.HasSuffix(input, "hidden>") {
		return
	}
	if strings.Contains(input, `type="checkbox"`) {
		if !strings.Contains(body, `<label class="choice">`+input) {
			t.Errorf("no label around %s", input)
		}
		return
	}
	id := named.FindStringSubmatch(input)
	if id == nil || !strings.Contains(body, `<label for="`+id[1]+`">`) {
		t.Errorf("no label for %s", input)
	}
	if !strings.Contains(input, "autocomplete=") {
		t.Errorf("browsers are not told what to fill into %s", input)
	}
}

// TestAssets: an address with the hash of the content may be kept for ever, and
// no other is served.
func TestAssets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	for name := range w.pages.assets {
		r := b.get(t, w.pages.assets.url(name)).is(t, 200)
		if r.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || r.header.Get("Content-Type") == "" || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", name, r.header)
		}
	}
	b.get(t, "/assets/0123456789abcdef/style.css").is(t, 404)
	b.get(t, "/assets/0123456789abcdef/web.go").is(t, 404)
}

func TestNewRefusesWhatIsNoOrigin(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "doors.example", "https://doors.example/lintel", "https://"} {
		if _, err := New(Config{Origin: origin}, nil, nil, nil); err == nil {
			t.Errorf("%q is taken", origin)
		}
	}
}
