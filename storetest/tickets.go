package storetest

import (
	"testing"
	"time"

	"lintel"
)

var ticketCases = []testCase{
	{"AddTicket", "a hash is stored once", addTicketTwice},
	{"Ticket", "reads without using", ticketReads},
	{"Ticket", "of another kind, holder or time is not found", ticketRefused},
	{"UseTicket", "gives the content once", useTicket},
	{"UseTicket", "of another kind, holder or time is not found, and stays", useTicketRefused},
	{"DropTickets", "ends those of one kind", dropTickets},
}

// newTicket is a question for a session, good for a minute.
func newTicket(hash string) lintel.Ticket {
	return lintel.Ticket{Hash: hash, Kind: "question", Holder: "session", Content: `{"of":"☂ ` + hash + `"}`, ExpiresAt: epoch.Add(time.Minute)}
}

func (h *house) addTicket(t *testing.T, v lintel.Ticket) lintel.Ticket {
	t.Helper()
	must(t, h.AddTicket(t.Context(), v))
	return v
}

func (h *house) wantTicket(t *testing.T, v lintel.Ticket) {
	t.Helper()
	content, err := h.Ticket(t.Context(), v.Hash, v.Kind, v.Holder, epoch)
	must(t, err)
	equal(t, content, v.Content)
}

func addTicketTwice(t *testing.T, h *house) {
	v := h.addTicket(t, newTicket("a"))
	again := newTicket("a")
	again.Content = "another"
	wantCode(t, h.AddTicket(t.Context(), again), lintel.CodeInternal)
	h.wantTicket(t, v)
}

func ticketReads(t *testing.T, h *house) {
	held, free := newTicket("a"), newTicket("b")
	free.Holder, free.Content = "", ""
	for _, v := range []lintel.Ticket{h.addTicket(t, held), h.addTicket(t, free)} {
		for range 2 {
			h.wantTicket(t, v)
		}
	}
	_, err := h.Ticket(t.Context(), held.Hash, held.Kind, held.Holder, held.ExpiresAt.Add(-time.Millisecond))
	must(t, err)
}

// wrongTickets tries what is not quite a ticket.
func wrongTickets(t *testing.T, v lintel.Ticket, try func(hash, kind, holder string, now time.Time) (string, error)) {
	t.Helper()
	for _, c := range []struct {
		hash, kind, holder string
		now                time.Time
	}{
		{"x", v.Kind, v.Holder, epoch},
		{"", v.Kind, v.Holder, epoch},
		{v.Hash, "challenge", v.Holder, epoch},
		{v.Hash, v.Kind, "another session", epoch},
		{v.Hash, v.Kind, "", epoch},
		{v.Hash, v.Kind, v.Holder, v.ExpiresAt},
	} {
		content, err := try(c.hash, c.kind, c.holder, c.now)
		wantCode(t, err, lintel.CodeNotFound)
		equal(t, content, "")
	}
}

func ticketRefused(t *testing.T, h *house) {
	v := h.addTicket(t, newTicket("a"))
	wrongTickets(t, v, func(hash, kind, holder string, now time.Time) (string, error) {
		return h.Ticket(t.Context(), hash, kind, holder, now)
	})
}

func useTicket(t *testing.T, h *house) {
	used, kept := h.addTicket(t, newTicket("a")), h.addTicket(t, newTicket("b"))
	content, err := h.UseTicket(t.Context(), used.Hash, used.Kind, used.Holder, used.ExpiresAt.Add(-time.Millisecond))
	must(t, err)
	equal(t, content, used.Content)
	_, err = h.UseTicket(t.Context(), used.Hash, used.Kind, used.Holder, epoch)
	wantCode(t, err, lintel.CodeNotFound)
	_, err = h.Ticket(t.Context(), used.Hash, used.Kind, used.Holder, epoch)
	wantCode(t, err, lintel.CodeNotFound)
	h.wantTicket(t, kept)
}

func useTicketRefused(t *testing.T, h *house) {
	v := h.addTicket(t, newTicket("a"))
	wrongTickets(t, v, func(hash, kind, holder string, now time.Time) (string, error) {
		return h.UseTicket(t.Context(), hash, kind, holder, now)
	})
	h.wantTicket(t, v)
}

func dropTickets(t *testing.T, h *house) {
	v, other := h.addTicket(t, newTicket("a")), newTicket("b")
	other.Kind = "setup"
	h.addTicket(t, other)
	must(t, h.DropTickets(t.Context(), "nothing"))
	h.wantTicket(t, v)
	must(t, h.DropTickets(t.Context(), v.Kind))
	_, err := h.Ticket(t.Context(), v.Hash, v.Kind, v.Holder, epoch)
	wantCode(t, err, lintel.CodeNotFound)
	h.wantTicket(t, other)
}
