package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestNothingAnsweredIsLost kills the service with kill -9 under load, twenty
// times on the same data: what was answered is in the history afterwards.
func TestNothingAnsweredIsLost(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	answered := map[string]int{} // status by command
	var last *demo
	for round := range 20 {
		last = startDemoIn(t, data)
		last.hammer(answered, 30+17*round)
	}
	kept := map[string]recorded{}
	for _, command := range last.history() {
		kept[command.ID] = command
	}
	taken := 0
	for id, status := range answered {
		command, ok := kept[id]
		switch {
		case !ok:
			t.Errorf("the command %q was answered %d and is not in the history", id, status)
		case status == http.StatusOK && (command.Status != "taken" || command.Code != status):
			t.Errorf("a command was answered 200 and is kept as %+v", command)
		case status != http.StatusNotFound && command.Code != status:
			t.Errorf("a command was answered %d and is kept as %+v", status, command)
		case command.SettledAt == nil:
			t.Errorf("a command was answered %d and is not settled: %+v", status, command)
		}
		if status == http.StatusOK {
			taken++
		}
	}
	if taken < 200 {
		t.Errorf("only %d commands were answered 200", taken)
	}
	t.Logf("%d commands answered, %d of them 200; %d in the history", len(answered), taken, len(kept))
}

// hammer moves doors in 16 ways at once, and kills the service in the midst of it
// when so many have been answered. What came through is added to answered.
func (d *demo) hammer(answered map[string]int, enough int) {
	d.t.Helper()
	var doors []string
	for _, door := range d.Doors {
		if door.Behaviour != "silent" {
			doors = append(doors, door.DoorID)
		}
	}
	answers := make(chan response)
	var workers sync.WaitGroup
	for worker := range 16 {
		workers.Go(func() {
			for turn := worker; ; turn++ {
				body := toggleBody(doors[turn%len(doors)], []string{"OPEN", "CLOSED"}[turn/len(doors)%2])
				r, err := exchange(request("POST", d.BaseURL+togglePath, d.Token, strings.NewReader(body)))
				if err != nil {
					return // the service is gone
				}
				answers <- r
			}
		})
	}
	go func() {
		workers.Wait()
		close(answers)
	}()
	count := 0
	for r := range answers {
		answered[r.commandID()] = r.Status
		if count++; count == enough {
			_ = d.cmd.Process.Kill() // kill -9; answers already on their way still count
		}
	}
	d.kill()
}

// TestACommandCutShort: the service dies while it waits for an answer. Nobody
// knows what became of the command, and the history says so.
func TestACommandCutShort(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "25s")
	d.background(t.Context(), d.door("silent").DoorID, "OPEN")
	d.awaitCommands(1)
	d.kill()
	if kept := d.history()[0]; kept.Status != "sent" || kept.SettledAt != nil {
		t.Fatalf("after the kill the history says %+v", kept)
	}
	again := startDemoIn(t, d.Data)
	commands := again.history()
	if len(commands) != 1 {
		t.Fatalf("after the restart the history holds %+v", commands)
	}
	if kept := commands[0]; kept.Status != "unknown" || kept.Code != 0 || kept.Reason != "service_stopped" || kept.SettledAt == nil {
		t.Errorf("after the restart the history says %+v", kept)
	}
}
