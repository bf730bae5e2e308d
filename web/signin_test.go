package web

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/account"
	"lintel/secret"
)

func TestSignInRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.get(t, "/sign-in").is(t, 200).silent(t, `role="alert" tabindex`)
	unknown := b.post(t, "/sign-in", url.Values{"email": {"bob@example.org"}, "password": {"secret horse"}}).is(t, 401)
	wrong := b.post(t, "/sign-in", url.Values{"email": {email}, "password": {"secret horse"}}).is(t, 401)
	for _, r := range []reply{unknown, wrong} {
		r.says(t, "The e-mail address or the password is not right.").says(t, `role="alert"`).silent(t, "secret horse")
	}
	if strings.Replace(unknown.body, "bob@example.org", email, 1) != wrong.body {
		t.Error("an unknown account looks different from a wrong password")
	}
	wrong.says(t, `value="`+email+`"`)
	for range 10 {
		wrong = b.post(t, "/sign-in", url.Values{"email": {email}, "password": {"secret horse"}})
	}
	if wrong.is(t, 429).header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	wrong.says(t, "Too many attempts")
	b.post(t, "/sign-in/recovery", url.Values{"email": {"c@example.org"}, "code": {"nope-nope"}}).is(t, 401).
		says(t, "The e-mail address or the recovery code is not right.").silent(t, "nope-nope")
	if strings.Contains(w.log.String(), "secret horse") || strings.Contains(w.log.String(), email) {
		t.Error("the log tells what was typed")
	}
}

// TestSessionFixation: what a browser had before signing in is worth nothing
// afterwards, and each sign-in is a new session.
func TestSessionFixation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.cookies[sessionCookieName] = secret.New(secret.Session)
	planted := b.cookies[sessionCookieName]
	b.get(t, "/sign-in").is(t, 200)
	if b.cookies[sessionCookieName] != "" {
		t.Error("a session that is none was left in the browser")
	}
	before := b.csrf
	b.cookies[sessionCookieName] = planted
	b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}}).leads(t, home)
	first := b.cookies[sessionCookieName]
	if first == planted || !secret.Is(secret.Session, first) {
		t.Fatalf("the session is %q", first)
	}
	if b.cookies["__Host-lintel-visitor"] != "" {
		t.Error("the visitor's cookie is still there")
	}
	b.get(t, home).is(t, 200)
	if b.csrf == before {
		t.Error("forms from before signing in are still good")
	}
	// Signing in again ends the session before.
	w.wait(time.Hour)
	b.get(t, "/sign-in?return=/account/passkeys").is(t, 200).says(t, "please sign in again")
	b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}}).leads(t, home)
	second := b.cookies[sessionCookieName]
	if second == first {
		t.Error("the same session again")
	}
	b.cookies[sessionCookieName] = first
	b.get(t, home).leads(t, signInFor(home))
	b.cookies[sessionCookieName] = second
	b.get(t, home).is(t, 200)
	// Signing out ends it at the service, not only in the browser.
	b.post(t, "/sign-out", nil).leads(t, "/sign-in")
	if b.cookies[sessionCookieName] != "" || b.cookies["__Host-lintel-known"] == "" {
		t.Errorf("after signing out the browser has %v", b.cookies)
	}
	b.cookies[sessionCookieName] = second
	b.get(t, home).leads(t, signInFor(home))
}

func TestCookies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.get(t, "/sign-in")
	set := strings.Join(b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}}).header["Set-Cookie"], "\n")
	for _, want := range []string{
		"__Host-lintel-session=lts_", "; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax",
		"__Host-lintel-known=ltb_", "; Path=/; Max-Age=31536000; HttpOnly; Secure; SameSite=Lax",
		"__Host-lintel-visitor=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
	} {
		if !strings.Contains(set, want) {
			t.Errorf("no %s in\n%s", want, set)
		}
	}
}

// TestPlainHTTP: on a home network without https everything works but what
// browsers want https for.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	accounts, err := account.New(account.Config{Origin: "http://192.0.2.1:8080", Now: w.clock, Log: w.pages.cfg.Log}, w.Store)
	must(t, err)
	w.serve(t, accounts, "http://192.0.2.1:8080")
	b := w.browser()
	r := b.get(t, "/sign-in").is(t, 200).silent(t, "passkey")
	if r.header.Get("Strict-Transport-Security") != "" || strings.Contains(r.header.Get("Content-Security-Policy"), "script") {
		t.Errorf("headers %v", r.header)
	}
	if set := r.header.Get("Set-Cookie"); !strings.HasPrefix(set, "lintel-visitor=ltv_") || strings.Contains(set, "Secure") {
		t.Errorf("cookie %s", set)
	}
	own := b.form(t, "/sign-in", url.Values{"email": {email}, "password": {password}})
	own.Header.Del("Sec-Fetch-Site") // browsers send it over https only
	own.Header.Set("Origin", "http://192.0.2.1:8080")
	b.send(t, own).leads(t, home)
	b.get(t, "/account/passkeys").is(t, 200).says(t, "not possible at this address")
}

