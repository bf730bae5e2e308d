package storetest

import (
	"testing"
	"time"

	"lintel"
)

var eventCases = []testCase{
	{"RecordEvent", "stores the change and the state", eventStores},
	{"RecordEvent", "a repeated one changes nothing", eventRepeated},
	{"RecordEvent", "an older one is kept, the state stays", eventOlder},
	{"RecordEvent", "is all or nothing", eventAtomic},
	{"RecordEvent", "controllers name theirs independently", eventNames},
	{"Events", "by session and sequence, whatever came first", eventOrder},
	{"Events", "no more than the limit, of that door only", eventLimit},
}

// event is a change of the house's first door, different for each place in the order.
func (h *house) event(session, sequence int64) lintel.DoorEvent {
	values := []string{"closed", "opening", "open", "closing", "stopped", "unknown"}
	since := epoch.Add(time.Duration(100*session+sequence) * time.Second)
	return lintel.DoorEvent{
		ID: "event-" + string(lintel.NewID()), DoorID: h.doors[0].ID, Session: session, Sequence: sequence,
		State: lintel.DoorState{
			Value: values[sequence%6], Source: []string{"sensor", "opener", "inferred"}[sequence%3], SensorLost: sequence%2 == 0,
			Since: since, ObservedAt: since.Add(time.Millisecond),
		},
		Cause: "local", OccurredAt: since, ReceivedAt: since.Add(time.Millisecond),
	}
}

// recordEvent records an event of the house's controller.
func (h *house) recordEvent(t *testing.T, e lintel.DoorEvent) {
	t.Helper()
	must(t, h.RecordEvent(t.Context(), h.controller.ID, e))
}

func (h *house) events(t *testing.T, door lintel.ID, limit int) []lintel.DoorEvent {
	t.Helper()
	list, err := h.Events(t.Context(), door, limit)
	must(t, err)
	return list
}

// stored is an event as it is read back: when the state began and was seen is
// the event's own two times.
func stored(events ...lintel.DoorEvent) []lintel.DoorEvent {
	var list []lintel.DoorEvent
	for _, e := range events {
		e.State.Since, e.State.ObservedAt = time.Time{}, time.Time{}
		list = append(list, e)
	}
	return list
}

func eventStores(t *testing.T, h *house) {
	e := h.event(1, 1)
	e.Cause, e.CommandID, e.Reason = "command", lintel.NewID(), "did_not_move"
	h.recordEvent(t, e)
	equal(t, h.events(t, e.DoorID, 10), stored(e))
	want := h.doors[0]
	want.State, want.ChangedAt = e.State, e.ReceivedAt
	equal(t, h.door(t, e.DoorID), want)
	equal(t, h.door(t, h.doors[1].ID).ChangedAt, time.Time{})
}

func eventRepeated(t *testing.T, h *house) {
	e := h.event(1, 1)
	h.recordEvent(t, e)
	again := e
	again.State.Value, again.ReceivedAt = "open", e.ReceivedAt.Add(time.Hour)
	again.State.ObservedAt = again.ReceivedAt
	h.recordEvent(t, again)
	equal(t, h.events(t, e.DoorID, 10), stored(e))
	d := h.door(t, e.DoorID)
	equal(t, d.ChangedAt, e.ReceivedAt)
	equal(t, d.State, e.State)
}

func eventOlder(t *testing.T, h *house) {
	newer, older, oldSession := h.event(2, 5), h.event(2, 4), h.event(1, 99)
	h.recordEvent(t, newer)
	h.recordEvent(t, older)
	h.recordEvent(t, oldSession)
	equal(t, h.events(t, newer.DoorID, 10), stored(newer, older, oldSession))
	equal(t, h.door(t, newer.DoorID).State, newer.State)
}

// eventAtomic has a door that does not exist, then a state that does not: in
// both the event may not stay either.
func eventAtomic(t *testing.T, h *house) {
	e := h.event(1, 1)
	e.DoorID = lintel.NewID()
	wantCode(t, h.RecordEvent(t.Context(), h.controller.ID, e), lintel.CodeInternal)
	e = h.event(1, 2)
	e.State.Source = "guess"
	wantCode(t, h.RecordEvent(t.Context(), h.controller.ID, e), lintel.CodeInternal)
	e = h.event(1, 3)
	e.Cause = "magic"
	wantCode(t, h.RecordEvent(t.Context(), h.controller.ID, e), lintel.CodeInternal)
	equal(t, h.events(t, h.doors[0].ID, 10), nil)
	equal(t, h.door(t, h.doors[0].ID), listed(h.owner, h.controller, h.doors).Doors[0])
}

func eventNames(t *testing.T, h *house) {
	other, doors := h.addController(t, h.owner, 1)
	mine, theirs := h.event(1, 1), h.event(1, 1)
	theirs.ID, theirs.DoorID = mine.ID, doors[0].ID
	h.recordEvent(t, mine)
	must(t, h.RecordEvent(t.Context(), other.ID, theirs))
	equal(t, h.events(t, mine.DoorID, 10), stored(mine))
	equal(t, h.events(t, theirs.DoorID, 10), stored(theirs))
}

func eventOrder(t *testing.T, h *house) {
	a, b, c, d := h.event(1, 2), h.event(1, 10), h.event(2, 1), h.event(10, 1)
	a.OccurredAt, a.ReceivedAt = epoch.Add(9*time.Hour), epoch.Add(9*time.Hour) // the latest by any clock
	for _, e := range []lintel.DoorEvent{c, a, d, b} {
		h.recordEvent(t, e)
	}
	equal(t, h.events(t, a.DoorID, 10), stored(d, c, b, a))
}

func eventLimit(t *testing.T, h *house) {
	e, f, other := h.event(1, 1), h.event(1, 2), h.event(1, 3)
	other.DoorID = h.doors[1].ID
	for _, e := range []lintel.DoorEvent{e, f, other} {
		h.recordEvent(t, e)
	}
	equal(t, h.events(t, e.DoorID, 1), stored(f))
	equal(t, h.events(t, e.DoorID, 2), stored(f, e))
	equal(t, h.events(t, other.DoorID, 2), stored(other))
	equal(t, h.events(t, lintel.NewID(), 2), nil)
}
