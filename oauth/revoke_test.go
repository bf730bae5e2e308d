package oauth

import (
	"fmt"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
	"lintel/store"
)

func (r reply) wantBody(t *testing.T, what, want string) {
	t.Helper()
	if r.status != 200 || r.body != want+"\n" {
		t.Errorf("%s: %d %s instead of %s", what, r.status, r.body, want)
	}
}

// TestRevocation: any token ends the whole grant, at once, and whoever has it
// may say so again (RFC 7009 §2).
func TestRevocation(t *testing.T) {
	w := newWorld(t)
	for _, a := range w.apps() {
		kept := w.connect(t, a)
		for which, token := range map[string]func(old, new tokens) string{
			"access":      func(_, new tokens) string { return new.AccessToken },
			"refresh":     func(_, new tokens) string { return new.RefreshToken },
			"old access":  func(old, _ tokens) string { return old.AccessToken },
			"old refresh": func(old, _ tokens) string { return old.RefreshToken },
		} {
			for _, hint := range []string{"", "access_token", "refresh_token", "id_token"} {
				old := w.connect(t, a)
				next := w.refresh(t, a, old.RefreshToken)
				form := a.form("token", token(old, next), "token_type_hint", hint)
				w.post(t, PathRevocation, form).wantBody(t, which, "{}")
				w.wantRevoked(t, old, next)
				w.post(t, PathRevocation, form).wantBody(t, which+" again", "{}")
			}
		}
		if !w.alive(t, kept.AccessToken) {
			t.Errorf("%s: another grant was ended", a.ID)
		}
	}
}

func TestRevocationRefused(t *testing.T) {
	w := newWorld(t)
	got := w.connect(t, w.confidential)
	admin := w.addToken(t)
	code := w.code(t, w.confidential)
	for _, a := range []app{w.public, w.legacy} {
		for _, token := range []string{got.AccessToken, got.RefreshToken} {
			w.post(t, PathRevocation, a.form("token", token)).wantRefused(t, "another client's", 400, InvalidGrant)
		}
	}
	w.post(t, PathRevocation, w.public.form()).wantRefused(t, "no token", 400, InvalidRequest)
	w.post(t, PathRevocation, form("token", got.AccessToken)).wantRefused(t, "no client", 401, InvalidClient)
	w.post(t, PathRevocation, w.confidential.form("token", got.AccessToken, "client_secret", "x")).wantRefused(t, "a wrong secret", 401, InvalidClient)
	for _, token := range []string{
		"x", secret.New(secret.AccessToken), secret.New(secret.RefreshToken), code, secret.Hash(got.AccessToken), admin,
		got.AccessToken + " ", secret.RefreshToken + got.AccessToken[4:],
	} {
		w.post(t, PathRevocation, w.confidential.form("token", token)).wantBody(t, token, "{}")
	}
	if !w.alive(t, got.AccessToken) || !w.alive(t, admin) {
		t.Error("a token was revoked")
	}
	w.post(t, PathToken, w.confidential.redemption(code)).tokens(t)
}

// addToken adds an access token as an administrator does.
func (w *world) addToken(t *testing.T) string {
	t.Helper()
	token := secret.New(secret.AccessToken)
	must(t, w.db.AddToken(t.Context(), store.Token{ID: lintel.NewID(), Hash: secret.Hash(token), PersonID: w.person,
		Scopes: lintel.AllScopes, CreatedAt: epoch, ExpiresAt: epoch.Add(accessLifetime)}))
	return token
}

const inactive = `{"active":false}`