// TestBehindAProxy: the Host need not be the one that the browser sees.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	b := newWorld(t).browser()
	b.get(t, "/sign-in")
	r := b.form(t, "/sign-in", url.Values{"email": {email}, "password": {password}})
	r.Host = "10.0.0.3:8080"
	r.Header.Del("Sec-Fetch-Site")
	r.Header.Set("Origin", origin)
	b.send(t, r).leads(t, home)
}

func TestReturns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for asked, want := range map[string]string{"/device?user_code=X": "/device?user_code=X", "//evil.example": home, "https://evil.example/account": home} {
		b := w.browser()
		b.get(t, "/sign-in?return="+url.QueryEscape(asked)).is(t, 200).says(t, `name="return" value="`+want+`"`)
		b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}, "return": {asked}}).leads(t, want)
		b.get(t, "/sign-in?return="+url.QueryEscape(asked)).leads(t, want)
		b.get(t, home)
		next := "/sign-in"
		if want == asked {
			next = want
		}
		b.post(t, "/sign-out", url.Values{"return": {asked}}).leads(t, next)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	b := newWorld(t).browser()
	b.get(t, "/sign-in")
	b.post(t, "/sign-in", url.Values{"password": {strings.Repeat("x", maxForm)}}).is(t, 413)
	r := b.form(t, "/sign-in", nil)
	r.Header.Set("Content-Type", "application/json")
	b.send(t, r).is(t, 415)
	r = httptest.NewRequestWithContext(t.Context(), "POST", "/sign-in", strings.NewReader("csrf=%zz"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	b.send(t, r).is(t, 400)
	// A token in the address is none.
	r = b.form(t, "/sign-in?csrf="+url.QueryEscape(b.csrf), url.Values{"csrf": {""}})
	b.send(t, r).is(t, 403).says(t, "This form has expired")
	// Trying again loses nothing.
	again := "/sign-in?return=" + url.QueryEscape(ask)
	b.get(t, again).is(t, 200).says(t, `name="return" value="/oauth`)
	b.send(t, b.form(t, "/sign-in", url.Values{"csrf": {"old"}, "return": {ask}})).is(t, 403).says(t, `href="`+again+`"`)
	// A browser that was never shown a page has no token, not an empty one.
	fresh := newWorld(t).browser()
	fresh.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}}).is(t, 403)
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	codes, err := w.accounts.NewRecoveryCodes(t.Context(), w.ada.ID)
	must(t, err)
	b := w.browser()
	b.get(t, "/sign-in/recovery").is(t, 200)
	b.post(t, "/sign-in/recovery", url.Values{"email": {email}, "code": {codes[0]}}).leads(t, passwordPath)
	b.get(t, passwordPath).is(t, 200).says(t, "the old password is not needed").silent(t, `name="current"`)
	b.post(t, passwordPath, url.Values{"next": {"short"}}).is(t, 400).says(t, "at least 12 characters").silent(t, "short")
	b.post(t, passwordPath, url.Values{"next": {"another horse entirely"}}).leads(t, home+"?done=password")
	b.get(t, home+"?done=password").is(t, 200).says(t, "Your password is changed").says(t, "9 codes left")
}

// faulty is accounts that do one thing otherwise.
type faulty struct {
	*account.Service
	session func() error
	finish  func() (account.SignedIn, error)
}

func (f faulty) Session(ctx context.Context, s string) (lintel.Session, lintel.Person, error) {
	if f.session != nil {
		return lintel.Session{}, lintel.Person{}, f.session()
	}
	return f.Service.Session(ctx, s)
}

func (f faulty) FinishPasskeySignIn(context.Context, account.Browser, string, string, []byte) (account.SignedIn, error) {
	return f.finish()
}

func TestPasskeySignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.get(t, "/sign-in").is(t, 200).says(t, "/passkey.js").says(t, "username webauthn").says(t, "<noscript>")
	b.post(t, "/sign-in/passkey/begin", nil).is(t, 200).says(t, `"ticket":"ltt_`).says(t, `"publicKey"`)
	w.serve(t, faulty{Service: w.accounts, finish: func() (account.SignedIn, error) {
		return w.accounts.SignIn(t.Context(), account.Browser{Address: source(nil)}, email, password)
	}}, origin)
	b.post(t, "/sign-in/passkey/finish", url.Values{"return": {"/device"}}).is(t, 200).says(t, `{"location":"/device"}`)
	b.get(t, home).is(t, 200)
}

// TestFaults: what goes wrong inside is logged and not told.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	w.serve(t, faulty{Service: w.accounts, session: func() error { return errors.New("the disk is on fire") }}, origin)
	b.get(t, "/account?secret=1").is(t, 500).says(t, "That did not work").silent(t, "fire")
	w.serve(t, faulty{Service: w.accounts, session: func() error { panic("a bug") }}, origin)
	b.get(t, "/account").is(t, 500).says(t, "That did not work").silent(t, "a bug")
	b.post(t, "/account/passkeys/begin", nil).is(t, 500).says(t, `{"error":"Something went wrong`).silent(t, "a bug")
	log := w.log.String()
	if !strings.Contains(log, "the disk is on fire") || !strings.Contains(log, "a bug") || strings.Contains(log, "secret=1") {
		t.Errorf("the log says %s", log)
	}
}
