package account

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"lintel"
	"lintel/secret"
)

func TestSignIn(t *testing.T) {
	h := newHouse(t)
	p := h.person(email)
	b := from("::ffff:192.0.2.1")
	in, err := h.SignIn(t.Context(), b, "  ADA@House.Example\t", password)
	must(t, err)
	if !secret.Is(secret.Session, in.Secret) || !secret.Is(secret.KnownBrowser, in.Known) {
		t.Fatalf("secrets %q and %q", in.Secret, in.Known)
	}
	session, person, err := h.Session(t.Context(), in.Secret)
	must(t, err)
	equal(t, person, p)
	equal(t, session, in.Session)
	want := lintel.Session{
		ID: session.ID, PersonID: p.ID, Method: lintel.ByPassword, UserAgent: "Test/1", Address: "192.0.2.1",
		CreatedAt: h.stamp(), LastSeenAt: h.stamp(), ExpiresAt: h.stamp().Add(30 * 24 * time.Hour),
	}
	equal(t, session, want)
}

// TestEverySignInIsANewSession: a cookie that was there before says nothing.
func TestEverySignInIsANewSession(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	seen := map[string]bool{}
	for _, known := range []string{"", "junk", "ltb_", secret.New(secret.KnownBrowser), secret.New(secret.Session)} {
		b := from("192.0.2.1")
		b.Known = known
		in := h.in(&b, email)
		if in.Known == "" || in.Known == known || seen[in.Secret] || seen[in.Known] {
			t.Fatalf("cookie %q: %q and %q", known, in.Secret, in.Known)
		}
		seen[in.Secret], seen[in.Known] = true, true
	}
}

// TestWhatFailsIsTheSame: an unknown account, a wrong password, a disabled
// account, one without a password and one that cannot be: the same errors, the
// same work, and the same state of the limits, for as long as one tries.
func TestWhatFailsIsTheSame(t *testing.T) {
	type seen struct {
		errs   []error
		checks int
		limits []string
	}
	first := map[string]seen{} // by way of signing in
	for _, c := range []struct {
		name string
		make func(h *house)
	}{
		{"wrong password", func(h *house) { h.person(email) }},
		{"unknown", func(*house) {}},
		{"disabled", func(h *house) { must(t, h.db.DisablePerson(t.Context(), h.person(email).ID, h.stamp())) }},
		{"no password", func(h *house) { must(t, h.db.SetPassword(t.Context(), h.person(email).ID, "")) }},
	} {
		for way, signIn := range map[string]func(h *house, b Browser, typed string) error{
			"password": func(h *house, b Browser, typed string) error {
				_, err := h.SignIn(t.Context(), b, email, typed)
				return err
			},
			"recovery code": func(h *house, b Browser, typed string) error {
				_, err := h.SignInWithRecoveryCode(t.Context(), b, email, typed)
				return err
			},
		} {
			h := newHouse(t)
			h.cheap()
			c.make(h)
			var got seen
			for i := range 150 {
				b := from(fmt.Sprintf("192.0.2.%d", i%7))
				b.Known = secret.New(secret.KnownBrowser)
				typed := []string{"wrong", "", password, strings.Repeat("x", 5000)}[i%4]
				if c.name == "wrong password" && typed == password {
					typed += "!"
				}
				got.errs = append(got.errs, signIn(h, b, typed))
				h.clock.pass(5 * time.Second)
			}
			got.checks, got.limits = h.checks, h.limits.state(h.clock.now())
			if want, ok := first[way]; ok && !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: differs from a wrong one", c.name, way)
			} else if !ok {
				first[way] = got
			}
		}
	}
	if n := first["password"].checks; n < 30 || n == 150 {
		t.Errorf("%d checks of passwords", n)
	}
}

// state empties the buckets of the attempts above, and returns what was in each
// and how long it then keeps others waiting.
func (l *limiter) state(now time.Time) (all []string) {
	for i := range 7 {
		for _, u := range append(l.password(email, fmt.Sprintf("192.0.2.%d/32", i), ""), l.challenge("")...) {
			left := 0
			for ; u.of.Wait(u.name, now) == 0; left++ {
				u.of.Take(u.name, now)
			}
			all = append(all, fmt.Sprintf("%s: %d, %s", u.name, left, u.of.Wait(u.name, now)))
		}
	}
	return all
}

// TestNobodyCostsAsMuchAsSomebody: the hash that stands for none is of the
// current cost, and matches nothing.
func TestNobodyCostsAsMuchAsSomebody(t *testing.T) {
	h := newHouse(t)
	hash, err := HashPassword(password)
	must(t, err)
	equal(t, hash[:len("$argon2id$v=19$m=19456,t=2,p=1$")], h.nobody[:len("$argon2id$v=19$m=19456,t=2,p=1$")])
	h.check = func(string, string) bool { return true }
	wantCode(t, h.wrong(from("192.0.2.1"), "nobody@house.example"), lintel.CodeUnauthenticated)
}

