package storetest

import (
	"testing"

	"lintel"
)

var driverCases = []testCase{
	{"Driven", "lists what has a driver and is not revoked", driven},
}

func driven(t *testing.T, h *house) {
	ids := func() []lintel.ID {
		found, err := h.Driven(t.Context())
		must(t, err)
		var ids []lintel.ID
		for _, c := range found {
			equal(t, c.Driver, "ratgdo")
			equal(t, c.Settings, `{"Base":"home/`+string(c.ID)+`"}`)
			ids = append(ids, c.ID)
		}
		return ids
	}
	equal(t, len(ids()), 0)
	var added []lintel.ID
	for i := range 2 {
		c, doors := newController(h.owner, 1)
		c.Driver, c.Settings = "ratgdo", `{"Base":"home/`+string(c.ID)+`"}`
		c.CreatedAt = c.CreatedAt.AddDate(0, 0, i)
		must(t, h.AddController(t.Context(), c, "x", doors))
		added = append(added, c.ID)
	}
	equal(t, ids(), added)
	must(t, h.RevokeController(t.Context(), added[0], epoch))
	equal(t, ids(), added[1:])
}
