package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ahead is a command that runs lintel in a time namespace of its own, in which the time
// since boot, by which deadlines are judged, is ahead of everybody else's.
func ahead(t *testing.T, by time.Duration, args ...string) *exec.Cmd {
	t.Helper()
	seconds := fmt.Sprint(int(by.Seconds()))
	cmd := exec.Command("unshare", append([]string{"--time", "--boottime", seconds, "--monotonic", seconds, binary}, args...)...)
	cmd.Env = environment()
	return cmd
}

// needTimeNamespaces skips where the kernel has none, or does not let us.
func needTimeNamespaces(t *testing.T) {
	t.Helper()
	needTool(t, "unshare", "util-linux")
	const which = "/proc/self/ns/time"
	here, err := os.Readlink(which)
	if err != nil {
		t.Skip("the kernel has no time namespaces")
	}
	there, err := exec.Command("unshare", "--time", "--boottime", "3600", "readlink", which).CombinedOutput()
	if err != nil || strings.TrimSpace(string(there)) == here {
		lacking(t, fmt.Sprintf("a time namespace cannot be made here: %v %s", err, there))
	}
}

// TestClocksAnHourApart: the clocks that deadlines are judged by are an hour apart,
// either way, and the controller comes back with one that is an hour off its own.
// What is late stays late, and what was recorded before is refused. Clocks that step
// while a command is on its way are TestClocksThatStep, in cmd/lintel.
func TestClocksAnHourApart(t *testing.T) {
	t.Parallel()
	needTimeNamespaces(t)
	for _, row := range []struct {
		name                    string
		service, first, restart time.Duration
	}{
		{"the controller is ahead", 0, time.Hour, 2 * time.Hour},
		{"the service is ahead", time.Hour, 0, 0},
		{"the controller goes back", time.Hour, 2 * time.Hour, time.Hour},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g := newGarage(t, 1)
			g.kill()
			token := g.Token
			g.site = awaitServing(launch(t, ahead(t, row.service, "serve", "--http", "127.0.0.1:0", "--mqtt", g.MQTT, "--data", g.Data,
				"--deadline", deadline.String())), g.Data)
			g.Token = token
			w := newWiretap(t, g.MQTT)
			g.fleet = launch(t, ahead(t, row.first, g.simulator(w.address)...))
			g.awaitDoor(g.made.door(), closedDoor)
			g.moves("OPEN", openDoor)
			g.answered(receive(t, "the answer", g.inFlight("CLOSED")), http.StatusNotFound, "deadline")
			asked := g.newest()
			g.thaw()
			w.refusedFrame(asked.ID, 1, http.StatusNotFound, "late")
			g.actuated(1, "after a command that arrived late")
			before := append(w.sent("time"), w.commands()...)
			g.fleet.kill()
			eventually(t, "the service to know that the controller is away", g.away)
			g.fleet = launch(t, ahead(t, row.restart, g.simulator(w.address)...))
			g.awaitDoor(g.made.door(), closedDoor) // its doors begin closed
			for _, f := range before {
				w.inject(f)
			}
			w.refusedFrame(asked.ID, 2, http.StatusBadRequest, "wrong_session")
			g.actuated(1, "after the replay")
			g.moves("OPEN", openDoor)
		})
	}
}
