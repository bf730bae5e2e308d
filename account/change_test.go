package account

import (
	"testing"
	"time"

	"lintel"
	"lintel/secret"
	"lintel/store"
)

func TestChangePassword(t *testing.T) {
	h := newHouse(t)
	p := h.person(email)
	own, other := from("192.0.2.1"), from("192.0.2.2")
	in, elsewhere := h.in(&own, email), h.in(&other, email)
	token := store.Token{ID: lintel.NewID(), Hash: "hash", PersonID: p.ID, Scopes: 1, CreatedAt: h.stamp(), ExpiresAt: h.stamp().Add(time.Hour)}
	must(t, h.db.AddToken(t.Context(), token))

	renewed, err := h.ChangePassword(t.Context(), own, in.Session, password, next)
	must(t, err)
	h.session(renewed)
	_, _, err = h.Session(t.Context(), in.Secret) // of which somebody may have a copy
	wantCode(t, err, lintel.CodeUnauthenticated)
	_, _, err = h.Session(t.Context(), elsewhere.Secret)
	wantCode(t, err, lintel.CodeUnauthenticated)
	tokens, err := h.db.Tokens(t.Context(), p.ID)
	must(t, err)
	equal(t, tokens[0].RevokedAt.IsZero(), false)
	_, err = h.SignIn(t.Context(), own, email, password)
	wantCode(t, err, lintel.CodeUnauthenticated)
	again, err := h.SignIn(t.Context(), own, email, next)
	must(t, err)
	equal(t, again.Known, "") // the browser that changed it stays known
	again, err = h.SignIn(t.Context(), other, email, next)
	must(t, err)
	equal(t, secret.Is(secret.KnownBrowser, again.Known), true) // and no other
}

func TestChangePasswordRefuses(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	b := from("192.0.2.1")
	in := h.in(&b, email)
	gone := h.in(&b, email)
	must(t, h.EndSession(t.Context(), gone.Person.ID, gone.Session.ID))
	for name, c := range map[string]struct {
		session       lintel.Session
		current, next string
		want          lintel.Code
	}{
		"wrong current":     {in.Session, "wrong", next, lintel.CodeUnauthenticated},
		"no current":        {in.Session, "", next, lintel.CodeUnauthenticated},
		"short":             {in.Session, password, "short", lintel.CodeInvalid},
		"common":            {in.Session, password, "Password1234", lintel.CodeInvalid},
		"the e-mail":        {in.Session, password, "ADA@house.example", lintel.CodeInvalid},
		"an ended session":  {gone.Session, password, next, lintel.CodeUnauthenticated},
		"an unknown person": {lintel.Session{ID: in.Session.ID, PersonID: lintel.NewID()}, password, next, lintel.CodeUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			wantCode(t, h.change(b, c.session, c.current, c.next), c.want)
		})
	}
	h.in(&b, email) // nothing has changed
}

// TestTheCurrentPasswordCannotBeGuessed: whoever finds a browser signed in has
// as many tries as at the front door.
func TestTheCurrentPasswordCannotBeGuessed(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	b := from("192.0.2.1")
	in := h.in(&b, email)
	for range 10 {
		wantCode(t, h.change(b, in.Session, "wrong", next), lintel.CodeUnauthenticated)
	}
	equal(t, RetryAfter(h.change(b, in.Session, password, next)), time.Minute)
	b.Known = ""
	for range 5 {
		wantCode(t, h.change(b, in.Session, "wrong", next), lintel.CodeUnauthenticated)
	}
	equal(t, RetryAfter(h.change(b, in.Session, password, next)), 2*time.Minute)
}

func TestWhoForgotThePasswordNeedsNone(t *testing.T) {
	h := newHouse(t)
	p := h.person(email)
	codes, err := h.NewRecoveryCodes(t.Context(), p.ID)
	must(t, err)
	b := from("192.0.2.1")
	in, err := h.SignInWithRecoveryCode(t.Context(), b, email, codes[0])
	must(t, err)
	h.clock.pass(freshFor + time.Second)
	wantCode(t, h.change(b, in.Session, "", next), lintel.CodeUnauthenticated)
	in, err = h.SignInWithRecoveryCode(t.Context(), b, email, codes[1])
	must(t, err)
	must(t, h.change(b, in.Session, "", next))
	_, err = h.SignIn(t.Context(), b, email, next)
	must(t, err)
}

// change is ChangePassword without what it returns.
func (h *house) change(b Browser, session lintel.Session, current, next string) error {
	_, err := h.ChangePassword(h.t.Context(), b, session, current, next)
	return err
}
