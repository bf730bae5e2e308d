package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestChangesSurviveARestart: what a door did while the service could not hear it
// is told afterwards, each change once and in its order.
func TestChangesSurviveARestart(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	way := newRelay(t, h.MQTT)
	start(t, "sim", "--broker", way.address, "--credentials", made.file(t))
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
	r := h.toggle(made.door(), "OPEN")
	if r.Status != http.StatusOK {
		t.Fatalf("got %d %s", r.Status, r.Body)
	}
	way.lose()
	eventually(t, "the door to tell in vain that it is open", func() bool { return strings.Contains(way.lost.String(), `"value":"open"`) })
	h.kill()
	again := startServeIn(t, h.Data)
	again.Token = h.Token
	way.leadTo(again.MQTT)
	again.awaitDoor(made.door(), "open/sensor/true/OPEN")
	eventually(t, "both changes to be told", func() bool { return len(again.events(made.door())) >= 2 })
	changes := again.events(made.door())
	if len(changes) != 2 || changes[0].Value != "opening" || changes[1].Value != "open" {
		t.Fatalf("the history holds %+v", changes)
	}
	for _, change := range changes {
		if change.Cause != "command" || change.CommandID != r.commandID() {
			t.Errorf("a change is not put down to its command %s: %+v", r.commandID(), change)
		}
	}
}

// TestChangesInTheirOrder: by the controller's count and not by arrival, and a
// repetition is no second change.
func TestChangesInTheirOrder(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	c := connect(t, h.MQTT, made)
	c.report("closed", "sensor", "ok") // 1
	c.change(3, "opened-the-first-time", "open")
	c.change(2, "began-to-open-the-first-time", "opening")
	c.change(3, "opened-the-first-time", "open")
	c.change(4, "opened-the-first-time", "open") // sent again, since no confirmation came
	if shown := h.listed(made.door()).String(); shown != "open/sensor/true/OPEN" {
		t.Errorf("the door is shown as %s: an earlier report replaced a later one", shown)
	}
	c.leave()
	c = connect(t, h.MQTT, made)
	c.change(1, "opened-the-first-time", "open") // and again, in another session
	c.change(2, "began-to-close-the-first-time", "closing")
	// It says what happened meanwhile. Where the door is now, only a plain report does.
	if door := h.listed(made.door()); door.StateDetail.Fresh || door.State != "OPEN" {
		t.Errorf("before the first report of the session the door is shown as %s", door)
	}
	c.sequence = 2
	c.report("closed", "sensor", "ok")
	if shown := h.listed(made.door()).String(); shown != "closed/sensor/true/CLOSED" {
		t.Errorf("after a report the door is shown as %s", shown)
	}
	var values []string
	for _, change := range h.events(made.door()) {
		values = append(values, change.Value)
	}
	if got := fmt.Sprint(values); got != "[opening open closing]" {
		t.Errorf("the history holds %s", got)
	}
}

// change reports a change of its door that a name is given to, once and for all.
func (f *foreign) change(sequence int, event, value string) {
	f.t.Helper()
	f.publish("state", fmt.Sprintf(`{"v":1,"session":%q,"seq":%d,"door":1,"value":%q,"source":"sensor","sensor":"ok","since":%d,"event":%q,"cause":"local"}`,
		f.session, sequence, value, time.Now().UnixMilli(), event))
}
