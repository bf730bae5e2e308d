package account

import (
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

func TestASessionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(h *house, in SignedIn)
		want lintel.Code
	}{
		"not yet": {func(h *house, in SignedIn) { h.clock.pass(idleFor - time.Second) }, ""},
		"idle":    {func(h *house, in SignedIn) { h.clock.pass(idleFor) }, lintel.CodeUnauthenticated},
		"seen in between": {func(h *house, in SignedIn) {
			for range 4 {
				h.clock.pass(idleFor - time.Second)
				h.session(in.Secret)
			}
			h.clock.pass(24 * time.Hour)
		}, ""},
		"after 30 days": {func(h *house, in SignedIn) {
			for range 5 {
				h.clock.pass(6*24*time.Hour - time.Millisecond)
				h.session(in.Secret)
			}
			h.clock.pass(5 * time.Millisecond)
		}, lintel.CodeUnauthenticated},
		"signed out": {func(h *house, in SignedIn) {
			must(h.t, h.EndSession(h.t.Context(), in.Person.ID, in.Session.ID))
		}, lintel.CodeUnauthenticated},
		"disabled": {func(h *house, in SignedIn) {
			must(h.t, h.db.DisablePerson(h.t.Context(), in.Person.ID, h.stamp()))
		}, lintel.CodeUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.cheap()
			h.person(email)
			b := from("192.0.2.1")
			in := h.in(&b, email)
			c.end(h, in)
			_, _, err := h.Session(t.Context(), in.Secret)
			wantCode(t, err, c.want)
		})
	}
}

// TestSeenToTheMinute: the requests of a minute write once.
func TestSeenToTheMinute(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	b := from("192.0.2.1")
	in := h.in(&b, email)
	begin := in.Session.LastSeenAt
	for _, c := range []struct{ pass, seen time.Duration }{{0, 0}, {59 * time.Second, 0}, {time.Second, time.Minute}, {59 * time.Second, time.Minute}} {
		h.clock.pass(c.pass)
		equal(t, h.session(in.Secret).LastSeenAt, begin.Add(c.seen))
		stored, err := h.Sessions(t.Context(), in.Person.ID)
		must(t, err)
		equal(t, stored[0].LastSeenAt, begin.Add(c.seen))
	}
}

func TestNoSession(t *testing.T) {
	h := newHouse(t)
	for _, cookie := range []string{"", "junk", "lts_", secret.New(secret.Session), secret.New(secret.AccessToken), "\x00"} {
		_, _, err := h.Session(t.Context(), cookie)
		wantCode(t, err, lintel.CodeUnauthenticated)
	}
}

func TestSessionsOfAPerson(t *testing.T) {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	h.person("eve@house.example")
	b, e := from("192.0.2.1"), from("192.0.2.2")
	first := h.in(&b, email)
	h.clock.pass(time.Second)
	second, third, eve := h.in(&b, email), h.in(&b, email), h.in(&e, "eve@house.example")
	wantCode(t, h.EndSession(t.Context(), eve.Person.ID, first.Session.ID), lintel.CodeNotFound)
	must(t, h.EndSession(t.Context(), first.Person.ID, third.Session.ID))
	ended, err := h.EndOtherSessions(t.Context(), second.Session)
	must(t, err)
	equal(t, ended, 1)
	left, err := h.Sessions(t.Context(), first.Person.ID)
	must(t, err)
	equal(t, len(left), 1)
	equal(t, left[0], second.Session)
	h.session(eve.Secret)
	h.clock.pass(idleFor)
	left, err = h.Sessions(t.Context(), first.Person.ID)
	must(t, err)
	equal(t, len(left), 0)
}

func TestFresh(t *testing.T) {
	h := newHouse(t)
	for age, want := range map[time.Duration]bool{
		0: true, 15 * time.Minute: true, 15*time.Minute + time.Millisecond: false, 24 * time.Hour: false, -time.Minute: false,
	} {
		if got := h.Fresh(lintel.Session{CreatedAt: h.stamp().Add(-age)}); got != want {
			t.Errorf("after %v: %v", age, got)
		}
	}
}
