package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestChangedCredentialsEndTheConnection: beside the running service, and a
// controller with the old secret stays out.
func TestChangedCredentialsEndTheConnection(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	for what, args := range map[string][]string{"rotated": {"controller", "rotate"}, "revoked": {"controller", "revoke"}} {
		t.Run(what, func(t *testing.T) {
			h := *h
			h.t = t
			made := h.addController(h.Email, "Garage "+what)
			fleet := start(t, "sim", "--broker", h.MQTT, "--credentials", made.file(t), "--verbose")
			h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
			out := lintel(t, append(args, made.ID, "--data", h.Data, "--json")...)
			eventually(t, "the connection to end", func() bool { return strings.Contains(fleet.stderr.String(), "cannot connect") })
			if r := h.toggle(made.door(), "OPEN"); r.Status != http.StatusNotFound {
				t.Errorf("toggle: %d", r.Status)
			}
			if what == "rotated" {
				made.line = strings.Replace(made.line, made.Secret, parsed[map[string]string](t, out)["secret"], 1)
				start(t, "sim", "--broker", h.MQTT, "--credentials", made.file(t))
				h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
			}
		})
	}
}
