package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/access"
	"lintel/secret"
)

var deviceCodeCases = []testCase{
	{"AddDeviceCode", "stores what was given", addDeviceStores},
	{"AddDeviceCode", "a taken user code is a conflict", addDeviceTaken},
	{"AddDeviceCode", "an unknown client is refused", addDeviceUnknown},
	{"DeviceCode", "an unknown one is not found", deviceUnknown},
	{"DeviceByUserCode", "finds by the user code only", deviceByUserCode},
	{"PollDevice", "may come at once, and then after each pause", pollInTime},
	{"PollDevice", "too early makes the pause longer", pollTooEarly},
	{"PollDevice", "slows no other device down", pollOthers},
	{"ApproveDevice", "stores the consent", approveDevice},
	{"ApproveDevice", "the scopes that the person agreed to count", approveLess},
	{"ApproveDevice", "what is decided or over is not found, and nothing stays", approveRefused},
	{"DenyDevice", "decides for good", denyDevice},
	{"DenyDevice", "what is decided or over is not found", denyRefused},
	{"RedeemDeviceCode", "stores both tokens and spends the code", redeemDeviceStores},
	{"RedeemDeviceCode", "a second time is refused, the grant stays", redeemDeviceTwice},
	{"RedeemDeviceCode", "what nobody approved, or is over, is refused", redeemDeviceRefused},
	{"RedeemDeviceCode", "one whose grant is over stays unspent", redeemDeviceGrantOver},
}

// newDevice is a request at epoch, good for ten minutes.
func newDevice(c lintel.Client) lintel.DeviceCode {
	return lintel.DeviceCode{
		Hash: secret.Hash(secret.New(secret.DeviceCode)), UserCodeHash: secret.Hash(string(lintel.NewID())), ClientID: c.ID,
		Scopes: allScopes, Address: "2001:db8::1", CreatedAt: epoch, ExpiresAt: epoch.Add(10 * time.Minute),
		Pause: 5 * time.Second, State: lintel.DevicePending,
	}
}

func (h *house) addDevice(t *testing.T, c lintel.Client) lintel.DeviceCode {
	t.Helper()
	d := newDevice(c)
	must(t, h.AddDeviceCode(t.Context(), d))
	return d
}

func (h *house) device(t *testing.T, hash string) lintel.DeviceCode {
	t.Helper()
	d, err := h.DeviceCode(t.Context(), hash)
	must(t, err)
	return d
}

// approved is a request that the house's owner has agreed to.
func (h *house) approved(t *testing.T, c lintel.Client) (lintel.DeviceCode, lintel.Grant) {
	t.Helper()
	d := h.addDevice(t, c)
	g, _ := newConsent(h.owner, c)
	must(t, h.ApproveDevice(t.Context(), d.UserCodeHash, g, epoch))
	d.State, d.GrantID = lintel.DeviceApproved, g.ID
	return d, g
}

func (h *house) redeemDevice(t *testing.T, d lintel.DeviceCode, issue lintel.Issue) lintel.Redemption {
	t.Helper()
	got, err := h.RedeemDeviceCode(t.Context(), d.Hash, issue)
	must(t, err)
	return got
}

func addDeviceStores(t *testing.T, h *house) {
	d := newDevice(commandLine)
	d.State, d.GrantID = lintel.DeviceApproved, h.owner.ID // what only a person decides
	must(t, h.AddDeviceCode(t.Context(), d))
	d.State, d.GrantID = lintel.DevicePending, ""
	equal(t, h.device(t, d.Hash), d)
	got, err := h.DeviceByUserCode(t.Context(), d.UserCodeHash)
	must(t, err)
	equal(t, got, d)
}

func addDeviceTaken(t *testing.T, h *house) {
	d, again := h.addDevice(t, commandLine), newDevice(commandLine)
	again.UserCodeHash = d.UserCodeHash
	wantCode(t, h.AddDeviceCode(t.Context(), again), lintel.CodeConflict)
	_, err := h.DeviceCode(t.Context(), again.Hash)
	wantCode(t, err, lintel.CodeNotFound)
	equal(t, h.device(t, d.Hash), d)
}

func addDeviceUnknown(t *testing.T, h *house) {
	wantCode(t, h.AddDeviceCode(t.Context(), newDevice(lintel.Client{ID: "nobody"})), lintel.CodeInternal)
}

