package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The tests in the files stale_*_test.go hold to "no stale move". Each disturbs the
// way of a command, and then counts what the doors' hardware was made to do in the
// hardware's own log: that knows nothing of commands, sessions and deadlines.
// docs/no-stale-move.md lists them.

// garage is a service and a controller in a process of its own. The controller's
// hardware keeps its log whatever happens to that process.
type garage struct {
	*house
	made  credentials
	file  string
	log   string
	fleet *process
}

// deadline is what these tests give a command, where nothing else is said.
const deadline = 2 * time.Second

// addresses counts the loopback addresses that tests have to themselves.
var addresses atomic.Int32

// ownAddress is a loopback address where nobody else takes a port that a service
// leaves while it is restarted, where the system has more than one.
func ownAddress() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:0", 1+pid%250, pid/250%250, addresses.Add(1))
}

// startGarage runs a service and a controller with some doors, all closed.
func startGarage(t *testing.T, doors int, args ...string) *garage {
	t.Helper()
	g := newGarage(t, doors, args...)
	g.connect(g.MQTT)
	for n := range doors {
		g.awaitDoor(g.doorNumber(n+1), closedDoor)
	}
	return g
}

const (
	closedDoor = "closed/sensor/true/CLOSED"
	openDoor   = "open/sensor/true/OPEN"
)

// newGarage is startGarage without the controller.
func newGarage(t *testing.T, doors int, args ...string) *garage {
	t.Helper()
	arguments := append([]string{"--mqtt", ownAddress(), "--deadline", deadline.String()}, args...)
	g := &garage{house: startHouse(t, arguments...), log: filepath.Join(t.TempDir(), "hardware.log")}
	g.made = g.addControllerWith(g.Email, doors)
	g.file = g.made.file(t)
	return g
}

// addControllerWith enrols a controller with some doors.
func (s *site) addControllerWith(email string, doors int) credentials {
	s.t.Helper()
	args := s.stored("controller", "add", "--json", "--user", email, "--name", "Garage")
	for n := range doors {
		args = append(args, "--door", fmt.Sprintf("Door %d", n+1))
	}
	line := lintel(s.t, args...)
	made := parsed[credentials](s.t, line)
	made.line = line
	return made
}

// connect starts the controller anew.
func (g *garage) connect(broker string) { g.fleet = start(g.t, g.simulator(broker)...) }

func (g *garage) simulator(broker string) []string {
	return []string{"sim", "--broker", broker, "--credentials", g.file, "--doors", fmt.Sprint(len(g.made.Doors)),
		"--travel", "100ms", "--log", g.log}
}

// doorNumber returns the id of a door, from 1.
func (g *garage) doorNumber(n int) string { return g.made.Doors[n-1].DoorID }

// pulse is a line of the hardware's own log.
type pulse struct {
	Time       time.Time
	Controller string
	Door       int
	Effect     string
}

// pulses reads what the hardware was made to do, oldest first.
func pulses(t *testing.T, log string) (all []pulse) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var p pulse
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.Effect == "" {
			t.Fatalf("%s holds the line %q (%v)", log, line, err)
		}
		all = append(all, p)
	}
	return all
}

// actuated checks how often the hardware was made to act since the beginning.
func (g *garage) actuated(want int, when string) {
	g.t.Helper()
	if got := pulses(g.t, g.log); len(got) != want {
		g.t.Errorf("%s the hardware has acted %d times, not %d: %+v", when, len(got), want, got)
	}
}

// moves asks for the first door to go somewhere, is taken at its word, and sees it
// there: exactly one actuation more.
func (g *garage) moves(state, shown string) {
	g.t.Helper()
	before := len(pulses(g.t, g.log))
	if r := g.toggle(g.made.door(), state); r.Status != http.StatusOK || r.Header.Get("Lintel-Reason") != "" {
		g.t.Fatalf("%s: got %d %q %s", state, r.Status, r.Header.Get("Lintel-Reason"), r.Body)
	}
	g.awaitDoor(g.made.door(), shown)
	g.actuated(before+1, "after one more command that was taken")
}

// serveAgain starts the service anew where it was, on the same data.
func (g *garage) serveAgain(args ...string) {
	g.t.Helper()
	arguments := append([]string{"--mqtt", g.MQTT, "--deadline", deadline.String()}, args...)
	token := g.Token
	g.site = startServeIn(g.t, g.Data, arguments...)
	g.Token = token
}

// answered checks what the caller was told, and what the history says of the command.
func (g *garage) answered(got outcome, status int, reason string) {
	g.t.Helper()
	if got.err != nil || got.Status != status || got.Header.Get("Lintel-Reason") != reason {
		g.t.Errorf("the caller was told %d %q (%v), not %d %q", got.Status, got.Header.Get("Lintel-Reason"), got.err, status, reason)
	}
}

// newest returns the command that was asked for last.
func (g *garage) newest() recorded {
	g.t.Helper()
	return g.history("--limit", "1")[0]
}

// recordedAs checks status and reason of a command in the history.
func (g *garage) recordedAs(id, status, reason string) {
	g.t.Helper()
	if kept := g.record(id); kept.Status != status || kept.Reason != reason {
		g.t.Errorf("the history says %q, reason %q, not %q, reason %q: %+v", kept.Status, kept.Reason, status, reason, kept)
	}
}

// away reports whether the service knows that the first door's controller is away.
func (g *garage) away() bool { return strings.Contains(g.listed(g.made.door()).String(), "/false/") }

// backup copies the database as docs/operating.md says, beside the running service.
func (g *garage) backup() (file string) {
	g.t.Helper()
	file = filepath.Join(g.t.TempDir(), "lintel.db")
	source := "file:" + filepath.Join(g.Data, "lintel.db") + "?mode=ro"
	if out, err := exec.Command("sqlite3", source, "VACUUM INTO '"+file+"'").CombinedOutput(); err != nil {
		g.t.Fatalf("backup: %v %s", err, out)
	}
	return file
}

// restore puts a copy in the place of a stopped service's database.
func (g *garage) restore(file string) {
	g.t.Helper()
	away := g.t.TempDir()
	for _, name := range []string{"lintel.db", "lintel.db-wal", "lintel.db-shm"} {
		if err := os.Rename(filepath.Join(g.Data, name), filepath.Join(away, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			g.t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(g.Data, "lintel.db"), text, 0o600)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}
