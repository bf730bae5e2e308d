package storetest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"lintel"
)

var historyCases = []testCase{
	{"Commands", "newest first, then by id", commandOrder},
	{"Commands", "of one door or of all", commandsOfDoor},
	{"Commands", "no more than the limit", commandLimit},
}

// sentAt records a command for one of the house's doors.
func (h *house) sentAt(t *testing.T, door int, requested time.Time) lintel.ID {
	t.Helper()
	c := h.command()
	c.DoorID, c.RequestedAt = h.doors[door].ID, requested
	recorded, err := h.RecordCommand(t.Context(), c, h.token.Hash)
	must(t, err)
	equal(t, recorded, true)
	return c.ID
}

func (h *house) commandIDs(t *testing.T, door lintel.ID, limit int) []lintel.ID {
	t.Helper()
	list, err := h.Commands(t.Context(), door, limit)
	must(t, err)
	var ids []lintel.ID
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func commandOrder(t *testing.T, h *house) {
	type row struct {
		id lintel.ID
		at time.Time
	}
	var want []row
	for _, n := range []int{3, 1, 2, 1, 3, 0, 2} {
		at := epoch.Add(time.Duration(n) * time.Millisecond)
		want = append(want, row{h.sentAt(t, 0, at), at})
	}
	slices.SortFunc(want, func(a, b row) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.id, b.id)) })
	var ids []lintel.ID
	for _, r := range want {
		ids = append(ids, r.id)
	}
	equal(t, h.commandIDs(t, h.doors[0].ID, 100), ids)
}

func commandsOfDoor(t *testing.T, h *house) {
	first, second := h.sentAt(t, 0, epoch), h.sentAt(t, 1, epoch.Add(time.Second))
	equal(t, h.commandIDs(t, h.doors[0].ID, 100), []lintel.ID{first})
	equal(t, h.commandIDs(t, h.doors[1].ID, 100), []lintel.ID{second})
	equal(t, h.commandIDs(t, "", 100), []lintel.ID{second, first})
	equal(t, h.commandIDs(t, lintel.NewID(), 100), nil)
}

func commandLimit(t *testing.T, h *house) {
	var ids []lintel.ID
	for i := range 5 {
		ids = append(ids, h.sentAt(t, 0, epoch.Add(time.Duration(-i)*time.Second)))
	}
	for limit := 1; limit <= 5; limit++ {
		equal(t, h.commandIDs(t, h.doors[0].ID, limit), ids[:limit])
		equal(t, h.commandIDs(t, "", limit), ids[:limit])
	}
}
