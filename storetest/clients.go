package storetest

import (
	"testing"
	"time"

	"lintel"
)

var clientCases = []testCase{
	{"AddClient", "stores what was given", addClientStores},
	{"AddClient", "a taken id is a conflict, and nothing stays", addClientTaken},
	{"AddClient", "what no client may be is refused", addClientRefused},
	{"Client", "an unknown one is not found", clientUnknown},
	{"Client", "knows the command line from the start", clientCommandLine},
	{"Clients", "lists the oldest first, redirect URIs by their bytes", clientOrder},
	{"RotateClientSecret", "keeps the newest beside the new one", rotateKeeps},
	{"RotateClientSecret", "or keeps none", rotateDrops},
	{"RotateClientSecret", "the newest is the last given, whatever the clock says", rotateByClock},
	{"RotateClientSecret", "an unknown or public client is not found", rotateRefused},
	{"FinishClientSecret", "keeps the newest only", finishSecret},
	{"FinishClientSecret", "an unknown or public client is not found", finishRefused},
	{"DisableClient", "ends what it was granted, and nobody else's", disableClient},
	{"DisableClient", "refuses consent from then on", disableClientRefuses},
	{"DisableClient", "again keeps the first time", disableClientAgain},
	{"EnableClient", "does not bring back what was ended", enableClient},
	{"RemoveClient", "deletes what it was granted, the history stays", removeClient},
}

// newClient is a confidential client, which may be changed before it is added.
func newClient(id string) lintel.Client {
	return lintel.Client{
		ID: id, Name: "Home app", Kind: lintel.Confidential, Scopes: lintel.AllScopes,
		RedirectURIs: []string{"https://app.example/back"}, SecretHashes: []string{"first secret of " + id}, CreatedAt: epoch,
	}
}

// newPublicClient is a client without a secret.
func newPublicClient(id string) lintel.Client {
	c := newClient(id)
	c.Kind, c.SecretHashes = lintel.Public, nil
	return c
}

func (h *house) addClient(t *testing.T, c lintel.Client) lintel.Client {
	t.Helper()
	secretHash := ""
	if len(c.SecretHashes) > 0 {
		secretHash = c.SecretHashes[0]
	}
	must(t, h.AddClient(t.Context(), c, secretHash))
	return c
}

func (h *house) client(t *testing.T, id string) lintel.Client {
	t.Helper()
	c, err := h.Client(t.Context(), id)
	must(t, err)
	return c
}

func addClientStores(t *testing.T, h *house) {
	confidential := newClient("shop")
	confidential.Name, confidential.Legacy, confidential.Scopes = `The "Shop"; --`, true, lintel.ScopeOpen|lintel.ScopeShare
	confidential.RedirectURIs = []string{"https://a.example/?x=%27", "https://b.example/"}
	public := newPublicClient("phone")
	public.RedirectURIs = nil
	h.addClient(t, confidential)
	h.addClient(t, public)
	equal(t, h.client(t, "shop"), confidential)
	equal(t, h.client(t, "phone"), public)
}

func addClientTaken(t *testing.T, h *house) {
	first := h.addClient(t, newClient("shop"))
	again := newClient("shop")
	again.Name = "Another"
	wantCode(t, h.AddClient(t.Context(), again, "other secret"), lintel.CodeConflict)
	equal(t, h.client(t, "shop"), first)
	twice := newClient("twice")
	twice.RedirectURIs = []string{"https://a.example", "https://a.example"}
	wantCode(t, h.AddClient(t.Context(), twice, "x"), lintel.CodeConflict)
	_, err := h.Client(t.Context(), "twice")
	wantCode(t, err, lintel.CodeNotFound)
}

func addClientRefused(t *testing.T, h *house) {
	legacy, kind, scopes := newPublicClient("a"), newClient("b"), newClient("c")
	legacy.Legacy, kind.Kind, scopes.Scopes = true, "trusted", 0
	for _, c := range []lintel.Client{legacy, kind, scopes} {
		wantCode(t, h.AddClient(t.Context(), c, ""), lintel.CodeInternal)
	}
}

