package storetest

import (
	"testing"

	"lintel"
	"lintel/access"
)

var authorityCases = []testCase{
	{"Subject", "reads the bearer", subject},
	{"Subject", "an unknown token has none", subjectUnknown},
	{"Authority", "reads bearer and door", authority},
	{"Authority", "reads what stands against it", authorityRevoked},
	{"Authority", "reads the app, and that its grant is revoked", authorityOfGrant},
	{"Authority", "an unknown token or door is nil", authorityUnknown},
}

func (h *house) wantSubject() *access.Subject {
	return &access.Subject{TokenID: h.token.ID, PersonID: h.owner.ID, Scopes: h.token.Scopes, ExpiresAt: h.token.ExpiresAt}
}

func subject(t *testing.T, h *house) {
	got, err := h.Subject(t.Context(), h.token.Hash)
	must(t, err)
	equal(t, got, h.wantSubject())
}

func subjectUnknown(t *testing.T, h *house) {
	for _, hash := range []string{"", "x", string(h.token.ID)} {
		got, err := h.Subject(t.Context(), hash)
		must(t, err)
		equal(t, got, nil)
	}
}

func authority(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	theirs, theirDoors := h.addController(t, other, 1)
	who, what := h.authority(t, h.token, h.doors[1].ID)
	equal(t, who, h.wantSubject())
	equal(t, what, &access.Target{DoorID: h.doors[1].ID, DoorNumber: 2, ControllerID: h.controller.ID,
		HardwareName: h.controller.Name, OwnerID: h.owner.ID})
	_, what = h.authority(t, h.token, theirDoors[0].ID)
	equal(t, what, &access.Target{DoorID: theirDoors[0].ID, DoorNumber: 1, ControllerID: theirs.ID,
		HardwareName: theirs.Name, OwnerID: other.ID})
}

func authorityRevoked(t *testing.T, h *house) {
	must(t, h.RevokeToken(t.Context(), h.token.ID, "", epoch))
	h.disable(t, h.owner)
	h.revokeController(t, h.controller)
	who, what := h.authority(t, h.token, h.doors[0].ID)
	want := h.wantSubject()
	want.Revoked, want.Disabled = true, true
	equal(t, who, want)
	equal(t, what.Revoked, true)
}

func authorityOfGrant(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	want := &access.Subject{TokenID: f.AccessID, PersonID: h.owner.ID, Scopes: f.AccessScopes, ExpiresAt: f.AccessExpiresAt,
		GrantID: f.consent.ID, ClientID: "app"}
	who, what, err := h.Authority(t.Context(), f.AccessHash, h.doors[0].ID)
	must(t, err)
	equal(t, who, want)
	equal(t, what.DoorID, h.doors[0].ID)
	must(t, h.RevokeGrant(t.Context(), f.consent.ID, "test", epoch))
	want.Revoked = true
	for _, door := range []lintel.ID{h.doors[0].ID, ""} {
		who, _, err = h.Authority(t.Context(), f.AccessHash, door)
		must(t, err)
		equal(t, who, want)
	}
	who, _ = h.authority(t, h.token, h.doors[0].ID)
	equal(t, who, h.wantSubject())
}

func authorityUnknown(t *testing.T, h *house) {
	who, what, err := h.Authority(t.Context(), "x", h.doors[0].ID)
	must(t, err)
	equal(t, who, nil)
	equal(t, what, nil)
	who, what = h.authority(t, h.token, lintel.NewID())
	equal(t, who, h.wantSubject())
	equal(t, what, nil)
}
