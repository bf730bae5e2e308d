package oauth

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

func TestCodeForTokens(t *testing.T) {
	w := newWorld(t)
	for _, a := range w.apps() {
		got := w.post(t, PathToken, a.redemption(w.code(t, a))).tokens(t)
		subject := w.subject(t, got.AccessToken)
		if got.Scope != "OPENDOOR CLOSEDOOR" || !w.alive(t, got.AccessToken) || !subject.ExpiresAt.Equal(epoch.Add(accessLifetime)) {
			t.Errorf("%s: %s, %+v", a.ID, got.Scope, subject)
		}
		stored, _, err := w.db.RefreshToken(t.Context(), secret.Hash(got.RefreshToken))
		if err != nil || !stored.ExpiresAt.Equal(epoch.Add(refreshIdle)) {
			t.Errorf("%s: %+v, %v", a.ID, stored, err)
		}
	}
}

// TestRedirectURIAtBothEnds holds when a token request must name the redirect
// URI, and which (RFC 6749 §4.1.3).
func TestRedirectURIAtBothEnds(t *testing.T) {
	w := newWorld(t)
	const cb, other = "https://server.example/cb", "https://server.example/other"
	const hub = "https://hub.example/cb?a=b%20c"
	const port = "http://127.0.0.1:8123/cb"
	for _, c := range []struct {
		name         string
		app          app
		asked, given string
		ok           bool
	}{
		{"the same", w.confidential, cb, cb, true},
		{"the other registered one", w.confidential, cb, other, false},
		{"named, then not", w.confidential, cb, "", false},
		{"a prefix", w.confidential, cb, cb[:len(cb)-1], false},
		{"more", w.confidential, cb, cb + "/", false},
		{"another's", w.confidential, cb, hub, false},
		{"never named", w.legacy, "", "", true},
		{"named only then, the registered one", w.legacy, "", hub, true},
		{"named only then, another", w.legacy, "", cb, false},
		{"named, then not, the only one", w.legacy, hub, "", false},
		{"the same port", w.public, port, port, true},
		{"the registered one without the port", w.public, port, "http://127.0.0.1/cb", false},
		{"another port", w.public, port, "http://127.0.0.1:8124/cb", false},
		{"a port only then", w.public, "", port, false},
	} {
		answer := w.post(t, PathToken, c.app.redemption(w.code(t, c.app, "redirect_uri", c.asked), "redirect_uri", c.given))
		if c.ok {
			answer.tokens(t)
		} else {
			answer.wantRefused(t, c.name, 400, InvalidGrant)
		}
	}
}

// TestChallengeAtBothEnds holds that PKCE can neither be left out nor brought in
// between the two requests (RFC 7636 §4.6, RFC 9700 §4.8.2).
func TestChallengeAtBothEnds(t *testing.T) {
	w := newWorld(t)
	withChallenge := []string{"code_challenge", challenge, "code_challenge_method", "S256"}
	for _, a := range w.apps() {
		for _, given := range []string{"", challenge, verifier + "A", verifier[:42], "x" + verifier[1:]} {
			w.post(t, PathToken, a.redemption(w.code(t, a, withChallenge...), "code_verifier", given)).wantRefused(t, a.ID+" "+given, 400, InvalidGrant)
		}
		w.post(t, PathToken, a.redemption(w.code(t, a, withChallenge...), "code_verifier", verifier)).tokens(t)
	}
	w.post(t, PathToken, w.legacy.redemption(w.code(t, w.legacy), "code_verifier", verifier)).wantRefused(t, "a verifier alone", 400, InvalidGrant)
	w.post(t, PathToken, w.legacy.redemption(w.code(t, w.legacy))).tokens(t)
}