func TestOddAddressesAreNobody(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	for _, odd := range []string{"", "ada", "a\x00b@c", "\xff@x", strings.Repeat("x", 300) + "@x", "a@b\n", strings.Repeat("x", 1<<20)} {
		wantCode(t, h.wrong(from("192.0.2.1"), odd), lintel.CodeUnauthenticated)
	}
	equal(t, h.checks, 7)
}

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, in, end := make(turns, 4), make(chan bool, 10), make(chan bool)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				done, err := turns.take(ctx)
				if err != nil {
					wantContextError(t, err)
					return
				}
				in <- true
				<-end
				done()
			})
		}
		synctest.Wait()
		equal(t, len(in), 4)
		end <- true
		synctest.Wait()
		equal(t, len(in), 5)
		cancel()
		close(end)
		all.Wait()
		equal(t, len(turns), 0)
		_, err := turns.take(ctx)
		wantContextError(t, err)
	})
}

func wantContextError(t *testing.T, err error) {
	if lintel.CodeOf(err) != lintel.CodeInternal || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestWhoGivesUpLosesNothing: an attempt that never came to the check is no failure.
func TestWhoGivesUpLosesNothing(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	equal(t, cap(h.hashing), 2) // of 19 MiB each
	for range cap(h.hashing) {
		h.hashing <- struct{}{}
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		h.db.afterPasswordHash = cancel
		_, err := h.SignIn(ctx, from("192.0.2.1"), email, password)
		wantContextError(t, err)
	}
	for range cap(h.hashing) {
		<-h.hashing
	}
	h.db.afterPasswordHash = nil
	equal(t, h.failuresFrom("192.0.2.1"), 5)
	equal(t, h.checks, 5)
}

// TestChangedBetweenCheckAndSession: what ends all sessions does not miss the
// one that is about to begin.
func TestChangedBetweenCheckAndSession(t *testing.T) {
	for name, change := range map[string]func(h *house, p lintel.Person) error{
		"password changed": func(h *house, p lintel.Person) error {
			return h.db.ChangePassword(t.Context(), p.ID, "another", "", h.stamp())
		},
		"disabled": func(h *house, p lintel.Person) error { return h.db.DisablePerson(t.Context(), p.ID, h.stamp()) },
		"disabled and enabled": func(h *house, p lintel.Person) error {
			return errors.Join(h.db.SetPassword(t.Context(), p.ID, "another"), h.db.EnablePerson(t.Context(), p.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.cheap()
			p := h.person(email)
			h.db.beforeAddSession = func() { must(t, change(h, p)) }
			_, err := h.SignIn(t.Context(), from("192.0.2.1"), email, password)
			wantCode(t, err, lintel.CodeUnauthenticated)
			sessions, err := h.Sessions(t.Context(), p.ID)
			must(t, err)
			equal(t, len(sessions), 0)
		})
	}
}

func TestUserAgents(t *testing.T) {
	long := Browser{UserAgent: "a" + strings.Repeat("ü", 500)}.userAgent()
	equal(t, len(long), 199)
	equal(t, utf8.ValidString(long), true)
	equal(t, Browser{UserAgent: "Mozilla\x00/5\n.0 \xff\u0085(X)"}.userAgent(), "Mozilla/5.0 (X)")
	equal(t, Browser{}.userAgent(), "")
	equal(t, len(Browser{UserAgent: strings.Repeat("x", 1<<20)}.userAgent()), 200)
	equal(t, Browser{}.address(), "")
	equal(t, from("fe80::1%eth0").address(), "fe80::1")
}

// TestTheLogKeepsSecrets: nothing that was typed in and nothing that was given
// out is in the log, at any level.
func TestTheLogKeepsSecrets(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	b := from("192.0.2.1")
	const typed, junk = "my-real-password@typo", "junk-in-a-cookie"
	in := h.in(&b, email)
	codes, err := h.NewRecoveryCodes(t.Context(), in.Person.ID)
	must(t, err)
	for range 10 {
		b := from("192.0.2.1")
		b.Known, b.UserAgent = junk, junk
		h.SignIn(t.Context(), b, typed, typed)
		h.SignIn(t.Context(), b, email, typed)
		h.SignInWithRecoveryCode(t.Context(), b, email, typed)
		h.FinishPasskeySignIn(t.Context(), b, "holder", typed, []byte(junk))
		h.Session(t.Context(), junk)
		h.SetUp(t.Context(), b, typed, typed, typed, typed, typed)
	}
	_, err = h.SignInWithRecoveryCode(t.Context(), b, email, codes[0])
	must(t, err)
	must(t, h.change(b, in.Session, password, next))
	for _, word := range []string{typed, junk, email, password, next, in.Secret, in.Known, codes[0], codes[1]} {
		if strings.Contains(h.log.String(), word) {
			t.Errorf("the log has %q", word)
		}
	}
	for _, word := range []string{string(in.Person.ID), "192.0.2.1", `"method":"password"`, "wrong password", "wrong recovery code", "password changed"} {
		if !strings.Contains(h.log.String(), word) {
			t.Errorf("the log has no %q: %s", word, h.log)
		}
	}
}
