package oauth

import (
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

// TestStrictRotation: a public client's refresh token is spent at once, and its
// second use ends everything (RFC 9700 §4.14.2).
func TestStrictRotation(t *testing.T) {
	w := newWorld(t)
	first := w.connect(t, w.public)
	second := w.refresh(t, w.public, first.RefreshToken)
	third := w.refresh(t, w.public, second.RefreshToken)
	for _, each := range []tokens{first, second, third} {
		if !w.alive(t, each.AccessToken) {
			t.Error("a refresh ended an access token")
		}
	}
	if first.AccessToken == second.AccessToken || first.RefreshToken == second.RefreshToken {
		t.Error("a refresh gave the same tokens")
	}
	w.post(t, PathToken, w.public.renewal(first.RefreshToken)).wantRefused(t, "used twice", 400, InvalidGrant)
	w.wantRevoked(t, first, second, third)
	w.post(t, PathToken, w.public.renewal(third.RefreshToken)).wantRefused(t, "the newest", 400, InvalidGrant)
}

// TestLazyRotation: a client with a secret may use a refresh token until its
// successor was used, as Google's account linking demands; then its use ends
// everything.
func TestLazyRotation(t *testing.T) {
	for _, reused := range []string{"the old one", "one beside it"} {
		w := newWorld(t)
		for _, a := range []app{w.confidential, w.legacy} {
			first := w.connect(t, a)
			lost := w.refresh(t, a, first.RefreshToken)
			second := w.refresh(t, a, first.RefreshToken)
			if !w.alive(t, first.AccessToken) || !w.alive(t, lost.AccessToken) || first.AccessToken == second.AccessToken {
				t.Errorf("%s: a refresh ended an access token, or gave the same", a.ID)
			}
			third := w.refresh(t, a, second.RefreshToken)
			if !w.alive(t, first.AccessToken) {
				t.Errorf("%s: the use of the new refresh token ended the old access token", a.ID)
			}
			old := first
			if reused != "the old one" {
				old = lost
			}
			w.post(t, PathToken, a.renewal(old.RefreshToken)).wantRefused(t, reused, 400, InvalidGrant)
			w.wantRevoked(t, first, lost, second, third)
			w.post(t, PathToken, a.renewal(third.RefreshToken)).wantRefused(t, "the newest", 400, InvalidGrant)
		}
	}
}

// TestBadRefreshSpendsNothing sends a refresh token in every wrong way first.
func TestBadRefreshSpendsNothing(t *testing.T) {
	w := newWorld(t)
	stranger := w.register(t, lintel.Client{ID: "stranger", Kind: lintel.Public, Scopes: lintel.AllScopes})
	for _, a := range w.apps() {
		got := w.connect(t, a)
		right := a.renewal(got.RefreshToken)
		for _, c := range []struct {
			name   string
			pairs  []string
			status int
			code   ErrorCode
		}{
			{"no token", []string{"refresh_token", ""}, 400, InvalidRequest},
			{"an unknown token", []string{"refresh_token", secret.New(secret.RefreshToken)}, 400, InvalidGrant},
			{"no token at all", []string{"refresh_token", "x"}, 400, InvalidGrant},
			{"an access token", []string{"refresh_token", got.AccessToken}, 400, InvalidGrant},
			{"its hash", []string{"refresh_token", secret.Hash(got.RefreshToken)}, 400, InvalidGrant},
			{"another client", []string{"client_id", stranger.ID, "client_secret", ""}, 400, InvalidGrant},
			{"a wrong secret", []string{"client_secret", "x"}, 401, InvalidClient},
			{"an unknown scope", []string{"scope", "EVERYTHING"}, 400, InvalidScope},
			{"no scope", []string{"scope", ","}, 400, InvalidScope},
			{"more scope", []string{"scope", "OPENDOOR READ"}, 400, InvalidScope},
			{"all scope", []string{"scope", lintel.AllScopes.String()}, 400, InvalidScope},
			{"another grant type", []string{"grant_type", "authorization_code"}, 400, InvalidRequest},
		} {
			w.post(t, PathToken, change(right, c.pairs...)).wantRefused(t, a.ID+", "+c.name, c.status, c.code)
		}
		next := w.post(t, PathToken, right).tokens(t)
		if !w.alive(t, got.AccessToken) || !w.alive(t, next.AccessToken) {
			t.Errorf("%s: a bad request revoked a grant", a.ID)
		}
		for range 2 { // somebody else with a spent token of this client
			w.post(t, PathToken, stranger.renewal(got.RefreshToken)).wantRefused(t, a.ID+", another client", 400, InvalidGrant)
		}
		if !w.alive(t, next.AccessToken) {
			t.Errorf("%s: another client revoked a grant", a.ID)
		}
	}
}

// TestNarrowing: a refresh may give less, and the next one gives all again (RFC
// 6749 §6).
func TestNarrowing(t *testing.T) {
	w := newWorld(t)
	for _, a := range []app{w.public, w.confidential} {
		first := w.connect(t, a, "scope", "OPENDOOR CLOSEDOOR READ")
		narrow := w.refresh(t, a, first.RefreshToken, "scope", "closedoor,closedoor")
		if narrow.Scope != "CLOSEDOOR" || w.subject(t, narrow.AccessToken).Scopes != lintel.ScopeClose {
			t.Errorf("%s: %s", a.ID, narrow.Scope)
		}
		if w.subject(t, first.AccessToken).Scopes != lintel.ScopeOpen|lintel.ScopeClose|lintel.ScopeRead {
			t.Errorf("%s: a refresh changed an older access token", a.ID)
		}
		whole := w.refresh(t, a, narrow.RefreshToken)
		if whole.Scope != "OPENDOOR CLOSEDOOR READ" || w.subject(t, whole.AccessToken).Scopes != lintel.ScopeOpen|lintel.ScopeClose|lintel.ScopeRead {
			t.Errorf("%s: %s", a.ID, whole.Scope)
		}
	}
}

func TestRefreshTokenExpires(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		after time.Duration
		ok    bool
	}{
		{refreshIdle - time.Millisecond, true},
		{refreshIdle, false},
		{refreshIdle + 24*time.Hour, false},
	} {
		for _, a := range w.apps() {
			w.clock.set(epoch)
			got := w.connect(t, a)
			w.clock.pass(c.after)
			answer := w.post(t, PathToken, a.renewal(got.RefreshToken))
			if c.ok {
				answer.tokens(t)
				continue
			}
			answer.wantRefused(t, a.ID+" after "+c.after.String(), 400, InvalidGrant)
			w.clock.set(epoch)
			if !w.alive(t, got.AccessToken) {
				t.Errorf("%s: an expired refresh token revoked the grant", a.ID)
			}
		}
	}
}

// TestGrantExpires refreshes and refreshes: all ends with the grant all the same.
func TestGrantExpires(t *testing.T) {
	w := newWorld(t)
	got := w.connect(t, w.public)
	for range 4 {
		w.clock.pass(80 * 24 * time.Hour)
		got = w.refresh(t, w.public, got.RefreshToken)
	}
	end := epoch.Add(grantLifetime)
	w.clock.set(end.Add(-time.Minute - time.Millisecond))
	answer := w.post(t, PathToken, w.public.renewal(got.RefreshToken)).fields(t)
	last := answer["access_token"].(string)
	if answer["expires_in"] != 60.0 || !w.subject(t, last).ExpiresAt.Equal(end) {
		t.Errorf("expires in %v, at %v", answer["expires_in"], w.subject(t, last).ExpiresAt)
	}
	w.clock.set(end.Add(-time.Millisecond))
	if !w.alive(t, last) {
		t.Error("an access token ended before its grant")
	}
	w.clock.set(end)
	if w.alive(t, last) {
		t.Error("an access token outlived its grant")
	}
	w.post(t, PathToken, w.public.renewal(answer["refresh_token"].(string))).wantRefused(t, "after the grant", 400, InvalidGrant)
}
