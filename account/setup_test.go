package account

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

func (h *house) setUp(ticket, password string) (SignedIn, error) {
	return h.SetUp(h.t.Context(), from("192.0.2.1"), ticket, " Ada@House.example ", "Ada", "Lovelace", password)
}

func (h *house) setupTicket() string {
	h.t.Helper()
	ticket, err := h.NewSetupTicket(h.t.Context())
	must(h.t, err)
	return ticket
}

func (h *house) wantSetup(want bool) {
	h.t.Helper()
	needs, err := h.NeedsSetup(h.t.Context())
	must(h.t, err)
	equal(h.t, needs, want)
}

func TestSetUp(t *testing.T) {
	h := newHouse(t)
	h.wantSetup(true)
	ticket := h.setupTicket()
	_, err := h.setUp(ticket, "too short")
	wantCode(t, err, lintel.CodeInvalid)
	in, err := h.setUp(ticket, password) // which is still good
	must(t, err)
	equal(t, in.Session.Method, lintel.BySetup)
	equal(t, in.Person.Email, email)
	h.session(in.Secret)
	h.wantSetup(false)
	_, err = h.db.Ticket(t.Context(), secret.Hash(ticket), setupKind, "", h.stamp())
	wantCode(t, err, lintel.CodeNotFound) // used up
	_, err = h.SignIn(t.Context(), from("192.0.2.2"), email, password)
	must(t, err)
	_, err = h.setUp(ticket, password)
	wantCode(t, err, lintel.CodeConflict)
	_, err = h.NewSetupTicket(t.Context())
	wantCode(t, err, lintel.CodeConflict)
}

func TestSetUpNeedsTheNewestTicket(t *testing.T) {
	h := newHouse(t)
	older := h.setupTicket()
	newest := h.setupTicket()
	signIn, _, err := h.BeginPasskeySignIn(t.Context(), from("192.0.2.1"), "holder")
	must(t, err)
	for _, ticket := range []string{older, "", "junk", secret.New(secret.Ticket), signIn} {
		_, err := h.setUp(ticket, password)
		wantCode(t, err, lintel.CodeUnauthenticated)
	}
	h.clock.pass(setupFor)
	_, err = h.setUp(newest, password)
	wantCode(t, err, lintel.CodeUnauthenticated)
	h.wantSetup(true)
}

// TestOneOfManySetsUp: also where two tickets were made at once.
func TestOneOfManySetsUp(t *testing.T) {
	h := newHouse(t)
	tickets := []string{h.setupTicket(), secret.New(secret.Ticket)}
	must(t, h.db.AddTicket(t.Context(), lintel.Ticket{
		Hash: secret.Hash(tickets[1]), Kind: setupKind, ExpiresAt: h.stamp().Add(time.Hour),
	}))
	var all sync.WaitGroup
	codes := make([]lintel.Code, 20)
	for i := range codes {
		all.Go(func() {
			_, err := h.SetUp(t.Context(), from("192.0.2.1"), tickets[i%2], strings.Repeat("x", i+1)+"@house.example", "", "", password)
			codes[i] = lintel.CodeOf(err)
		})
	}
	all.Wait()
	slices.Sort(codes)
	equal(t, codes[0], "")
	equal(t, codes[1], lintel.CodeConflict)
	equal(t, codes[19], lintel.CodeConflict)
	people, err := h.db.People(t.Context())
	must(t, err)
	equal(t, len(people), 1)
}

func TestNoSetupWhereThereIsAnAccount(t *testing.T) {
	h := newHouse(t)
	ticket := h.setupTicket()
	h.person("eve@house.example") // by the command line
	_, err := h.setUp(ticket, password)
	wantCode(t, err, lintel.CodeConflict)
	h.wantSetup(false)
	must(t, h.db.Close())
	h.wantSetup(false) // without asking
}
