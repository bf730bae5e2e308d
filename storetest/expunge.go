package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

var expungeCases = []testCase{
	{"Expunge", "removes what has been over for thirty days, not a moment earlier", expungeOver},
	{"Expunge", "removes grants that have been over for thirty days", expungeGrants},
	{"Expunge", "keeps what is in use, however old", expungeKeeps},
	{"Expunge", "keeps what a replay is recognised by", expungeEvidence},
	{"Expunge", "leaves people, clients and the history alone", expungeHistory},
}

// evidence is how long what is over is kept.
const evidence = 30 * 24 * time.Hour

func (h *house) expunge(t *testing.T, now time.Time) {
	t.Helper()
	must(t, h.Expunge(t.Context(), now))
}

// removedAfter holds that what is over at the time is removed when it should be.
func (h *house) removedAfter(t *testing.T, what string, over time.Time, stored func() error) {
	t.Helper()
	h.expunge(t, over.Add(evidence))
	if err := stored(); err != nil {
		t.Errorf("%s was removed too early: %v", what, err)
	}
	h.expunge(t, over.Add(evidence+time.Millisecond))
	if err := stored(); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("%s was not removed: %v", what, err)
	}
}

// subjectStored fails with CodeNotFound, as what reads the others does.
func (h *house) subjectStored(t *testing.T, hash string) error {
	t.Helper()
	who, err := h.Subject(t.Context(), hash)
	if err == nil && who == nil {
		return &lintel.Error{Code: lintel.CodeNotFound}
	}
	return err
}

func expungeOver(t *testing.T, h *house) {
	ctx := t.Context()
	ticket := h.addTicket(t, newTicket("a"))
	h.removedAfter(t, "a ticket", ticket.ExpiresAt.Add(-evidence-time.Millisecond), func() error {
		_, err := h.Ticket(ctx, ticket.Hash, ticket.Kind, ticket.Holder, epoch)
		return err
	})
	device := h.addDevice(t, commandLine)
	h.removedAfter(t, "a device code", device.ExpiresAt, func() error {
		_, err := h.DeviceCode(ctx, device.Hash)
		return err
	})
	n, session := h.addSession(t, h.owner)
	h.removedAfter(t, "a session", n.ExpiresAt, func() error {
		_, _, err := h.Session(ctx, session, ever, epoch)
		return err
	})
	must(t, h.AddKnownBrowser(ctx, h.owner.ID, "browser", epoch.Add(time.Minute)))
	h.removedAfter(t, "a known browser", epoch.Add(time.Minute), func() error {
		if !h.known(t, h.owner, "browser", epoch) {
			return &lintel.Error{Code: lintel.CodeNotFound}
		}
		return nil
	})
	token := h.addToken(t, h.owner, allScopes)
	h.removedAfter(t, "a token", token.ExpiresAt, func() error { return h.subjectStored(t, token.Hash) })
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	last := h.refreshed(t, f.RefreshHash, strict, epoch.AddDate(0, 0, 29))
	h.removedAfter(t, "an app's token", f.AccessExpiresAt, func() error { return h.subjectStored(t, f.AccessHash) })
	h.removedAfter(t, "a refresh token", f.RefreshExpiresAt, func() error {
		_, _, err := h.RefreshToken(ctx, f.RefreshHash)
		return err
	})
	_, g, err := h.RefreshToken(ctx, last.RefreshHash)
	must(t, err)
	equal(t, g.ID, f.consent.ID)
}

