package storetest

import (
	"testing"
	"time"

	"lintel"
)

var enrolmentCases = []testCase{
	{"ReplaceTicket", "takes the place of those for the same thing", replaceTicket},
	{"ReplaceTicket", "at once: one is left, and none once it is used", raceReplace},
	{"ReplaceTicket", "a controller that there is not is not found", replaceNowhere},
	{"DropTicketsFor", "ends those for one thing", dropTicketsFor},
	{"ClaimController", "gives a new secret, once, and says so", claimOnce},
	{"ClaimController", "at once: one succeeds", raceClaim},
	{"ClaimController", "not when over, of another kind, or for what is the owner's no more", claimRefused},
	{"TransferController", "ends the old one and enrols the new", transfer},
	{"TransferController", "at once: one succeeds", raceTransfer},
	{"TransferController", "not when over, revoked, or by another owner", transferRefused},
	{"Device", "finds one that nobody has taken over", device},
	{"AddControllerEvent", "once within a time", eventOnce},
	{"ControllerEvents", "a person's own, the latest first, no more than the limit", controllerEvents},
}

// code is a ticket for the house's controller, stored.
func (h *house) code(t *testing.T, kind string) lintel.Ticket {
	t.Helper()
	ticket := lintel.Ticket{Hash: string(lintel.NewID()), Kind: kind, Content: "for " + string(h.controller.ID), ExpiresAt: epoch.Add(time.Minute)}
	must(t, h.ReplaceTicket(t.Context(), ticket, h.controller.ID))
	return ticket
}

func (h *house) happened(kind lintel.ControllerEventKind, at time.Time) lintel.ControllerEvent {
	return lintel.ControllerEvent{ID: lintel.NewID(), ControllerID: h.controller.ID, Kind: kind, Detail: "192.0.2.7", At: at}
}

func (h *house) claim(t *testing.T, ticket lintel.Ticket, owner lintel.ID, at time.Time) error {
	t.Helper()
	return h.ClaimController(t.Context(), ticket, h.controller.ID, owner, "claimed", h.happened(lintel.ControllerClaimed, at))
}

