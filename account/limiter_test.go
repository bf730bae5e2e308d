package account

import (
	"fmt"
	"testing"
	"time"
)

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// failures counts how many attempts one after the other are let through.
func (l *limiter) failures(now time.Time, uses func(i int) []use) int {
	for i := range 10_000 {
		if l.take(now, uses(i)) > 0 {
			return i
		}
	}
	return 10_000
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		uses func(l *limiter) func(i int) []use
		want int           // failures at once
		each time.Duration // and one more after this
	}{
		{"one account from one network", func(l *limiter) func(int) []use {
			return func(int) []use { return l.password("ada", "192.0.2.1/32", "") }
		}, 5, 2 * time.Minute},
		{"all accounts from one network", func(l *limiter) func(int) []use {
			return func(i int) []use { return l.password(fmt.Sprint(i), "192.0.2.1/32", "") }
		}, 30, 30 * time.Second},
		{"one account from everywhere", func(l *limiter) func(int) []use {
			return func(i int) []use { return l.password("ada", fmt.Sprint(i), "") }
		}, 100, 90 * time.Second},
		{"one account from a known browser", func(l *limiter) func(int) []use {
			return func(int) []use { return l.password("ada", "192.0.2.1/32", "browser") }
		}, 10, time.Minute},
		{"passkeys from one network", func(l *limiter) func(int) []use {
			return func(int) []use { return l.passkey("192.0.2.1/32") }
		}, 100, time.Second},
		{"challenges", func(l *limiter) func(int) []use {
			return func(int) []use { return l.challenge("192.0.2.1/32") }
		}, 100, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLimiter()
			uses := c.uses(l)
			equal(t, l.failures(start, uses), c.want)
			equal(t, l.take(start, uses(c.want)), c.each)
			almost, then := start.Add(c.each-1), start.Add(c.each)
			equal(t, l.take(almost, uses(c.want)), 1)
			equal(t, l.failures(then, func(i int) []use { return uses(c.want + i) }), 1)
			equal(t, l.failures(start.Add(240*time.Hour), func(i int) []use { return uses(c.want + 1 + i) }), c.want)
		})
	}
}

// TestARefusalTakesNothing: what is refused by one limit is not held against others.
func TestARefusalTakesNothing(t *testing.T) {
	l := newLimiter()
	ada := func(int) []use { return l.password("ada", "192.0.2.1/32", "") }
	equal(t, l.failures(start, ada), 5)
	for range 1000 {
		l.take(start, ada(0))
	}
	equal(t, l.failures(start, func(i int) []use { return l.password(fmt.Sprint(i), "192.0.2.1/32", "") }), 25)
}

// TestOneStrangerDoesNotShutAnAccount: for a month one address tries as often
// as it may, and whoever else has an unknown browser is never kept waiting.
func TestOneStrangerDoesNotShutAnAccount(t *testing.T) {
	l := newLimiter()
	for now := start; now.Before(start.Add(30 * 24 * time.Hour)); now = now.Add(30 * time.Second) {
		l.take(now, l.password("ada", "192.0.2.1/32", ""))
		own := l.password("ada", "198.51.100.7/32", "")
		if wait := l.take(now, own); wait > 0 {
			t.Fatalf("after %v: wait %v", now.Sub(start), wait)
		}
		l.giveBack(own)
	}
}

// TestAStrangerCannotLockOutAKnownBrowser: not even from the same address, nor
// as many strangers at once.
func TestAStrangerCannotLockOutAKnownBrowser(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	own := from("192.0.2.1")
	h.in(&own, email)
	for i := range 300 {
		h.SignIn(t.Context(), from(fmt.Sprintf("192.0.2.%d", 1+i%100)), email, "wrong")
	}
	_, err := h.SignIn(t.Context(), from("203.0.113.9"), email, password)
	wantCode(t, err, "too_many") // a browser that nobody knows has to wait
	equal(t, h.in(&own, email).Known, "")
	for range 10 {
		_, err := h.SignIn(t.Context(), own, email, "wrong")
		wantCode(t, err, "unauthenticated")
	}
	_, err = h.SignIn(t.Context(), own, email, password)
	equal(t, RetryAfter(err), time.Minute) // and it cannot guess without end
	h.clock.pass(time.Minute)
	h.in(&own, email)
}

// TestAKnownBrowserIsKnownToOneAccount: it is a stranger to all others.
func TestAKnownBrowserIsKnownToOneAccount(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	h.person("eve@house.example")
	eve := from("192.0.2.1")
	h.in(&eve, "eve@house.example")
	for range 5 {
		_, err := h.SignIn(t.Context(), eve, email, "wrong")
		wantCode(t, err, "unauthenticated")
	}
	_, err := h.SignIn(t.Context(), eve, email, password)
	equal(t, RetryAfter(err), 2*time.Minute)
	equal(t, err.Error(), "too many attempts; try again in 2 minutes: over the limit for 2m0s")
}

func TestKnownForAYear(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	own := from("192.0.2.1")
	h.in(&own, email)
	h.clock.pass(knownFor - time.Minute)
	equal(t, h.in(&own, email).Known, "")
	h.clock.pass(2 * time.Minute)
	if h.in(&own, email).Known == "" {
		t.Fatal("known for longer than a year")
	}
}

func TestASuccessIsGivenBack(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	for range 50 {
		_, err := h.SignIn(t.Context(), from("::1"), email, password)
		must(t, err)
	}
	equal(t, h.failuresFrom("::1"), 5)
}

func (h *house) failuresFrom(address string) (n int) {
	for RetryAfter(h.wrong(from(address), email)) == 0 {
		n++
	}
	return n
}

func (h *house) wrong(b Browser, email string) error {
	_, err := h.SignIn(h.t.Context(), b, email, "wrong")
	return err
}

func TestRetryAfter(t *testing.T) {
	equal(t, RetryAfter(nil), 0)
	equal(t, RetryAfter(errPassword), 0)
	for after, want := range map[time.Duration]string{
		1: "1 second", time.Second: "1 second", time.Second + 1: "2 seconds", 119 * time.Second: "119 seconds",
		119*time.Second + 1: "2 minutes", 2*time.Minute + 1: "3 minutes", time.Hour: "60 minutes",
	} {
		equal(t, RetryAfter(tooMany(after)), after)
		equal(t, spoken(after), want)
	}
}