func deviceUnknown(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	for _, hash := range []string{"", "x", d.UserCodeHash} {
		_, err := h.DeviceCode(t.Context(), hash)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

func deviceByUserCode(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	h.addDevice(t, commandLine)
	for _, hash := range []string{"", "x", d.Hash} {
		_, err := h.DeviceByUserCode(t.Context(), hash)
		wantCode(t, err, lintel.CodeNotFound)
	}
	got, err := h.DeviceByUserCode(t.Context(), d.UserCodeHash)
	must(t, err)
	equal(t, got, d)
}

// poll asks for a device, so long after epoch.
func (h *house) poll(t *testing.T, d lintel.DeviceCode, after time.Duration) (tooEarly bool) {
	t.Helper()
	tooEarly, err := h.PollDevice(t.Context(), d.Hash, epoch.Add(after))
	must(t, err)
	return tooEarly
}

func pollInTime(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	for _, seconds := range []float64{0, 4.5, 9, 20} { // half a second too early is forgiven
		equal(t, h.poll(t, d, time.Duration(seconds*float64(time.Second))), false)
	}
	equal(t, h.device(t, d.Hash), d)
}

func pollTooEarly(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	equal(t, h.poll(t, d, 0), false)
	equal(t, h.poll(t, d, 4499*time.Millisecond), true)
	d.Pause = 10 * time.Second
	equal(t, h.device(t, d.Hash), d)
	equal(t, h.poll(t, d, 13998*time.Millisecond), true) // ten seconds from the one before
	d.Pause = 15 * time.Second
	equal(t, h.device(t, d.Hash), d)
	equal(t, h.poll(t, d, 28498*time.Millisecond), false)
	equal(t, h.poll(t, d, 42998*time.Millisecond), false) // and the pause stays as it is
	equal(t, h.device(t, d.Hash), d)
}

func pollOthers(t *testing.T, h *house) {
	d, other := h.addDevice(t, commandLine), h.addDevice(t, commandLine)
	equal(t, h.poll(t, d, 0), false)
	equal(t, h.poll(t, d, 0), true)
	equal(t, h.poll(t, other, 0), false)
	equal(t, h.device(t, other.Hash), other)
}

func approveDevice(t *testing.T, h *house) {
	app, other := newClient("app"), h.addDevice(t, commandLine)
	app.Legacy = true
	d := h.addDevice(t, h.addClient(t, app))
	g, _ := newConsent(h.owner, app)
	must(t, h.ApproveDevice(t.Context(), d.UserCodeHash, g, epoch))
	d.State, d.GrantID = lintel.DeviceApproved, g.ID
	equal(t, h.device(t, d.Hash), d)
	equal(t, h.device(t, other.Hash), other)
	issue := newIssue(epoch)
	equal(t, h.redeemDevice(t, d, issue), lintel.Redeemed)
	_, got, err := h.RefreshToken(t.Context(), issue.RefreshHash)
	must(t, err)
	equal(t, got, g)
}

func approveLess(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	g, _ := newConsent(h.owner, commandLine)
	g.Scopes = lintel.ScopeRead
	must(t, h.ApproveDevice(t.Context(), d.UserCodeHash, g, epoch))
	d.State, d.GrantID, d.Scopes = lintel.DeviceApproved, g.ID, lintel.ScopeRead
	equal(t, h.device(t, d.Hash), d)
	more, less := newIssue(epoch), newIssue(epoch)
	less.AccessScopes = lintel.ScopeRead
	equal(t, h.redeemDevice(t, d, more), lintel.Refused)
	h.wantUnissued(t, more)
	equal(t, h.redeemDevice(t, d, less), lintel.Redeemed)
}

func approveRefused(t *testing.T, h *house) {
	app, other := h.addClient(t, newClient("app")), h.addClient(t, newClient("other"))
	disabled := h.addPerson(t, "disabled@example.org")
	must(t, h.DisablePerson(t.Context(), disabled.ID, epoch))
	approved, _ := h.approved(t, app)
	denied, pending := h.addDevice(t, app), h.addDevice(t, app)
	must(t, h.DenyDevice(t.Context(), denied.UserCodeHash, epoch))
	denied.State = lintel.DeviceDenied
	for _, c := range []struct {
		device lintel.DeviceCode
		person lintel.Person
		client lintel.Client
		now    time.Time
	}{
		{approved, h.owner, app, epoch},
		{denied, h.owner, app, epoch},
		{pending, h.owner, app, pending.ExpiresAt},
		{pending, h.owner, other, epoch}, // the person was asked about another app
		{pending, disabled, app, epoch},
		{pending, lintel.Person{ID: lintel.NewID()}, app, epoch},
	} {
		g, code := newConsent(c.person, c.client)
		wantCode(t, h.ApproveDevice(t.Context(), c.device.UserCodeHash, g, c.now), lintel.CodeNotFound)
		equal(t, h.device(t, c.device.Hash), c.device)
		g.PersonID, g.ClientID = h.owner.ID, app.ID
		must(t, h.AddCode(t.Context(), g, code)) // its ID is free
	}
	g, _ := newConsent(h.owner, app)
	wantCode(t, h.ApproveDevice(t.Context(), "x", g, epoch), lintel.CodeNotFound)
}

func denyDevice(t *testing.T, h *house) {
	d, other := h.addDevice(t, commandLine), h.addDevice(t, commandLine)
	must(t, h.DenyDevice(t.Context(), d.UserCodeHash, d.ExpiresAt.Add(-time.Millisecond)))
	d.State = lintel.DeviceDenied
	equal(t, h.device(t, d.Hash), d)
	equal(t, h.device(t, other.Hash), other)
}

func denyRefused(t *testing.T, h *house) {
	approved, _ := h.approved(t, commandLine)
	denied, pending := h.addDevice(t, commandLine), h.addDevice(t, commandLine)
	must(t, h.DenyDevice(t.Context(), denied.UserCodeHash, epoch))
	wantCode(t, h.DenyDevice(t.Context(), denied.UserCodeHash, epoch), lintel.CodeNotFound)
	wantCode(t, h.DenyDevice(t.Context(), approved.UserCodeHash, epoch), lintel.CodeNotFound)
	wantCode(t, h.DenyDevice(t.Context(), pending.UserCodeHash, pending.ExpiresAt), lintel.CodeNotFound)
	wantCode(t, h.DenyDevice(t.Context(), "x", epoch), lintel.CodeNotFound)
	equal(t, h.device(t, approved.Hash), approved)
	equal(t, h.device(t, pending.Hash), pending)
}

func redeemDeviceStores(t *testing.T, h *house) {
	d, g := h.approved(t, commandLine)
	other, _ := h.approved(t, commandLine)
	issue := newIssue(epoch.Add(time.Second))
	equal(t, h.redeemDevice(t, d, issue), lintel.Redeemed)
	d.State = lintel.DeviceUsed
	equal(t, h.device(t, d.Hash), d)
	equal(t, h.device(t, other.Hash), other)
	who, err := h.Subject(t.Context(), issue.AccessHash)
	must(t, err)
	equal(t, who, &access.Subject{
		TokenID: issue.AccessID, PersonID: h.owner.ID, Scopes: allScopes, ExpiresAt: issue.AccessExpiresAt,
		GrantID: g.ID, ClientID: lintel.CommandLineClient,
	})
	g.LastUsedAt = issue.At
	r, got, err := h.RefreshToken(t.Context(), issue.RefreshHash)
	must(t, err)
	equal(t, r, lintel.RefreshToken{Hash: issue.RefreshHash, ExpiresAt: issue.RefreshExpiresAt})
	equal(t, got, g)
	equal(t, h.usable(t, issue.AccessHash), true)
}

func redeemDeviceTwice(t *testing.T, h *house) {
	d, g := h.approved(t, commandLine)
	issue, again := newIssue(epoch), newIssue(epoch.Add(time.Second))
	equal(t, h.redeemDevice(t, d, issue), lintel.Redeemed)
	equal(t, h.redeemDevice(t, d, again), lintel.Refused)
	h.wantUnissued(t, again)
	_, got, err := h.RefreshToken(t.Context(), issue.RefreshHash)
	must(t, err)
	equal(t, got, g)
	equal(t, h.usable(t, issue.AccessHash), true)
}

func redeemDeviceRefused(t *testing.T, h *house) {
	pending, denied := h.addDevice(t, commandLine), h.addDevice(t, commandLine)
	must(t, h.DenyDevice(t.Context(), denied.UserCodeHash, epoch))
	denied.State = lintel.DeviceDenied
	approved, _ := h.approved(t, commandLine)
	for _, d := range []lintel.DeviceCode{pending, denied, approved} {
		issue := newIssue(d.ExpiresAt)
		equal(t, h.redeemDevice(t, d, issue), lintel.Refused)
		h.wantUnissued(t, issue)
		equal(t, h.device(t, d.Hash), d)
	}
	equal(t, h.redeemDevice(t, pending, newIssue(epoch)), lintel.Refused)
	equal(t, h.redeemDevice(t, denied, newIssue(epoch)), lintel.Refused)
	equal(t, h.redeemDevice(t, lintel.DeviceCode{Hash: approved.UserCodeHash}, newIssue(epoch)), lintel.Refused)
	equal(t, h.redeemDevice(t, approved, newIssue(approved.ExpiresAt.Add(-time.Millisecond))), lintel.Redeemed)
}

func redeemDeviceGrantOver(t *testing.T, h *house) {
	d, g := h.approved(t, commandLine)
	must(t, h.RevokeGrant(t.Context(), g.ID, "test", epoch))
	issue := newIssue(epoch)
	equal(t, h.redeemDevice(t, d, issue), lintel.Refused)
	h.wantUnissued(t, issue)
	equal(t, h.device(t, d.Hash), d)
}
