package storetest

import (
	"testing"

	"lintel"
)

var closeCases = []testCase{
	{"Close", "afterwards everything is an error", closed},
	{"Close", "amid writes: each is stored or an error", closedAmidWrites},
}

func closed(t *testing.T, h *house) {
	must(t, h.Close())
	wantCode(t, h.SetPassword(t.Context(), h.owner.ID, "x"), lintel.CodeInternal)
	_, err := h.People(t.Context())
	wantCode(t, err, lintel.CodeInternal)
	_, err = h.Tokens(t.Context(), h.owner.ID)
	wantCode(t, err, lintel.CodeInternal)
}

// closedAmidWrites closes the store under a crowd: nobody may hang.
func closedAmidWrites(t *testing.T, h *house) {
	winners(t, lintel.CodeInternal, func(i int) error {
		if i == crowd/2 {
			return h.Close()
		}
		return h.EndSession(t.Context(), h.controller.ID, moment(i))
	})
}