func clientUnknown(t *testing.T, h *house) {
	h.addClient(t, newClient("shop"))
	for _, id := range []string{"", "SHOP", "shop ", "%"} {
		_, err := h.Client(t.Context(), id)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

var commandLine = lintel.Client{
	ID: lintel.CommandLineClient, Name: "Lintel command line", Kind: lintel.Public, Scopes: lintel.AllScopes,
	CreatedAt: time.UnixMilli(0).UTC(),
}

func clientCommandLine(t *testing.T, h *house) {
	equal(t, h.client(t, lintel.CommandLineClient), commandLine)
}

func clientOrder(t *testing.T, h *house) {
	older, newer := newClient("older"), newClient("newer")
	older.CreatedAt = epoch.Add(-time.Millisecond)
	newer.RedirectURIs = []string{"https://a.example/B", "https://a.example/a", "https://a.example/é"}
	lower, upper := newClient("a"), newClient("B")
	lower.CreatedAt, upper.CreatedAt = epoch.Add(time.Second), epoch.Add(time.Second)
	for _, c := range []lintel.Client{lower, newer, upper, older} {
		h.addClient(t, c)
	}
	list, err := h.Clients(t.Context())
	must(t, err)
	equal(t, list, []lintel.Client{commandLine, older, newer, upper, lower})
}

func (h *house) rotate(t *testing.T, client, hash string, keep bool, now time.Time) {
	t.Helper()
	must(t, h.RotateClientSecret(t.Context(), client, hash, keep, now))
}

func rotateKeeps(t *testing.T, h *house) {
	shop, other := h.addClient(t, newClient("shop")), h.addClient(t, newClient("other"))
	h.rotate(t, shop.ID, "second", true, epoch.Add(time.Second))
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"second", "first secret of shop"})
	h.rotate(t, shop.ID, "third", true, epoch.Add(2*time.Second))
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"third", "second"})
	equal(t, h.client(t, other.ID), other)
}

func rotateDrops(t *testing.T, h *house) {
	shop := h.addClient(t, newClient("shop"))
	h.rotate(t, shop.ID, "second", true, epoch.Add(time.Second))
	h.rotate(t, shop.ID, "third", false, epoch.Add(2*time.Second))
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"third"})
}

// rotateByClock rotates within one millisecond, and while the clock is set back:
// an old secret that may have leaked must not outlive the new one.
func rotateByClock(t *testing.T, h *house) {
	shop := h.addClient(t, newClient("shop"))
	h.rotate(t, shop.ID, "b", true, epoch)
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"b", "first secret of shop"})
	h.rotate(t, shop.ID, "c", true, epoch)
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"c", "b"})
	h.rotate(t, shop.ID, "a", true, epoch.Add(-time.Hour))
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"a", "c"})
	must(t, h.FinishClientSecret(t.Context(), shop.ID))
	equal(t, h.client(t, shop.ID).SecretHashes, []string{"a"})
}

func rotateRefused(t *testing.T, h *house) {
	public := h.addClient(t, newPublicClient("phone"))
	for _, id := range []string{"nobody", "", public.ID, lintel.CommandLineClient} {
		wantCode(t, h.RotateClientSecret(t.Context(), id, "x", true, epoch), lintel.CodeNotFound)
	}
	equal(t, h.client(t, public.ID), public)
}

func finishSecret(t *testing.T, h *house) {
	shop, other := h.addClient(t, newClient("shop")), h.addClient(t, newClient("other"))
	h.rotate(t, other.ID, "theirs", true, epoch.Add(time.Second))
	h.rotate(t, shop.ID, "second", true, epoch.Add(time.Second))
	for range 2 {
		must(t, h.FinishClientSecret(t.Context(), shop.ID))
		equal(t, h.client(t, shop.ID).SecretHashes, []string{"second"})
	}
	equal(t, h.client(t, other.ID).SecretHashes, []string{"theirs", "first secret of other"})
}

func finishRefused(t *testing.T, h *house) {
	public := h.addClient(t, newPublicClient("phone"))
	for _, id := range []string{"nobody", "", public.ID} {
		wantCode(t, h.FinishClientSecret(t.Context(), id), lintel.CodeNotFound)
	}
}

