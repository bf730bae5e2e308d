package web

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAppsAndBrowsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	b.get(t, "/account/apps").is(t, 200).says(t, "No app is connected")
	of := w.things(t)
	b.get(t, "/account").is(t, 200).says(t, "Hello, Ada").says(t, "no recovery codes")
	b.get(t, "/account/apps").is(t, 200).says(t, "Hall Panel").says(t, "gate script").says(t, "Open your doors · See your doors")
	b.post(t, "/account/apps/"+string(of.grant)+"/disconnect", nil).leads(t, "/account/apps?done=disconnected")
	b.post(t, "/account/apps/tokens/"+string(of.token)+"/end", nil).leads(t, "/account/apps?done=token-ended")
	b.get(t, "/account/apps?done=disconnected").is(t, 200).says(t, "No app is connected").says(t, "can no longer reach your doors")

	b.get(t, "/account/sessions").is(t, 200).says(t, "This browser").says(t, "Safari on iPhone").says(t, "198.51.100.9")
	b.post(t, "/account/sessions/"+string(of.session)+"/end", nil).leads(t, "/account/sessions?done=session-ended")
	b.get(t, "/account/sessions").silent(t, "Safari on iPhone").silent(t, "all other")
	other := w.signedIn(t)
	b.post(t, "/account/sessions/end-others", nil).leads(t, "/account/sessions?done=sessions-ended")
	other.get(t, home).leads(t, signInFor(home))
}

// TestOnlyOnesOwn: an address that names somebody else's, or nothing, does nothing.
func TestOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.things(t)
	stored, err := hash()
	must(t, err)
	bob := w.ada
	bob.ID, bob.Email = "7c9e6679-7425-40de-944b-e07fc1f90ae7", "bob@example.org"
	must(t, w.AddPerson(t.Context(), bob, stored))
	b := w.browser()
	b.get(t, "/sign-in")
	b.post(t, "/sign-in", url.Values{"email": {bob.Email}, "password": {password}}).leads(t, home)
	b.get(t, home)
	for _, path := range []string{
		"/account/apps/" + string(of.grant) + "/disconnect", "/account/apps/tokens/" + string(of.token) + "/end",
		"/account/sessions/" + string(of.session) + "/end", "/account/passkeys/" + string(of.passkey) + "/remove",
		"/account/apps/x/disconnect", "/account/apps/tokens/x/end", "/account/sessions/x/end", "/account/passkeys/x/remove",
	} {
		b.post(t, path, nil).is(t, 404)
	}
	ada := w.signedIn(t)
	ada.get(t, "/account/apps").says(t, "Hall Panel").says(t, "gate script")
	ada.get(t, "/account/sessions").says(t, "Safari on iPhone")
	ada.get(t, "/account/passkeys").says(t, "Blue key")
}

func TestEndingOnesOwnSessionIsSigningOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	sessions, err := w.accounts.Sessions(t.Context(), w.ada.ID)
	must(t, err)
	b.post(t, "/account/sessions/"+string(sessions[0].ID)+"/end", nil).leads(t, "/sign-in")
	b.get(t, home).leads(t, signInFor(home))
}

// TestFreshPages: who left the browser open has not left the keys in it.
func TestFreshPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	of := w.things(t)
	b.get(t, "/account/recovery-codes").is(t, 200)
	w.wait(16 * time.Minute)
	for path, back := range map[string]string{
		"/account/recovery-codes": "/account/recovery-codes", "/account/passkeys/" + string(of.passkey) + "/remove": "/account/passkeys",
	} {
		b.post(t, path, nil).leads(t, signInFor(back))
	}
	b.get(t, "/account/passkeys").leads(t, signInFor("/account/passkeys"))
	b.post(t, "/account/passkeys/begin", nil).is(t, 401).says(t, `"location":"`).says(t, "sign in again")
	b.get(t, signInFor("/account/passkeys")).is(t, 200).says(t, "please sign in again").says(t, `value="`+email+`"`)
	b.get(t, signInFor("/account/apps")).leads(t, "/account/apps")
	b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}, "return": {"/account/passkeys"}}).leads(t, "/account/passkeys")
	b.get(t, "/account/passkeys").is(t, 200)
}

func TestRecoveryCodesAreShownOnce(t *testing.T) {
	t.Parallel()
	b := newWorld(t).signedIn(t)
	b.get(t, "/account/recovery-codes").is(t, 200).says(t, "You have no codes")
	made := b.post(t, "/account/recovery-codes", nil).is(t, 200).says(t, "shown only now")
	if n := strings.Count(made.body, "<li>") - strings.Count(made.body, `<li><a href="/account`); n != 10 {
		t.Errorf("%d codes", n)
	}
	b.get(t, "/account/recovery-codes").is(t, 200).says(t, "10 codes left").silent(t, "<ol")
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, other := w.signedIn(t), w.signedIn(t)
	b.post(t, passwordPath, url.Values{"current": {"wrong"}, "next": {"another horse entirely"}}).is(t, 401).says(t, "current password is wrong").silent(t, "another horse")
	b.post(t, passwordPath, url.Values{"current": {password}, "next": {"abcdefghijkl"}}).is(t, 400).silent(t, "abcdefghijkl")
	b.post(t, passwordPath, url.Values{"current": {password}, "next": {"another horse entirely"}}).leads(t, home+"?done=password")
	b.get(t, home).is(t, 200)
	other.get(t, home).leads(t, signInFor(home))
}

func TestWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		0: "just now", -time.Hour: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago", 49 * time.Hour: "2 days ago",
		8 * 24 * time.Hour: "21 March 2026",
	} {
		if got := ago(now.Add(-passed), now); got != want {
			t.Errorf("%s is %q, want %q", passed, got, want)
		}
	}
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                           "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0":        "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                     "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile Safari/604.1": "Safari on iPhone",
		"curl/8.5.0": "curl",
		"":           "Unknown browser",
	} {
		if got := browserWords(agent); got != want {
			t.Errorf("%s is %q, want %q", agent, got, want)
		}
	}
}
