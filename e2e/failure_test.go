package e2e

import (
	"net/http"
	"strings"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// TestAnIgnoredCommandIsAnEvent: firmware that acknowledges nothing has taken a
// command, and its door does not move. The history says so, under the command, and no
// door is called closed for having been told to close.
func TestAnIgnoredCommandIsAnEvent(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	rows := map[string]struct {
		args          []string
		base, listen  string
		ready         func(d *device)
		answer        func(d *device, payload string) // to a question; a command is ignored
		reason, value string
	}{
		"ratgdo": {[]string{"--base", "r/door"}, "r/door", "r/door/command/#",
			func(*device) {},
			func(d *device, payload string) {
				if payload == "query" {
					d.say("/status/door", "unknown")
					d.say("/status/door", "open")
				}
			}, "did_not_move", "open"},
		"esphome": {[]string{"--base", "e", "--entity", "door"}, "e", "e/cover/door/command",
			func(d *device) {
				d.wait(d.mqtt.Subscribe("e/cover/door/position/command", 0, nil))
				d.say("/cover/door/position/state", "100")
				d.say("/cover/door/state", "open")
			},
			func(*device, string) {}, "not_reported", "unknown"},
	}
	for driver, row := range rows {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			v := h.addVendor(driver, append(row.args, "--travel", "1s")...)
			d := h.plug(v, row.base, "id-of-"+driver, row.base+"/status/availability", "gone")
			d.wait(d.mqtt.Subscribe(row.listen, 0, func(_ paho.Client, m paho.Message) {
				d.did(string(m.Payload()))
				row.answer(d, string(m.Payload()))
			}))
			row.ready(d)
			h.awaitDoor(v.door(), "open/opener/true/OPEN")
			r := h.toggle(v.door(), "CLOSED")
			if r.Status != http.StatusOK {
				t.Fatalf("close: %d %q", r.Status, r.Header.Get("Lintel-Reason"))
			}
			var found change
			eventually(t, "the failure in the history", func() bool {
				for _, found = range h.events(v.door()) {
					if found.Reason != "" {
						return true
					}
				}
				return false
			})
			if found.Reason != row.reason || found.Value != row.value || found.CommandID != r.commandID() {
				t.Errorf("the history says %+v", found)
			}
			for _, e := range h.events(v.door()) {
				if e.Value == "closed" {
					t.Errorf("the history says closed: %+v", e)
				}
			}
			if s := h.listed(v.door()).String(); !strings.HasSuffix(s, "/OPEN") {
				t.Errorf("the door is listed as %s", s)
			}
		})
	}
}
