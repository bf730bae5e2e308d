package main

import (
	"encoding/json"
	"testing"
	"time"

	"lintel"
	"lintel/config"
	"lintel/driver"
)

// TestADeviceIsBehindOneBrokerOnly: what stays at the owner's broker cannot connect here
// with any secret, and the other way round is not looked for there.
func TestADeviceIsBehindOneBrokerOnly(t *testing.T) {
	s, err := openStore(t.Context(), config.Config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	owner := lintel.Person{ID: lintel.NewID(), Email: "owner@house.example", CreatedAt: time.Now()}
	if err := s.AddPerson(t.Context(), owner, "x"); err != nil {
		t.Fatal(err)
	}
	r, err := newRegistry(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, upstream := range []bool{false, true} {
		settings, err := json.Marshal(driver.Settings{Base: "home/garage", Travel: time.Second, Upstream: upstream})
		if err != nil {
			t.Fatal(err)
		}
		made, err := enrolAs(t.Context(), s, lintel.Controller{OwnerID: owner.ID, Name: "Garage", Driver: "ratgdo", Settings: string(settings)}, []string{"Door"})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := r.AuthenticateController(t.Context(), lintel.ID(made.ControllerID), made.Secret); ok == upstream || err != nil {
			t.Errorf("upstream %v: taken %v, %v", upstream, ok, err)
		}
		found, err := r.Upstream(t.Context())
		if err != nil || len(found) != i {
			t.Errorf("upstream %v: %v, %v", upstream, found, err)
		}
	}
}
