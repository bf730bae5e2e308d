package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEveryRowOfTheStatusTable sees each status that a controller can bring about.
func TestEveryRowOfTheStatusTable(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	rows := []struct {
		behaviour string
		status    int
		message   string
		recorded  string // status, code and reason in the history
	}{
		{"works", http.StatusOK, "200", "taken 200 "},
		{"offline", http.StatusNotFound, "Sorry, Barn cannot be found. Please unplug it and plug it back in.", "unreachable 0 offline"},
		{"silent", http.StatusNotFound, "Sorry, Workshop cannot be found. Please unplug it and plug it back in.", "unanswered 0 deadline"},
		{"sensor_lost", http.StatusPreconditionRequired,
			"Boathouse requires pairing a door sensor before the request can be processed (428)", "refused 428 sensor_lost"},
		{"auth_error", http.StatusUnauthorized, "Error communicating with Cabin, authentication error (401)", "refused 401 simulated_fault"},
		{"malformed", http.StatusBadRequest, "Error communicating with Shed, malformed request (400)", "refused 400 simulated_fault"},
		{"unsupported", http.StatusNotImplemented, "Error communicating with Gatehouse, not implemented error (501)", "refused 501 unsupported"},
	}
	for _, row := range rows {
		t.Run(row.behaviour, func(t *testing.T) {
			r := d.toggle(d.door(row.behaviour).DoorID, "OPEN")
			if e := r.envelope(t); r.Status != row.status || e.Message != row.message {
				t.Errorf("got %d %+v, want %d %q", r.Status, e, row.status, row.message)
			}
			if challenge := r.Header.Get("WWW-Authenticate"); (challenge != "") != (row.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate is %q with status %d", challenge, row.status)
			}
			kept := d.record(r.commandID())
			if got := fmt.Sprintf("%s %d %s", kept.Status, kept.Code, kept.Reason); got != row.recorded {
				t.Errorf("the history says %q, want %q", got, row.recorded)
			}
		})
	}
}

// TestReadyLine: programs read the first line, which comes when all is ready, and
// nothing else. What the environment says to an operator's service is not for a demo.
func TestReadyLine(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "demo", "--json", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0")
	cmd.Env = environment("LINTEL_DATABASE=postgres://nowhere.example/", "LINTEL_TLS_CERT=nowhere", "LINTEL_TLS_KEY=nowhere", "LINTEL_CONFIG=nowhere")
	p := launch(t, cmd)
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("demo printed no line: %v\n%s", err, p.stderr)
	}
	ready := parsed[object](t, line)
	sameNames(t, "the line", ready, "base_url", "mqtt_addr", "access_token", "user", "other_access_token", "clients", "doors")
	sameNames(t, "user", parsed[object](t, string(ready["user"])), "email", "password")
	for _, c := range parsed[[]object](t, string(ready["clients"])) {
		sameNames(t, "client", c, "client_id", "client_secret", "redirect_uris", "kind")
	}
	var behaviours []string
	for _, door := range parsed[[]object](t, string(ready["doors"])) {
		sameNames(t, "door", door, "door_id", "name", "hardware_name", "behaviour")
		behaviours = append(behaviours, parsed[string](t, string(door["behaviour"])))
	}
	slices.Sort(behaviours)
	if got := strings.Join(behaviours, " "); got != "auth_error malformed offline sensor_lost silent unsupported works works" {
		t.Errorf("the house has the behaviours %s", got)
	}
	base := parsed[string](t, string(ready["base_url"]))
	if r := do(t, "GET", base+syncPath, parsed[string](t, string(ready["access_token"])), ""); r.Status != http.StatusOK {
		t.Errorf("sync answers %d", r.Status)
	}
	if rest := p.interruptAndRead(); rest != "" {
		t.Errorf("it goes on to print %q", rest)
	}
}

// TestNothingToDoIsTaken: a door that is already there is no fault, and does not move.
func TestNothingToDoIsTaken(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	rows := []struct{ door, state, shown string }{
		{d.doors("works")[0].DoorID, "CLOSED", "closed/sensor/true/CLOSED"},
		{d.doors("works")[1].DoorID, "OPEN", "open/sensor/true/OPEN"},
	}
	for _, row := range rows {
		t.Run(row.state, func(t *testing.T) {
			if shown := d.listed(row.door).String(); shown != row.shown {
				t.Fatalf("the door starts %s, want %s", shown, row.shown)
			}
			r := d.toggle(row.door, row.state)
			if r.Status != http.StatusOK || r.envelope(t).Message != "200" {
				t.Errorf("got %d %s", r.Status, r.Body)
			}
			if reason := d.record(r.commandID()).Reason; reason != "already_there" {
				t.Errorf("the history gives the reason %q", reason)
			}
			if shown := d.listed(row.door).String(); shown != row.shown {
				t.Errorf("the door is %s, want %s", shown, row.shown)
			}
			if moved := d.events(row.door); len(moved) > 0 {
				t.Errorf("the door moved: %+v", moved)
			}
		})
	}
}

// TestStartsOpenCloses: the second door that works has somewhere else to go.
func TestStartsOpenCloses(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	door := d.doors("works")[1].DoorID
	if r := d.toggle(door, "CLOSED"); r.Status != http.StatusOK || r.envelope(t).Message != "200" {
		t.Errorf("got %d %s", r.Status, r.Body)
	}
	d.awaitDoor(door, "closed/sensor/true/CLOSED")
}

// TestDeadlineIsConfigurable: a silent controller has exactly the time it was given.
func TestDeadlineIsConfigurable(t *testing.T) {
	t.Parallel()
	const deadline = 300 * time.Millisecond
	d := startDemo(t, "--deadline", deadline.String())
	r := d.toggle(d.door("silent").DoorID, "OPEN")
	if r.Status != http.StatusNotFound {
		t.Errorf("got %d %s", r.Status, r.Body)
	}
	kept := d.record(r.commandID())
	if kept.SettledAt == nil {
		t.Fatalf("the command is not settled: %+v", kept)
	}
	// The default is 5 s: a deadline that was not taken over would be seen.
	if waited := kept.SettledAt.Sub(kept.RequestedAt); waited < deadline-time.Millisecond || waited > 4*time.Second {
		t.Errorf("the controller was given %s, want %s", waited, deadline)
	}
}

// TestOfflineIsKnownAtOnce: nobody waits for a controller that is not there.
func TestOfflineIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "25s")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer := receive(t, "the answer", d.background(ctx, d.door("offline").DoorID, "OPEN"))
	if answer.err != nil || answer.Status != http.StatusNotFound {
		t.Errorf("got %d %v within 10 s", answer.Status, answer.err)
	}
}
