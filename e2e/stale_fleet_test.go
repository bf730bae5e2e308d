package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
)

// fleetSize is how many controllers come back at once.
const fleetSize = 2000

// TestAFleetComesBack: all controllers of a service lose it at once, because it is
// killed, and again because every connection is reset. All come back, and no door
// moves. How soon is measured by make bench.
func TestAFleetComesBack(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--mqtt", ownAddress())
	w := newWiretap(t, h.MQTT)
	log := filepath.Join(t.TempDir(), "hardware.log")
	start(t, "sim", "--broker", w.address, "--data", h.Data, "--controllers", fmt.Sprint(fleetSize), "--travel", "100ms", "--log", log)
	h.awaitFleet("at first", fleetSize)

	h.kill()
	token := h.Token
	h.site = startServeIn(t, h.Data, "--mqtt", h.MQTT)
	h.Token = token
	h.awaitFleet("after the service was killed", fleetSize)

	w.pull()
	h.awaitFleet("while there is no network", 0)
	w.plug()
	h.awaitFleet("after every connection was reset", fleetSize)
	if moved := pulses(t, log); len(moved) > 0 {
		t.Errorf("doors were moved: %+v", moved)
	}
	if asked := h.history(); len(asked) > 0 {
		t.Errorf("the history holds commands: %+v", asked)
	}
}

// awaitFleet waits until so many doors are known to be closed, by what their
// controllers say in their present sessions.
func (h *house) awaitFleet(when string, count int) {
	h.t.Helper()
	eventually(h.t, fmt.Sprintf("%d controllers to be there, %s", count, when), func() bool {
		closed := 0
		for _, device := range h.devices() {
			if len(device.Doors) == 1 && device.Doors[0].String() == closedDoor {
				closed++
			}
		}
		return closed == count
	})
}