func (h *house) controllerEvents(t *testing.T, person lintel.Person) (kinds []lintel.ControllerEventKind) {
	t.Helper()
	events, err := h.ControllerEvents(t.Context(), person.ID, 100)
	must(t, err)
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func replaceTicket(t *testing.T, h *house) {
	first, other := h.code(t, "claim"), h.code(t, "release")
	second := h.code(t, "claim")
	_, err := h.Ticket(t.Context(), first.Hash, "claim", "", epoch)
	wantCode(t, err, lintel.CodeNotFound)
	for _, ticket := range []lintel.Ticket{other, second} {
		content, err := h.Ticket(t.Context(), ticket.Hash, ticket.Kind, "", epoch)
		must(t, err)
		equal(t, content, ticket.Content)
	}
}

func replaceNowhere(t *testing.T, h *house) {
	wantCode(t, h.ReplaceTicket(t.Context(), lintel.Ticket{Hash: "x", Kind: "claim", ExpiresAt: epoch}, lintel.NewID()), lintel.CodeNotFound)
}

func raceReplace(t *testing.T, h *house) {
	tickets := make([]lintel.Ticket, crowd)
	together(func(i int) {
		tickets[i] = lintel.Ticket{Hash: string(lintel.NewID()), Kind: "claim", Content: "x", ExpiresAt: epoch.Add(time.Minute)}
		if err := h.ReplaceTicket(t.Context(), tickets[i], h.controller.ID); err != nil {
			t.Error(err)
		}
	})
	good := 0
	for _, ticket := range tickets {
		if h.claim(t, ticket, h.owner.ID, epoch) == nil {
			good++
		}
	}
	equal(t, good, 1)
}

func dropTicketsFor(t *testing.T, h *house) {
	ticket := h.code(t, "claim")
	for _, want := range []int64{1, 0} {
		n, err := h.DropTicketsFor(t.Context(), "claim", ticket.Content)
		must(t, err)
		equal(t, n, want)
	}
	wantCode(t, h.claim(t, ticket, h.owner.ID, epoch), lintel.CodeNotFound)
}

func claimOnce(t *testing.T, h *house) {
	ticket := h.code(t, "claim")
	must(t, h.claim(t, ticket, h.owner.ID, epoch))
	equal(t, h.secretHash(t, h.controller), "claimed")
	changed, _, err := h.CredentialsChanged(t.Context(), 0)
	must(t, err)
	equal(t, changed, []lintel.ID{h.controller.ID})
	wantCode(t, h.claim(t, ticket, h.owner.ID, epoch), lintel.CodeNotFound)
	equal(t, h.controllerEvents(t, h.owner), []lintel.ControllerEventKind{lintel.ControllerClaimed})
}

func raceClaim(t *testing.T, h *house) {
	ticket := h.code(t, "claim")
	if won := winners(t, lintel.CodeNotFound, func(int) error { return h.claim(t, ticket, h.owner.ID, epoch) }); len(won) != 1 {
		t.Errorf("%d succeeded", len(won))
	}
}

func claimRefused(t *testing.T, h *house) {
	eve := h.addPerson(t, "eve@example.org")
	ticket := h.code(t, "claim")
	other := ticket
	other.Kind = "release"
	vendor, doors := newController(h.owner, 1)
	vendor.Driver = "ratgdo"
	must(t, h.AddController(t.Context(), vendor, "x", doors))
	wantCode(t, h.claim(t, other, h.owner.ID, epoch), lintel.CodeNotFound)
	wantCode(t, h.claim(t, ticket, eve.ID, epoch), lintel.CodeNotFound)
	wantCode(t, h.claim(t, ticket, h.owner.ID, ticket.ExpiresAt), lintel.CodeNotFound)
	e := h.happened(lintel.ControllerClaimed, epoch)
	wantCode(t, h.ClaimController(t.Context(), ticket, vendor.ID, h.owner.ID, "claimed", e), lintel.CodeNotFound)
	h.disable(t, h.owner)
	wantCode(t, h.claim(t, ticket, h.owner.ID, epoch), lintel.CodeNotFound)
	h.enable(t, h.owner)
	h.revokeController(t, h.controller)
	wantCode(t, h.claim(t, ticket, h.owner.ID, epoch), lintel.CodeNotFound)
	equal(t, len(h.controllerEvents(t, h.owner)), 0)
}

func (h *house) transfer(t *testing.T, ticket lintel.Ticket, owner lintel.ID, to lintel.Person) (lintel.Controller, []lintel.Door, error) {
	t.Helper()
	c, doors := newController(to, 2)
	return c, doors, h.TransferController(t.Context(), ticket, h.controller.ID, owner, c, "taken", doors)
}

// transfer leaves nothing of the old owner's: not the controller, its doors, its
// secret, or what happened to it. What was recorded stays with the operator.
func transfer(t *testing.T, h *house) {
	sold := h.sent(t)
	h.recordEvent(t, h.event(1, 1))
	must(t, h.AddControllerEvent(t.Context(), h.happened(lintel.ControllerRotated, epoch), 0))
	bob := h.addPerson(t, "bob@example.org")
	c, doors, err := h.transfer(t, h.code(t, "release"), h.owner.ID, bob)
	must(t, err)
	mine, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	equal(t, len(mine), 0)
	_, target := h.authority(t, h.token, h.doors[0].ID)
	equal(t, target.Revoked, true)
	_, _, _, err = h.ControllerSecretHash(t.Context(), h.controller.ID)
	wantCode(t, err, lintel.CodeNotFound)
	equal(t, h.controllerEvents(t, h.owner), []lintel.ControllerEventKind{lintel.ControllerGone})

	his, err := h.Devices(t.Context(), bob.ID)
	must(t, err)
	equal(t, his[0].ID, c.ID)
	equal(t, his[0].Doors[0].ID, doors[0].ID)
	equal(t, h.secretHash(t, c), "taken")
	equal(t, len(h.events(t, doors[0].ID, 10)), 0)
	equal(t, h.controllerEvents(t, bob), []lintel.ControllerEventKind{lintel.ControllerTaken})
	equal(t, h.read(t, sold.ID).DoorID, h.doors[0].ID)
	changed, _, err := h.CredentialsChanged(t.Context(), 0)
	must(t, err)
	equal(t, changed, []lintel.ID{h.controller.ID})
}

func raceTransfer(t *testing.T, h *house) {
	bob, ticket := h.addPerson(t, "bob@example.org"), h.code(t, "release")
	won := winners(t, lintel.CodeNotFound, func(int) error {
		_, _, err := h.transfer(t, ticket, h.owner.ID, bob)
		return err
	})
	his, err := h.Devices(t.Context(), bob.ID)
	must(t, err)
	if len(won) != 1 || len(his) != 1 {
		t.Errorf("%d succeeded, and there are %d", len(won), len(his))
	}
}

func transferRefused(t *testing.T, h *house) {
	bob, ticket := h.addPerson(t, "bob@example.org"), h.code(t, "release")
	_, _, err := h.transfer(t, ticket, bob.ID, bob)
	wantCode(t, err, lintel.CodeNotFound)
	over := ticket
	over.Hash = "another"
	_, _, err = h.transfer(t, over, h.owner.ID, bob)
	wantCode(t, err, lintel.CodeNotFound)
	for _, p := range []lintel.Person{h.owner, bob} {
		h.disable(t, p)
		_, _, err = h.transfer(t, ticket, h.owner.ID, bob)
		wantCode(t, err, lintel.CodeNotFound)
		h.enable(t, p)
	}
	h.revokeController(t, h.controller)
	_, _, err = h.transfer(t, ticket, h.owner.ID, bob)
	wantCode(t, err, lintel.CodeNotFound)
	his, err := h.Devices(t.Context(), bob.ID)
	must(t, err)
	equal(t, len(his), 0)
}

func device(t *testing.T, h *house) {
	found, err := h.Device(t.Context(), h.controller.ID)
	must(t, err)
	equal(t, found.OwnerID, h.owner.ID)
	equal(t, found.Doors[1].ID, h.doors[1].ID)
	_, err = h.Device(t.Context(), lintel.NewID())
	wantCode(t, err, lintel.CodeNotFound)
	_, _, err = h.transfer(t, h.code(t, "release"), h.owner.ID, h.addPerson(t, "bob@example.org"))
	must(t, err)
	_, err = h.Device(t.Context(), h.controller.ID)
	wantCode(t, err, lintel.CodeNotFound)
}

func eventOnce(t *testing.T, h *house) {
	add := func(kind lintel.ControllerEventKind, at time.Time) {
		must(t, h.AddControllerEvent(t.Context(), h.happened(kind, at), time.Hour))
	}
	add(lintel.SecondConnection, epoch.Add(24*time.Hour)) // by a clock that was wrong
	add(lintel.SecondConnection, epoch)
	add(lintel.SecondConnection, epoch.Add(time.Hour-time.Second))
	add(lintel.ControllerRotated, epoch.Add(time.Minute))
	equal(t, len(h.controllerEvents(t, h.owner)), 3)
	add(lintel.SecondConnection, epoch.Add(time.Hour))
	equal(t, len(h.controllerEvents(t, h.owner)), 4)
	must(t, h.AddControllerEvent(t.Context(), h.happened(lintel.SecondConnection, epoch.Add(time.Hour)), 0))
	equal(t, len(h.controllerEvents(t, h.owner)), 5)
	for i := range 50 {
		e := h.happened(lintel.SecondConnection, epoch.Add(10*time.Hour))
		e.Detail = string(rune('a' + i))
		must(t, h.AddControllerEvent(t.Context(), e, time.Hour))
	}
	equal(t, len(h.controllerEvents(t, h.owner)), 15)
}

func controllerEvents(t *testing.T, h *house) {
	first, second := h.happened(lintel.ControllerClaimed, epoch), h.happened(lintel.ControllerRotated, epoch.Add(time.Second))
	for _, e := range []lintel.ControllerEvent{first, second} {
		must(t, h.AddControllerEvent(t.Context(), e, 0))
	}
	events, err := h.ControllerEvents(t.Context(), h.owner.ID, 1)
	must(t, err)
	equal(t, len(events), 1)
	equal(t, events[0].ControllerEvent, second)
	equal(t, events[0].Name, h.controller.Name)
	equal(t, len(h.controllerEvents(t, h.addPerson(t, "bob@example.org"))), 0)
}
