package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneServiceForADataDirectory: two would both believe that they know all.
func TestOneServiceForADataDirectory(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	for _, command := range []string{"serve", "demo"} {
		said := refused(t, invocation{args: []string{command, "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--data", h.Data}})
		if !strings.Contains(said, h.Data) || !strings.Contains(said, "in use") {
			t.Errorf("%s: it says %q", command, said)
		}
	}
	if devices := h.devices(); len(devices) != 0 {
		t.Errorf("the refused demo left %+v", devices)
	}
	h.kill()
	startServeIn(t, h.Data) // a lock does not outlive its owner
}

// TestInterruptEndsCleanly: Ctrl-C is no fault.
func TestInterruptEndsCleanly(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	fleet := start(t, "sim", "--broker", h.MQTT, "--data", h.Data)
	eventually(t, "the fleet to connect", func() bool { return strings.Contains(h.stderr.String(), "controller connected") })
	for name, p := range map[string]*process{"sim": fleet, "serve": h.process, "demo": startDemo(t).process} {
		if err := p.interrupt(); err != nil {
			t.Errorf("%s ended with %v:\n%s", name, err, p.stderr)
		}
	}
}

// TestInterruptWaitsForWhatIsUnderWay: who has asked is answered.
func TestInterruptWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "2s")
	answer := d.background(t.Context(), d.door("silent").DoorID, "OPEN")
	d.awaitCommands(1)
	if err := d.interrupt(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if got := receive(t, "the answer", answer); got.err != nil || got.Status != http.StatusNotFound {
		t.Errorf("got %d %v", got.Status, got.err)
	}
	if kept := d.history()[0]; kept.SettledAt == nil {
		t.Errorf("the history says %+v", kept)
	}
}

// TestDemoKeepsItsHouse: the same data directory is the same house.
func TestDemoKeepsItsHouse(t *testing.T) {
	t.Parallel()
	first := startDemo(t)
	before := first.toggle(first.door("works").DoorID, "CLOSED")
	if err := first.interrupt(); err != nil {
		t.Fatalf("it ended with %v", err)
	}
	second := startDemoIn(t, first.Data)
	if len(second.Doors) != len(first.Doors) {
		t.Fatalf("the house has %d doors, and had %d", len(second.Doors), len(first.Doors))
	}
	for i, door := range second.Doors {
		if door != first.Doors[i] {
			t.Errorf("door %d is %+v, and was %+v", i, door, first.Doors[i])
		}
	}
	if devices := second.devices(); len(devices) != len(first.Doors) {
		t.Errorf("%d devices are listed, want %d", len(devices), len(first.Doors))
	}
	if r := second.toggle(second.door("works").DoorID, "CLOSED"); r.Status != http.StatusOK {
		t.Errorf("afterwards its door answers %d %s", r.Status, r.Body)
	}
	second.record(before.commandID())
	if second.Token == first.Token || second.User.Password == first.User.Password {
		t.Error("the secrets are the same: they were stored")
	}
}

// TestTemporaryDataIsRemoved: a look at the demo leaves nothing behind.
func TestTemporaryDataIsRemoved(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	cmd := exec.Command(binary, "demo", "--json", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0")
	cmd.Env = environment("TMPDIR=" + parent)
	p := launch(t, cmd)
	if _, err := p.stdout.ReadString('\n'); err != nil {
		t.Fatalf("demo printed no line: %v\n%s", err, p.stderr)
	}
	made, err := filepath.Glob(filepath.Join(parent, "*", "lintel.db"))
	if err != nil || len(made) != 1 {
		t.Fatalf("the temporary database is not in %s: %v %v", parent, made, err)
	}
	if err := p.interrupt(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// TestAFleet enrols its controllers itself, and every door of it can be moved.
func TestAFleet(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	h.addUser("neighbour@house.example") // so that --user says whose the fleet is
	start(t, "sim", "--broker", h.MQTT, "--controllers", "5", "--doors", "2", "--data", h.Data, "--user", h.Email)
	var doors []string
	eventually(t, "ten doors to be known", func() bool {
		doors = nil
		for _, device := range h.devices() {
			for _, door := range device.Doors {
				if door.String() == "closed/sensor/true/CLOSED" {
					doors = append(doors, door.ID)
				}
			}
		}
		return len(doors) == 10
	})
	if devices := h.devices(); len(devices) != 5 {
		t.Errorf("%d devices are listed, want 5", len(devices))
	}
	for _, door := range doors {
		if r := h.toggle(door, "OPEN"); r.Status != http.StatusOK {
			t.Errorf("got %d %s", r.Status, r.Body)
		}
	}
	said := refused(t, invocation{args: []string{"sim", "--broker", h.MQTT, "--data", h.Data}})
	if !strings.Contains(said, "--user") {
		t.Errorf("with two accounts and no --user it says %q", said)
	}
}
