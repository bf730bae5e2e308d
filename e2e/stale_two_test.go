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

// TestALostDatabaseLock: PostgreSQL ends the connection that holds the service's lock,
// and somebody else has waited for it, as a second service that is started again and
// again would. What is under way acts once, its caller is not told that it was kept,
// and nothing else is begun. Once the lock is free again, the outcome is kept.
func TestALostDatabaseLock(t *testing.T) {
	t.Parallel()
	p := startPostgres(t)
	g := startGarage(t, 1, "--database", p.url(), "--deadline", "25s")
	absent := g.addController(g.Email, "Shed")
	answer := g.inFlight("OPEN")
	asked := g.newest()
	const lock = "FROM pg_locks WHERE locktype = 'advisory' AND "
	other := launch(t, p.psql("SELECT pg_advisory_lock((SELECT (classid::bigint << 32) | objid::bigint "+lock+"granted)), pg_sleep(600)"))
	eventually(t, "somebody else to wait for the lock", func() bool { return p.psql("SELECT 1 / count(*) "+lock+"NOT granted").Run() == nil })
	p.query("SELECT pg_terminate_backend(pid) " + lock + "granted")
	eventually(t, "the service to know", func() bool { return g.toggle(absent.door(), "OPEN").Status == http.StatusInternalServerError })
	g.thaw()
	g.answered(receive(t, "the answer", answer), http.StatusInternalServerError, "")
	if r := g.toggle(g.made.door(), "CLOSED"); r.Status != http.StatusInternalServerError {
		t.Errorf("without the lock: got %d %s", r.Status, r.Body)
	}
	g.actuated(1, "without the lock")
	p.query("SELECT pg_terminate_backend(pid) " + lock + "granted")
	_ = other.wait()
	eventually(t, "the outcome to be kept", func() bool { return g.record(asked.ID).Status == "taken" })
	g.awaitDoor(g.made.door(), openDoor)
	g.actuated(1, "with the lock again")
	g.moves("CLOSED", closedDoor)
}