func expungeGrants(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	removed := func(what string, over time.Time, code lintel.AuthorizationCode) {
		t.Helper()
		h.removedAfter(t, what, over, func() error {
			_, _, err := h.Code(t.Context(), code.Hash)
			return err
		})
	}
	_, unused := h.consent(t, h.owner, app)
	removed("a grant that nothing came of", epoch, unused)
	revoked := h.family(t, h.owner, app)
	must(t, h.RevokeGrant(t.Context(), revoked.consent.ID, "test", moment(3)))
	removed("a revoked grant", moment(3), revoked.code)
	equal(t, h.subjectStored(t, revoked.AccessHash) != nil, true)
	idle := h.family(t, h.owner, app)
	removed("a grant whose tokens are over", idle.RefreshExpiresAt, idle.code)
	_, code := h.consent(t, h.owner, app)
	long := newIssue(epoch)
	long.AccessExpiresAt = epoch.AddDate(0, 6, 0)
	equal(t, h.redeem(t, code, long), lintel.Redeemed)
	removed("a grant whose access token was the last", long.AccessExpiresAt, code)
	g, code := newConsent(h.owner, app)
	g.ExpiresAt = epoch.Add(time.Minute)
	must(t, h.AddCode(t.Context(), g, code))
	expired := newIssue(epoch)
	equal(t, h.redeem(t, code, expired), lintel.Redeemed)
	removed("an expired grant", g.ExpiresAt, code)
	_, _, err := h.RefreshToken(t.Context(), expired.RefreshHash)
	wantCode(t, err, lintel.CodeNotFound)
}

// expungeKeeps lets an app refresh for most of a year.
func expungeKeeps(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	forever := newToken(h.owner, allScopes)
	forever.ExpiresAt = epoch.AddDate(10, 0, 0)
	must(t, h.AddToken(t.Context(), forever))
	n := newSession(h.owner)
	n.ExpiresAt = forever.ExpiresAt
	hash := secret.Hash(secret.New(secret.Session))
	must(t, h.AddSession(t.Context(), n, hash))
	last := f.Issue
	for day := 29; day < 360; day += 29 {
		now := epoch.AddDate(0, 0, day)
		h.expunge(t, now)
		last = h.refreshed(t, last.RefreshHash, strict, now)
		h.expunge(t, now)
		equal(t, len(h.grants(t, h.owner, now)), 1)
	}
	equal(t, h.usable(t, last.AccessHash), true)
	equal(t, h.usable(t, forever.Hash), true)
	h.wantSession(t, hash, n, h.owner)
}

// expungeEvidence has somebody keep the first code and the first refresh token
// of a grant that is still in use.
func expungeEvidence(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	byCode, byRefresh := h.family(t, h.owner, app), h.family(t, h.owner, app)
	start := map[lintel.ID]lintel.Issue{byCode.consent.ID: byCode.Issue, byRefresh.consent.ID: byRefresh.Issue}
	for id, last := range start {
		last = h.refreshed(t, last.RefreshHash, strict, epoch.AddDate(0, 0, 29))
		start[id] = h.refreshed(t, last.RefreshHash, strict, epoch.AddDate(0, 0, 58))
	}
	now := byRefresh.RefreshExpiresAt.Add(evidence)
	h.expunge(t, now)
	equal(t, h.refresh(t, byRefresh.RefreshHash, strict, newIssue(now)), lintel.Replayed)
	equal(t, h.usable(t, start[byRefresh.consent.ID].AccessHash), false)
	now = epoch.AddDate(0, 0, 80)
	h.expunge(t, now)
	equal(t, h.usable(t, start[byCode.consent.ID].AccessHash), true)
	equal(t, h.redeem(t, byCode.code, newIssue(now)), lintel.Replayed)
	equal(t, h.usable(t, start[byCode.consent.ID].AccessHash), false)
}

func expungeHistory(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	f := h.family(t, h.owner, app)
	byApp, byToken := h.command(), h.sent(t)
	h.record(t, byApp, f.AccessHash)
	k := h.addPasskey(t, h.owner)
	h.setRecoveryCodes(t, h.owner, "a")
	must(t, h.DisablePerson(t.Context(), h.owner.ID, epoch))
	must(t, h.DisableClient(t.Context(), app.ID, epoch))
	h.expunge(t, epoch.AddDate(20, 0, 0))
	equal(t, h.tokens(t, h.owner), nil)
	equal(t, h.read(t, byToken.ID), byToken)
	equal(t, h.read(t, byApp.ID).ClientID, app.ID)
	equal(t, h.person(t, h.owner.ID).DisabledAt, epoch)
	app.DisabledAt = epoch
	equal(t, h.client(t, app.ID), app)
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{k})
	equal(t, h.recoveryCodesLeft(t, h.owner), 1)
}
