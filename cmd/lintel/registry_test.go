package main

import (
	"context"
	"testing"
	"time"

	"lintel"
	"lintel/config"
	"lintel/secret"
)

// TestOutdatedConnectionsAreFound: by what the live connection has shown, whatever others
// have shown since, and also where the database could not be asked for a while.
func TestOutdatedConnectionsAreFound(t *testing.T) {
	s, err := openStore(t.Context(), config.Config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	owner := lintel.Person{ID: lintel.NewID(), Email: "owner@house.example", CreatedAt: time.Now()}
	if err := s.AddPerson(t.Context(), owner, "x"); err != nil {
		t.Fatal(err)
	}
	made, err := enrolNative(t.Context(), s, owner.ID, "Garage", []string{"Door"})
	if err != nil {
		t.Fatal(err)
	}
	id := lintel.ID(made.ControllerID)
	r, err := newRegistry(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	rules, ok, err := r.AuthenticateController(t.Context(), id, made.Secret)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	live := func(lintel.ID) (string, bool) { return rules.Mark, true }
	now := time.Unix(1_000_000, 0)
	outdated := func(ctx context.Context) int {
		found, _ := r.outdated(ctx, now, live)
		return len(found)
	}
	if n := outdated(t.Context()); n != 0 {
		t.Errorf("%d before anything changed", n)
	}
	next := secret.New(secret.ControllerSecret)
	if err := s.SetControllerSecret(t.Context(), id, secret.Hash(next)); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.AuthenticateController(t.Context(), id, next); !ok || err != nil {
		t.Fatal(ok, err) // another client, which is then refused for something else
	}
	if n := outdated(t.Context()); n != 1 {
		t.Errorf("%d after the change", n)
	}
	away, cancel := context.WithCancel(t.Context())
	cancel()
	now = now.Add(2 * recentFor)
	outdated(away)
	if n := outdated(t.Context()); n != 1 {
		t.Errorf("%d after the database was away", n)
	}
	if n := outdated(t.Context()); n != 0 {
		t.Errorf("%d long afterwards", n)
	}
}
