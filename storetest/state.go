package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lintel"
)

var stateCases = []testCase{
	{"RecordState", "stores a later report", stateStores},
	{"RecordState", "never goes back", stateNeverBack},
	{"RecordState", "unknown times stay unknown", stateZeroTimes},
	{"RecordState", "an unknown door changes nothing", stateUnknownDoor},
	{"RecordState", "reordered and repeated reports end in one state", reordered},
}

func (h *house) recordState(t *testing.T, e lintel.DoorEvent) {
	t.Helper()
	must(t, h.RecordState(t.Context(), e.DoorID, e.Session, e.Sequence, e.State))
}

func stateStores(t *testing.T, h *house) {
	before := h.door(t, h.doors[1].ID)
	for _, e := range []lintel.DoorEvent{h.event(1, 1), h.event(1, 2), h.event(1, 40), h.event(2, 1), h.event(7, 3)} {
		h.recordState(t, e)
		got := h.door(t, e.DoorID)
		equal(t, got.State, e.State)
		equal(t, got.ChangedAt, time.Time{}) // no change was reported
	}
	equal(t, h.events(t, h.doors[0].ID, 10), nil)
	equal(t, h.door(t, h.doors[1].ID), before)
}

func stateNeverBack(t *testing.T, h *house) {
	newest := h.event(3, 7)
	h.recordState(t, newest)
	for _, place := range [][2]int64{{3, 7}, {3, 6}, {2, 8}, {1, 1}, {0, 99}} {
		older := h.event(place[0], place[1])
		older.State.Value, older.State.Since = "stopped", newest.State.Since.Add(time.Hour)
		h.recordState(t, older)
		equal(t, h.door(t, newest.DoorID).State, newest.State)
	}
}

func stateZeroTimes(t *testing.T, h *house) {
	e := h.event(1, 1)
	h.recordState(t, e)
	e.Sequence = 2
	e.State.Since, e.State.ObservedAt = time.Time{}, time.Time{}
	h.recordState(t, e)
	equal(t, h.door(t, e.DoorID).State, e.State)
}

func stateUnknownDoor(t *testing.T, h *house) {
	e := h.event(1, 1)
	e.DoorID = lintel.NewID()
	h.recordState(t, e)
	equal(t, h.door(t, h.doors[0].ID).State, listed(h.owner, h.controller, h.doors).Doors[0].State)
}

// reordered delivers a door's reports, changes and repetitions of state alike,
// in any order and more than once. What counts is their place in the order.
func reordered(t *testing.T, h *house) {
	rapid.Check(t, func(rt *rapid.T) {
		own := h.neighbour(t)
		reports := distinctReports(rt, own)
		deliveries := rapid.SliceOfN(rapid.IntRange(0, len(reports)-1), 0, 10).Draw(rt, "repeated")
		for i := range reports {
			deliveries = append(deliveries, i)
		}
		for _, i := range rapid.Permutation(deliveries).Draw(rt, "order") {
			if e := reports[i]; e.ID == "" {
				own.recordState(t, e)
			} else {
				own.recordEvent(t, e)
			}
		}
		last := slices.MaxFunc(reports, inOrder)
		equal(rt, own.door(t, last.DoorID).State, last.State)
		changes := slices.DeleteFunc(slices.Clone(reports), func(e lintel.DoorEvent) bool { return e.ID == "" })
		slices.SortFunc(changes, func(a, b lintel.DoorEvent) int { return inOrder(b, a) })
		equal(rt, own.events(t, last.DoorID, 100), stored(changes...))
	})
}

// distinctReports draws reports at different places in the order; one without
// an ID repeats a state.
func distinctReports(rt *rapid.T, h *house) []lintel.DoorEvent {
	place := rapid.Custom(func(rt *rapid.T) [2]int64 {
		return [2]int64{rapid.Int64Range(1, 3).Draw(rt, "session"), rapid.Int64Range(1, 12).Draw(rt, "sequence")}
	})
	var reports []lintel.DoorEvent
	for _, p := range rapid.SliceOfNDistinct(place, 1, 12, rapid.ID[[2]int64]).Draw(rt, "places") {
		e := h.event(p[0], p[1])
		if rapid.Bool().Draw(rt, "repetition") {
			e.ID = ""
		}
		reports = append(reports, e)
	}
	return reports
}

func inOrder(a, b lintel.DoorEvent) int {
	return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Sequence, b.Sequence))
}
