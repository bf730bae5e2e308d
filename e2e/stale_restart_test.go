//go:build unix

package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"
)

// freeze stops the controller's process where it is, and thaw lets it go on. What is
// sent to it meanwhile waits in its machine.
func (g *garage) freeze() { _ = g.fleet.cmd.Process.Signal(syscall.SIGSTOP) }
func (g *garage) thaw()   { _ = g.fleet.cmd.Process.Signal(syscall.SIGCONT) }

// inFlight freezes the controller and sends it a command.
func (g *garage) inFlight(state string) <-chan outcome {
	g.t.Helper()
	g.freeze()
	before := len(g.history())
	answer := g.background(g.t.Context(), g.made.door(), state)
	g.awaitCommands(before + 1)
	return answer
}

// TestARestartOfTheService with a command on its way: the broker is part of the
// service, so this is the restart of the broker, too. The controller finds the
// command when it wakes, after its deadline and with a new session at the service.
func TestARestartOfTheService(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		end    func(g *garage, answer <-chan outcome)
		status string
		reason string
	}{
		{"kill -9", func(g *garage, answer <-chan outcome) {
			g.kill()
			if got := receive(g.t, "the caller's end", answer); got.err == nil {
				g.t.Errorf("the caller was told %d by a service that was killed", got.Status)
			}
		}, "unknown", "service_stopped"},
		{"Ctrl-C", func(g *garage, answer <-chan outcome) {
			if err := g.interrupt(); err != nil {
				g.t.Errorf("the service ended with %v", err)
			}
			g.answered(receive(g.t, "the answer", answer), http.StatusNotFound, "deadline")
		}, "unanswered", "deadline"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g := startGarage(t, 1)
			g.moves("OPEN", openDoor)
			answer := g.inFlight("CLOSED")
			asked := g.newest()
			row.end(g, answer)
			g.serveAgain()
			<-time.After(time.Until(asked.RequestedAt.Add(deadline)))
			g.thaw()
			g.awaitDoor(g.made.door(), openDoor)
			g.actuated(1, "after the restart")
			g.recordedAs(asked.ID, row.status, row.reason)
			g.moves("CLOSED", closedDoor)
			g.actuated(2, "at the end")
		})
	}
}

// TestARestartOfTheController with a command on its way, before its deadline: the new
// process is not sent it, and knows nothing of it.
func TestARestartOfTheController(t *testing.T) {
	t.Parallel()
	g := startGarage(t, 1, "--deadline", "10s")
	answer := g.inFlight("OPEN")
	g.fleet.kill()
	g.connect(g.MQTT)
	g.answered(receive(t, "the answer", answer), http.StatusNotFound, "deadline")
	g.awaitDoor(g.made.door(), closedDoor)
	g.actuated(0, "after the restart")
	g.recordedAs(g.newest().ID, "unanswered", "deadline")
	g.moves("OPEN", openDoor)
}

// TestLostConnections: the network between resets every connection while a command is
// on its way, and the controller finds it after its deadline.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	g := newGarage(t, 1)
	w := newWiretap(t, g.MQTT)
	g.connect(w.address)
	g.awaitDoor(g.made.door(), closedDoor)
	answer := g.inFlight("OPEN")
	w.await("the command to be under way", func() bool { return len(w.commands()) == 1 })
	w.pull()
	eventually(t, "the service to know that the controller is away", g.away)
	w.plug()
	g.answered(receive(t, "the answer", answer), http.StatusNotFound, "deadline")
	g.thaw()
	g.awaitDoor(g.made.door(), closedDoor)
	g.actuated(0, "after the connections were lost")
	g.recordedAs(g.newest().ID, "unanswered", "deadline")
	g.moves("OPEN", openDoor)
	w.plain()
}

// TestTakenInTime: what a frozen controller finds in time it takes, although its
// caller's service is gone by then. The history says that nobody knows.
func TestTakenInTime(t *testing.T) {
	t.Parallel()
	g := startGarage(t, 1, "--deadline", "25s")
	answer := g.inFlight("OPEN")
	asked := g.newest()
	g.kill()
	if got := receive(t, "the caller's end", answer); got.err == nil {
		t.Errorf("the caller was told %d by a service that was killed", got.Status)
	}
	g.thaw()
	g.serveAgain()
	eventually(t, "the door to be known", func() bool { return !g.away() })
	done := pulses(t, g.log)
	if len(done) > 1 || len(done) == 1 && done[0].Time.After(asked.RequestedAt.Add(25*time.Second)) {
		t.Errorf("asked once at %s for 25 s, the hardware acted %+v", asked.RequestedAt, done)
	}
	g.recordedAs(asked.ID, "unknown", "service_stopped")
}
