package storetest

import (
	"context"
	"testing"

	"lintel"
)

var peopleCases = []testCase{
	{"AddPerson", "stores what was given", addPersonStores},
	{"AddPerson", "a taken address is a conflict in any letter case", addPersonConflict},
	{"AddPerson", "a caller who left gets an error", addPersonCancelled},
	{"SetPassword", "replaces one person's hash", setPassword},
	{"SetPassword", "an unknown person is not found", setPasswordUnknown},
	{"PersonByEmail", "finds in any letter case", personByEmail},
	{"PersonByEmail", "an unknown address is not found", personByEmailUnknown},
	{"People", "lists by address", people},
}

func addPersonStores(t *testing.T, h *house) {
	p := lintel.Person{ID: lintel.NewID(), Email: "Grace@Example.org", GivenName: "Grace \"'; --", FamilyName: "Höpper ☂", CreatedAt: epoch}
	must(t, h.AddPerson(t.Context(), p, ""))
	got, err := h.PersonByEmail(t.Context(), p.Email)
	must(t, err)
	p.Email = "grace@example.org"
	equal(t, got, p)
}

func addPersonConflict(t *testing.T, h *house) {
	p := lintel.Person{ID: lintel.NewID(), Email: "OWNER@example.ORG", CreatedAt: epoch}
	wantCode(t, h.AddPerson(t.Context(), p, ""), lintel.CodeConflict)
	list, err := h.People(t.Context())
	must(t, err)
	equal(t, list, []lintel.Person{h.owner})
}

func addPersonCancelled(t *testing.T, h *house) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, h.AddPerson(ctx, lintel.Person{ID: lintel.NewID(), Email: "gone@example.org"}, ""), lintel.CodeInternal)
	_, err := h.People(ctx)
	wantCode(t, err, lintel.CodeInternal)
}

func (h *house) password(t *testing.T, p lintel.Person) string {
	t.Helper()
	hash, err := h.PasswordHash(t.Context(), p.ID)
	must(t, err)
	return hash
}

func setPassword(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	equal(t, h.password(t, h.owner), "hash")
	must(t, h.SetPassword(t.Context(), h.owner.ID, "new hash"))
	equal(t, h.password(t, h.owner), "new hash")
	equal(t, h.password(t, other), "hash")
}

func setPasswordUnknown(t *testing.T, h *house) {
	wantCode(t, h.SetPassword(t.Context(), lintel.NewID(), "x"), lintel.CodeNotFound)
}

func personByEmail(t *testing.T, h *house) {
	h.addPerson(t, "other@example.org")
	got, err := h.PersonByEmail(t.Context(), "Owner@EXAMPLE.org")
	must(t, err)
	equal(t, got, h.owner)
	h.disable(t, h.owner)
	got, err = h.PersonByEmail(t.Context(), h.owner.Email)
	must(t, err)
	equal(t, got.DisabledAt, epoch)
}

func personByEmailUnknown(t *testing.T, h *house) {
	for _, email := range []string{"", "nobody@example.org", "%", "owner@example.org "} {
		_, err := h.PersonByEmail(t.Context(), email)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

func people(t *testing.T, h *house) {
	z := h.addPerson(t, "zoe@example.org")
	a := h.addPerson(t, "ada@example.org")
	list, err := h.People(t.Context())
	must(t, err)
	equal(t, list, []lintel.Person{a, h.owner, z})
}