func disableClient(t *testing.T, h *house) {
	shop, other := h.addClient(t, newClient("shop")), h.addClient(t, newClient("other"))
	ended, kept := h.family(t, h.owner, shop), h.family(t, h.owner, other)
	device, theirs := h.addDevice(t, shop), h.addDevice(t, other)
	now := epoch.Add(time.Minute)
	must(t, h.DisableClient(t.Context(), shop.ID, now))
	shop.DisabledAt = now
	equal(t, h.client(t, shop.ID), shop)
	equal(t, h.client(t, other.ID), other)
	equal(t, h.grant(t, ended).RevokedAt, now)
	equal(t, h.usable(t, ended.AccessHash), false)
	equal(t, h.refresh(t, ended.RefreshHash, strict, newIssue(now)), lintel.Refused)
	equal(t, h.grant(t, kept).RevokedAt, time.Time{})
	equal(t, h.usable(t, kept.AccessHash), true)
	equal(t, h.usable(t, h.token.Hash), true)
	_, err := h.DeviceCode(t.Context(), device.Hash)
	wantCode(t, err, lintel.CodeNotFound)
	equal(t, h.device(t, theirs.Hash), theirs)
}

func disableClientRefuses(t *testing.T, h *house) {
	shop := h.addClient(t, newClient("shop"))
	must(t, h.DisableClient(t.Context(), shop.ID, epoch))
	g, code := newConsent(h.owner, shop)
	wantCode(t, h.AddCode(t.Context(), g, code), lintel.CodeNotFound)
	_, _, err := h.Code(t.Context(), code.Hash)
	wantCode(t, err, lintel.CodeNotFound)
	device := h.addDevice(t, shop)
	wantCode(t, h.ApproveDevice(t.Context(), device.UserCodeHash, g, epoch), lintel.CodeNotFound)
	equal(t, h.device(t, device.Hash), device)
}

func disableClientAgain(t *testing.T, h *house) {
	shop := h.addClient(t, newClient("shop"))
	must(t, h.DisableClient(t.Context(), shop.ID, epoch))
	must(t, h.DisableClient(t.Context(), shop.ID, epoch.Add(time.Hour)))
	equal(t, h.client(t, shop.ID).DisabledAt, epoch)
	wantCode(t, h.DisableClient(t.Context(), "nobody", epoch), lintel.CodeNotFound)
}

func enableClient(t *testing.T, h *house) {
	shop := h.addClient(t, newClient("shop"))
	ended := h.family(t, h.owner, shop)
	must(t, h.DisableClient(t.Context(), shop.ID, epoch))
	must(t, h.EnableClient(t.Context(), shop.ID))
	equal(t, h.client(t, shop.ID), shop)
	equal(t, h.usable(t, ended.AccessHash), false)
	equal(t, h.refresh(t, ended.RefreshHash, strict, newIssue(epoch)), lintel.Refused)
	equal(t, h.usable(t, h.family(t, h.owner, shop).AccessHash), true)
	wantCode(t, h.EnableClient(t.Context(), "nobody"), lintel.CodeNotFound)
}

func removeClient(t *testing.T, h *house) {
	shop, other := h.addClient(t, newClient("shop")), h.addClient(t, newClient("other"))
	gone, kept := h.family(t, h.owner, shop), h.family(t, h.owner, other)
	device, theirs := h.addDevice(t, shop), h.addDevice(t, other)
	c := h.command()
	h.record(t, c, gone.AccessHash)
	must(t, h.RemoveClient(t.Context(), shop.ID))

	_, err := h.Client(t.Context(), shop.ID)
	wantCode(t, err, lintel.CodeNotFound)
	_, _, err = h.Code(t.Context(), gone.code.Hash)
	wantCode(t, err, lintel.CodeNotFound)
	_, _, err = h.RefreshToken(t.Context(), gone.RefreshHash)
	wantCode(t, err, lintel.CodeNotFound)
	_, err = h.DeviceCode(t.Context(), device.Hash)
	wantCode(t, err, lintel.CodeNotFound)
	who, err := h.Subject(t.Context(), gone.AccessHash)
	must(t, err)
	equal(t, who, nil)
	equal(t, h.usable(t, gone.AccessHash), false)
	equal(t, h.read(t, c.ID).ClientID, shop.ID)

	equal(t, h.client(t, other.ID), other)
	equal(t, h.usable(t, kept.AccessHash), true)
	equal(t, h.device(t, theirs.Hash), theirs)
	wantCode(t, h.RemoveClient(t.Context(), shop.ID), lintel.CodeNotFound)
	h.addClient(t, shop)
	equal(t, h.client(t, shop.ID), shop)
}
