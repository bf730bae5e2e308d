package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/store"
)

var toggleCases = []testCase{
	{"Toggles", "arrivals with who asked, and requests that came to nothing", toggleLines},
	{"Toggles", "of the time, the door and the controller that is asked for", toggleQuery},
	{"Toggles", "a person's own, and not what was taken over", toggleOwn},
}

func (h *house) toggles(t *testing.T, change func(*store.ToggleQuery)) []store.Toggle {
	t.Helper()
	q := store.ToggleQuery{Owner: h.owner.ID, From: epoch.Add(-time.Hour), Until: epoch.Add(time.Hour), Limit: 100}
	if change != nil {
		change(&q)
	}
	list, err := h.Toggles(t.Context(), q)
	must(t, err)
	return list
}

// arrives records that the house's door of an index arrived somewhere.
func (h *house) arrives(t *testing.T, door int, value string, at time.Time, change func(*lintel.DoorEvent)) {
	t.Helper()
	e := h.event(1, at.Unix())
	e.DoorID, e.State.Value, e.Cause, e.ReceivedAt, e.Reason = h.doors[door].ID, value, "unknown", at, ""
	e.State.Source, e.State.SensorLost = "sensor", false
	if change != nil {
		change(&e)
	}
	h.recordEvent(t, e)
}

func toggleLines(t *testing.T, h *house) {
	taken, refused, sent := h.sent(t), h.command(), h.sent(t)
	must(t, h.SettleCommand(t.Context(), taken.ID, lintel.Outcome{Status: lintel.StatusTaken, Code: 200, SettledAt: epoch}))
	refused.Action, refused.RequestedAt = lintel.ActionClose, epoch.Add(3*time.Second)
	h.record(t, refused, h.token.Hash)
	must(t, h.SettleCommand(t.Context(), refused.ID, lintel.Outcome{Status: lintel.StatusRefused, Code: 428, SettledAt: epoch}))
	by := func(id lintel.ID) func(*lintel.DoorEvent) {
		return func(e *lintel.DoorEvent) { e.Cause, e.CommandID = "command", id }
	}
	h.arrives(t, 0, "opening", epoch, by(taken.ID))
	h.arrives(t, 0, "open", epoch.Add(time.Second), by(taken.ID))
	h.arrives(t, 1, "closed", epoch.Add(2*time.Second), nil)
	h.arrives(t, 0, "closed", epoch.Add(4*time.Second), func(e *lintel.DoorEvent) { e.Reason, e.CommandID = "did_not_move", sent.ID })
	h.arrives(t, 0, "closed", epoch.Add(5*time.Second), func(e *lintel.DoorEvent) { e.State.Source = "inferred" })
	h.arrives(t, 0, "closed", epoch.Add(6*time.Second), func(e *lintel.DoorEvent) { e.State.SensorLost = true })
	ada := lintel.Person{ID: h.owner.ID, Email: h.owner.Email, GivenName: "Ada", FamilyName: "King"}
	first, second := h.doors[0], h.doors[1]
	equal(t, h.toggles(t, nil), []store.Toggle{
		{DoorID: first.ID, DoorName: first.Name, Value: "open", At: epoch.Add(4 * time.Second), Person: ada},
		{DoorID: first.ID, DoorName: first.Name, Value: "closed", At: epoch.Add(3 * time.Second), Person: ada},
		{DoorID: second.ID, DoorName: second.Name, Value: "closed", At: epoch.Add(2 * time.Second), Succeeded: true},
		{DoorID: first.ID, DoorName: first.Name, Value: "open", At: epoch.Add(time.Second), Succeeded: true, Person: ada},
	})
}

func toggleQuery(t *testing.T, h *house) {
	h.arrives(t, 0, "open", epoch, nil)
	h.arrives(t, 1, "closed", epoch.Add(time.Minute), nil)
	count := func(change func(*store.ToggleQuery)) int { return len(h.toggles(t, change)) }
	equal(t, count(nil), 2)
	equal(t, count(func(q *store.ToggleQuery) { q.Limit = 1 }), 1)
	equal(t, count(func(q *store.ToggleQuery) { q.From = epoch.Add(time.Millisecond) }), 1)
	equal(t, count(func(q *store.ToggleQuery) { q.Until = epoch.Add(time.Minute) }), 1)
	equal(t, count(func(q *store.ToggleQuery) { q.Until = epoch }), 0)
	equal(t, count(func(q *store.ToggleQuery) { q.Door = h.doors[1].ID }), 1)
	equal(t, count(func(q *store.ToggleQuery) { q.Controller = h.controller.ID }), 2)
	equal(t, count(func(q *store.ToggleQuery) { q.Controller = lintel.NewID() }), 0)
}

func toggleOwn(t *testing.T, h *house) {
	h.arrives(t, 0, "open", epoch, nil)
	bob := h.addPerson(t, "bob@example.org")
	own := func(q *store.ToggleQuery) { q.Owner = bob.ID }
	equal(t, len(h.toggles(t, own)), 0)
	_, _, err := h.transfer(t, h.code(t, "release"), h.owner.ID, bob)
	must(t, err)
	equal(t, len(h.toggles(t, own)), 0)
	equal(t, len(h.toggles(t, nil)), 0)
}