// TestBadRequestSpendsNothing sends a code in every wrong way before the right
// one, and again after it: only the whole, right request spends it, and only the
// whole, right request again ends what came of it.
func TestBadRequestSpendsNothing(t *testing.T) {
	w := newWorld(t)
	other := w.register(t, lintel.Client{ID: "other", Kind: lintel.Confidential, Scopes: lintel.AllScopes, RedirectURIs: w.confidential.RedirectURIs})
	for _, a := range []app{w.confidential, w.public} {
		code := w.code(t, a)
		right := a.redemption(code)
		bad := []struct {
			name   string
			form   url.Values
			status int
			code   ErrorCode
		}{
			{"no client", change(right, "client_id", "", "client_secret", ""), 401, InvalidClient},
			{"an unknown client", change(right, "client_id", "x"), 401, InvalidClient},
			{"a wrong secret", change(right, "client_secret", "x"), 401, InvalidClient},
			{"another client", change(right, "client_id", other.ID, "client_secret", other.secret), 400, InvalidGrant},
			{"a public one", w.public.redemption(code, "redirect_uri", "http://127.0.0.1:1/cb"), 400, InvalidGrant},
			{"no redirect URI", change(right, "redirect_uri", ""), 400, InvalidGrant},
			{"another redirect URI", change(right, "redirect_uri", "https://server.example/other"), 400, InvalidGrant},
			{"no verifier", change(right, "code_verifier", ""), 400, InvalidGrant},
			{"another verifier", change(right, "code_verifier", challenge), 400, InvalidGrant},
			{"no grant type", change(right, "grant_type", ""), 400, InvalidRequest},
			{"another grant type", change(right, "grant_type", "refresh_token"), 400, InvalidRequest},
			{"an unknown grant type", change(right, "grant_type", "password"), 400, UnsupportedGrantType},
			{"a grant type in another case", change(right, "grant_type", "Authorization_Code"), 400, UnsupportedGrantType},
			{"no code", change(right, "code", ""), 400, InvalidRequest},
			{"an unknown code", change(right, "code", secret.New(secret.AuthorizationCode)), 400, InvalidGrant},
			{"no code at all", change(right, "code", "x"), 400, InvalidGrant},
			{"the code's hash", change(right, "code", secret.Hash(code)), 400, InvalidGrant},
			{"a secret of another kind", change(right, "code", secret.AccessToken+code[4:]), 400, InvalidGrant},
			{"the code twice", url.Values{"code": {code, code}, "client_id": {a.ID}, "grant_type": {grantCode}}, 400, InvalidRequest},
		}
		for _, b := range bad {
			w.post(t, PathToken, b.form).wantRefused(t, a.ID+", "+b.name, b.status, b.code)
		}
		query := w.request(t, http.MethodPost, PathToken+"?code="+code, change(right, "code", ""))
		w.call(t, query).wantRefused(t, a.ID+", in the query", 400, InvalidRequest)
		got := w.post(t, PathToken, right).tokens(t)
		for _, b := range bad {
			w.post(t, PathToken, b.form).wantRefused(t, a.ID+" afterwards, "+b.name, b.status, b.code)
		}
		if !w.alive(t, got.AccessToken) {
			t.Errorf("%s: a bad request revoked a grant", a.ID)
		}
		next := w.refresh(t, a, got.RefreshToken)
		w.post(t, PathToken, right).wantRefused(t, a.ID+", a replay", 400, InvalidGrant)
		w.wantRevoked(t, got, next)
		w.post(t, PathToken, a.renewal(next.RefreshToken)).wantRefused(t, a.ID+", a refresh after a replay", 400, InvalidGrant)
	}
}

// TestCodeReplay ends the family of the code, also long after, and no other.
func TestCodeReplay(t *testing.T) {
	w := newWorld(t)
	kept := w.connect(t, w.public)
	for _, later := range []time.Duration{0, time.Millisecond, codeLifetime, accessLifetime + codeLifetime, 10 * 24 * time.Hour} {
		w.clock.set(epoch)
		code := w.code(t, w.public)
		first := w.post(t, PathToken, w.public.redemption(code)).tokens(t)
		w.clock.pass(later)
		second := w.refresh(t, w.public, first.RefreshToken)
		w.post(t, PathToken, w.public.redemption(code)).wantRefused(t, later.String(), 400, InvalidGrant)
		w.wantRevoked(t, first, second)
	}
	w.clock.set(epoch)
	if !w.alive(t, kept.AccessToken) {
		t.Error("another consent of the same person and app was ended")
	}
}

func TestCodeExpires(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		after time.Duration
		ok    bool
	}{
		{codeLifetime - time.Millisecond, true},
		{codeLifetime, false},
		{codeLifetime + time.Millisecond, false},
		{24 * time.Hour, false},
	} {
		w.clock.set(epoch)
		code := w.code(t, w.public)
		w.clock.pass(c.after)
		answer := w.post(t, PathToken, w.public.redemption(code))
		if c.ok {
			answer.tokens(t)
			continue
		}
		answer.wantRefused(t, c.after.String(), 400, InvalidGrant)
		w.clock.set(epoch) // and it was not spent
		w.post(t, PathToken, w.public.redemption(code)).tokens(t)
	}
}

// TestEndedBeforeTheCode ends what a code stands on before it is redeemed.
func TestEndedBeforeTheCode(t *testing.T) {
	for name, end := range map[string]func(w *world) error{
		"the person disabled": func(w *world) error { return w.db.DisablePerson(t.Context(), w.person, epoch) },
		"the password changed": func(w *world) error {
			return w.db.ChangePassword(t.Context(), w.person, "x", "", epoch)
		},
		"the client disabled and back": func(w *world) error {
			if err := w.db.DisableClient(t.Context(), w.public.ID, epoch); err != nil {
				return err
			}
			return w.db.EnableClient(t.Context(), w.public.ID)
		},
	} {
		w := newWorld(t)
		code := w.code(t, w.public)
		old := w.connect(t, w.public)
		must(t, end(w))
		w.post(t, PathToken, w.public.redemption(code)).wantRefused(t, name, 400, InvalidGrant)
		w.post(t, PathToken, w.public.renewal(old.RefreshToken)).wantRefused(t, name+", refresh", 400, InvalidGrant)
		w.wantRevoked(t, old)
	}
}
