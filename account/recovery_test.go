package account

import (
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lintel"
)

func TestRecoveryCodes(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	p, eve := h.person(email), h.person("eve@house.example")
	old, err := h.NewRecoveryCodes(t.Context(), p.ID)
	must(t, err)
	codes, err := h.NewRecoveryCodes(t.Context(), p.ID)
	must(t, err)
	equal(t, len(codes), 10)
	seen := map[string]bool{}
	for _, code := range codes {
		if !regexp.MustCompile(`^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$`).MatchString(code) || seen[code] {
			t.Fatalf("code %q", code)
		}
		seen[code] = true
	}
	signIn := func(email, code string) error {
		in, err := h.SignInWithRecoveryCode(t.Context(), from("192.0.2.1"), email, code)
		if err == nil {
			equal(t, in.Session.Method, lintel.ByRecovery)
			h.session(in.Secret)
		}
		return err
	}
	wantCode(t, signIn(email, old[0]), lintel.CodeUnauthenticated)
	wantCode(t, signIn(email, ""), lintel.CodeUnauthenticated)
	wantCode(t, signIn(eve.Email, codes[0]), lintel.CodeUnauthenticated)
	must(t, signIn(email, codes[0]))
	wantCode(t, signIn(email, codes[0]), lintel.CodeUnauthenticated)
	must(t, signIn(email, " "+strings.ToUpper(strings.ReplaceAll(codes[1], "-", " "))+"\n"))
	must(t, signIn(email, strings.NewReplacer("-", "", "0", "O", "1", "l").Replace(codes[2])))
	left, err := h.RecoveryCodesLeft(t.Context(), p.ID)
	must(t, err)
	equal(t, left, 7)
}

func TestARecoveryCodeIsUsedOnce(t *testing.T) {
	h := newHouse(t)
	p := h.person(email)
	codes, err := h.NewRecoveryCodes(t.Context(), p.ID)
	must(t, err)
	var all sync.WaitGroup
	var in atomic.Int32
	for range 5 { // as many as the limits let through
		all.Go(func() {
			if _, err := h.SignInWithRecoveryCode(t.Context(), from("192.0.2.1"), email, codes[0]); err == nil {
				in.Add(1)
			}
		})
	}
	all.Wait()
	equal(t, in.Load(), 1)
}

// TestRecoveryAndPasswordCountTogether: the one is no way around the other's limits.
func TestRecoveryAndPasswordCountTogether(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	for range 5 {
		_, err := h.SignInWithRecoveryCode(t.Context(), from("192.0.2.1"), email, "wrong")
		wantCode(t, err, lintel.CodeUnauthenticated)
	}
	wantCode(t, h.wrong(from("192.0.2.1"), email), lintel.CodeTooMany)
}

func TestADisabledAccountSpendsNoCode(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	p := h.person(email)
	codes, err := h.NewRecoveryCodes(t.Context(), p.ID)
	must(t, err)
	must(t, h.db.DisablePerson(t.Context(), p.ID, h.stamp()))
	_, err = h.SignInWithRecoveryCode(t.Context(), from("192.0.2.1"), email, codes[0])
	wantCode(t, err, lintel.CodeUnauthenticated)
	left, err := h.RecoveryCodesLeft(t.Context(), p.ID)
	must(t, err)
	equal(t, left, 10)
}
