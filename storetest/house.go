package storetest

import (
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/access"
	"lintel/secret"
	"lintel/store"
)

// epoch is when every test begins: a time with milliseconds, which are kept.
var epoch = time.Date(2026, 3, 29, 1, 30, 0, 123e6, time.UTC)

// allScopes is what the house's token carries.
const allScopes = lintel.ScopeOpen | lintel.ScopeClose | lintel.ScopeRead

// house is what most tests begin with: an owner with a token that is good for
// an hour, and a controller with doors 1 and 2.
type house struct {
	*store.Store
	engine     store.Engine
	owner      lintel.Person
	token      store.Token
	controller lintel.Controller
	doors      []lintel.Door
}

func build(t *testing.T, engine store.Engine) *house {
	t.Helper()
	h := &house{Store: store.New(engine), engine: engine}
	t.Cleanup(func() { _ = h.Close() }) // a second Close may fail
	h.owner = h.addPerson(t, "owner@example.org")
	h.token = h.addToken(t, h.owner, allScopes)
	h.controller, h.doors = h.addController(t, h.owner, 2)
	return h
}

func (h *house) addPerson(t *testing.T, email string) lintel.Person {
	t.Helper()
	p := lintel.Person{ID: lintel.NewID(), Email: email, GivenName: "Ada", FamilyName: "King", CreatedAt: epoch}
	must(t, h.AddPerson(t.Context(), p, "hash"))
	return p
}

func newToken(p lintel.Person, scopes lintel.Scope) store.Token {
	return store.Token{
		ID: lintel.NewID(), Hash: secret.Hash(secret.New(secret.AccessToken)), PersonID: p.ID, Scopes: scopes,
		Label: "phone", CreatedAt: epoch, ExpiresAt: epoch.Add(time.Hour),
	}
}

func (h *house) addToken(t *testing.T, p lintel.Person, scopes lintel.Scope) store.Token {
	t.Helper()
	token := newToken(p, scopes)
	must(t, h.AddToken(t.Context(), token))
	return token
}

func newController(owner lintel.Person, doors int) (lintel.Controller, []lintel.Door) {
	c := lintel.Controller{ID: lintel.NewID(), OwnerID: owner.ID, Name: "Garage", CreatedAt: epoch}
	var list []lintel.Door
	for i := range doors {
		list = append(list, lintel.Door{ID: lintel.NewID(), ControllerID: c.ID, Number: i + 1, Name: "Door"})
	}
	return c, list
}

func (h *house) addController(t *testing.T, owner lintel.Person, doors int) (lintel.Controller, []lintel.Door) {
	t.Helper()
	c, list := newController(owner, doors)
	must(t, h.AddController(t.Context(), c, "secret hash", list))
	return c, list
}

// command is a request to open the house's first door at epoch.
func (h *house) command() lintel.Command {
	return lintel.Command{
		ID: lintel.NewID(), DoorID: h.doors[0].ID, Action: lintel.ActionOpen,
		RequestedAt: epoch, Deadline: epoch.Add(5 * time.Second),
	}
}

// sent records a command, and returns it as it should be read back.
func (h *house) sent(t *testing.T) lintel.Command {
	t.Helper()
	c := h.command()
	h.record(t, c, h.token.Hash)
	return h.complete(c)
}

// record records a command that is allowed.
func (h *house) record(t *testing.T, c lintel.Command, hash string) {
	t.Helper()
	recorded, err := h.RecordCommand(t.Context(), c, hash)
	must(t, err)
	if !recorded {
		t.Fatal("the house's own command was refused")
	}
}

// complete adds what the store itself puts into a command.
func (h *house) complete(c lintel.Command) lintel.Command {
	c.ControllerID, c.DoorNumber = h.controller.ID, h.doors[0].Number
	c.PersonID, c.TokenID = h.owner.ID, h.token.ID
	c.Outcome.Status = lintel.StatusSent
	return c
}

// read returns the only command in the house with the id.
func (h *house) read(t *testing.T, id lintel.ID) lintel.Command {
	t.Helper()
	all, err := h.Commands(t.Context(), "", 1000)
	must(t, err)
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("command %s is not stored", id)
	return lintel.Command{}
}

// door reads a door as it is listed.
func (h *house) door(t *testing.T, id lintel.ID) lintel.Door {
	t.Helper()
	devices, err := h.AllDevices(t.Context())
	must(t, err)
	for _, device := range devices {
		for _, d := range device.Doors {
			if d.ID == id {
				return d
			}
		}
	}
	t.Fatalf("door %s is not listed", id)
	return lintel.Door{}
}

// authority reads who bears the token, and what it is about.
func (h *house) authority(t *testing.T, token store.Token, door lintel.ID) (*access.Subject, *access.Target) {
	t.Helper()
	subject, target, err := h.Authority(t.Context(), token.Hash, door)
	must(t, err)
	return subject, target
}

// raw changes what no method of the store changes yet.
func (h *house) raw(t *testing.T, query string, args ...any) {
	t.Helper()
	must(t, h.engine.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.ExecContext(t.Context(), query, args...)
		return err
	}))
}

// disable refuses a person without ending anything, so that a test sees what
// the one does without the other.
func (h *house) disable(t *testing.T, p lintel.Person) {
	t.Helper()
	h.raw(t, `UPDATE people SET disabled_at = $1 WHERE id = $2`, epoch.UnixMilli(), string(p.ID))
}

func (h *house) enable(t *testing.T, p lintel.Person) {
	t.Helper()
	h.raw(t, `UPDATE people SET disabled_at = NULL WHERE id = $1`, string(p.ID))
}

func (h *house) revokeController(t *testing.T, c lintel.Controller) {
	t.Helper()
	h.raw(t, `UPDATE controllers SET revoked_at = $1 WHERE id = $2`, epoch.UnixMilli(), string(c.ID))
}

// crowd is how many do the same thing at once where only one may win.
const crowd = 20

// together runs do for 0 to crowd-1 at once.
func together(do func(i int)) {
	gate := make(chan struct{})
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			<-gate
			do(i)
		})
	}
	close(gate)
	all.Wait()
}