func TestIntrospection(t *testing.T) {
	w := newWorld(t)
	got := w.connect(t, w.confidential, "scope", "CLOSEDOOR,READ")
	ask := func(a app, token string) reply { return w.post(t, PathIntrospection, a.form("token", token)) }
	active := func(kind string, expires time.Time) string {
		return fmt.Sprintf(`{"active":true,"scope":"CLOSEDOOR READ","client_id":"server","sub":"%s",%s"exp":%d,"iss":"%s"}`, w.person, kind, expires.Unix(), issuer)
	}
	access, refresh := active(`"token_type":"Bearer",`, epoch.Add(accessLifetime)), active("", epoch.Add(refreshIdle))
	ask(w.confidential, got.AccessToken).wantBody(t, "own access token", access)
	ask(w.confidential, got.RefreshToken).wantBody(t, "own refresh token", refresh)
	for _, hint := range []string{"access_token", "refresh_token", "x"} {
		w.post(t, PathIntrospection, w.confidential.form("token", got.AccessToken, "token_type_hint", hint)).wantBody(t, "hint "+hint, access)
	}

	theirs := w.connect(t, w.public)
	for _, token := range []string{
		"x", secret.New(secret.AccessToken), secret.New(secret.RefreshToken), w.code(t, w.confidential), w.addToken(t),
		theirs.AccessToken, theirs.RefreshToken, secret.Hash(got.AccessToken), got.AccessToken + " ",
	} {
		ask(w.confidential, token).wantBody(t, token, inactive)
	}
	for _, token := range []string{got.AccessToken, got.RefreshToken} {
		ask(w.legacy, token).wantBody(t, "another client", inactive)
	}
	ask(w.public, theirs.AccessToken).wantRefused(t, "a public client", 401, InvalidClient)
	ask(w.confidential, "").wantRefused(t, "no token", 400, InvalidRequest)

	w.clock.set(epoch.Add(accessLifetime - time.Millisecond))
	ask(w.confidential, got.AccessToken).wantBody(t, "just before its end", access)
	w.clock.pass(time.Millisecond)
	ask(w.confidential, got.AccessToken).wantBody(t, "an expired access token", inactive)
	w.clock.set(epoch.Add(refreshIdle - time.Millisecond))
	ask(w.confidential, got.RefreshToken).wantBody(t, "just before its end", refresh)
	w.clock.pass(time.Millisecond)
	ask(w.confidential, got.RefreshToken).wantBody(t, "an expired refresh token", inactive)
}

func TestIntrospectionOfWhatWasEnded(t *testing.T) {
	for name, end := range map[string]func(w *world, got tokens){
		"the grant":           func(w *world, got tokens) { w.post(t, PathRevocation, w.confidential.form("token", got.AccessToken)) },
		"the person":          func(w *world, _ tokens) { must(t, w.db.DisablePerson(t.Context(), w.person, epoch)) },
		"the person's change": func(w *world, _ tokens) { must(t, w.db.ChangePassword(t.Context(), w.person, "x", "", epoch)) },
	} {
		w := newWorld(t)
		got := w.connect(t, w.confidential)
		end(w, got)
		for _, token := range []string{got.AccessToken, got.RefreshToken} {
			w.post(t, PathIntrospection, w.confidential.form("token", token)).wantBody(t, name, inactive)
		}
	}
	w := newWorld(t)
	old := w.connect(t, w.confidential)
	next := w.refresh(t, w.confidential, old.RefreshToken)
	w.refresh(t, w.confidential, next.RefreshToken)
	w.post(t, PathIntrospection, w.confidential.form("token", old.RefreshToken)).wantBody(t, "a spent refresh token", inactive)
}

// TestIntrospectionNearTheEnd: no token is said to outlive its grant.
func TestIntrospectionNearTheEnd(t *testing.T) {
	w := newWorld(t)
	got := w.connect(t, w.confidential)
	for range 4 {
		w.clock.pass(80 * 24 * time.Hour)
		got = w.refresh(t, w.confidential, got.RefreshToken)
	}
	fields := w.post(t, PathIntrospection, w.confidential.form("token", got.RefreshToken)).fields(t)
	if want := float64(epoch.Add(grantLifetime).Unix()); fields["exp"] != want {
		t.Errorf("exp is %v instead of %v", fields["exp"], want)
	}
}
