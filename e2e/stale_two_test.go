//go:build unix

package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestTwoServicesOnOneDatabase: a second service that is started by mistake, while a
// command of the first is on its way, says so and touches nothing: the command goes
// on, its outcome is kept, and it acts once.
func TestTwoServicesOnOneDatabase(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(t *testing.T) []string{
		"SQLite":     func(*testing.T) []string { return nil },
		"PostgreSQL": func(t *testing.T) []string { return []string{"--database", startPostgres(t).url()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGarage(t, 1, append(database(t), "--deadline", "25s")...)
			answer := g.inFlight("OPEN")
			said := refused(t, invocation{args: g.stored("serve", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0")})
			if !strings.Contains(said, "in use") {
				t.Errorf("it says %q", said)
			}
			if kept := g.newest(); kept.Status != "sent" {
				t.Errorf("the second service made of the first one's command %+v", kept)
			}
			g.thaw()
			g.answered(receive(t, "the answer", answer), http.StatusOK, "")
			g.awaitDoor(g.made.door(), openDoor)
			g.actuated(1, "with a second service")
			g.recordedAs(g.newest().ID, "taken", "")
		})
	}
}

// TestTwoServicesAllTheSame: the first service's connection that holds the lock is
// ended at the server, so that a second one can start. What the first has under way
// acts once; the second takes it for abandoned, and does not send it; and what the
// second is asked does not reach a controller that is the first one's. The outcome that
// the first one's caller was told is not kept: docs/no-stale-move.md says so.
func TestTwoServicesAllTheSame(t *testing.T) {
	t.Parallel()
	p := startPostgres(t)
	g := startGarage(t, 1, "--database", p.url(), "--deadline", "25s")
	answer := g.inFlight("OPEN")
	asked := g.newest()
	p.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
	second := startServeIn(t, t.TempDir(), "--database", p.url(), "--deadline", deadline.String())
	second.Token = g.Token
	g.recordedAs(asked.ID, "unknown", "service_stopped")
	if r := second.toggle(g.made.door(), "OPEN"); r.Status != http.StatusNotFound || r.Header.Get("Lintel-Reason") != "offline" {
		t.Errorf("the second service answered %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	g.thaw()
	g.answered(receive(t, "the answer", answer), http.StatusOK, "")
	g.awaitDoor(g.made.door(), openDoor)
	g.actuated(1, "with two services")
	g.recordedAs(asked.ID, "unknown", "service_stopped")
	g.moves("CLOSED", closedDoor)
}
