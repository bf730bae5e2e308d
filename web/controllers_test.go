package web

import (
	"strings"
	"testing"
	"time"

	"lintel"
)

// TestControllers: a person's own, with what happened to them, and nobody else's.
func TestControllers(t *testing.T) {
	w := newWorld(t)
	ada := w.signedIn(t)
	if got := ada.get(t, "/account/controllers"); !strings.Contains(got.body, "no controllers yet") {
		t.Errorf("without any: %s", got.body)
	}
	eve := lintel.Person{ID: lintel.NewID(), Email: "eve@example.org", CreatedAt: w.now}
	must(t, w.AddPerson(t.Context(), eve, ""))
	for owner, name := range map[lintel.ID]string{w.ada.ID: "Main garage", eve.ID: "Eve's shed"} {
		c := lintel.Controller{ID: lintel.NewID(), OwnerID: owner, Name: name, Driver: "ratgdo", CreatedAt: w.now}
		must(t, w.AddController(t.Context(), c, "x", []lintel.Door{{ID: lintel.NewID(), Number: 1, Name: "Left door"}}))
		for kind := range eventWords {
			must(t, w.AddControllerEvent(t.Context(), lintel.ControllerEvent{
				ID: lintel.NewID(), ControllerID: c.ID, Kind: kind, Detail: "from 192.0.2.9:4711", At: w.now.Add(-time.Hour),
			}, 0))
		}
	}
	got := ada.get(t, "/account/controllers")
	for _, want := range []string{"Main garage", "Left door", "ratgdo", "connected a second time", "from 192.0.2.9:4711", "1 hour ago"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page lacks %q:\n%s", want, got.body)
		}
	}
	if strings.Contains(got.body, "shed") {
		t.Errorf("the page shows too much:\n%s", got.body)
	}
	if n := strings.Count(got.body, "<strong>"); n != len(eventWords) {
		t.Errorf("%d events, want %d", n, len(eventWords))
	}
	if got := ada.get(t, "/account"); !strings.Contains(got.body, "1 controller at your doors") {
		t.Errorf("the overview says %s", got.body)
	}
}
