package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/access"
)

var redeemCases = []testCase{
	{"RedeemCode", "stores both tokens and spends the code", redeemCodeStores},
	{"RedeemCode", "a second time revokes the family", redeemCodeTwice},
	{"RedeemCode", "an unknown or expired one is refused", redeemCodeRefused},
	{"RedeemCode", "one whose grant is over stays unspent", redeemCodeGrantOver},
	{"RedeemCode", "more than the person agreed to is refused", redeemCodeMore},
	{"RedeemCode", "is all or nothing", redeemCodeAtomic},
	{"RedeemRefreshToken", "strict: spends the token at once", refreshStrict},
	{"RedeemRefreshToken", "strict: a second time revokes the family", refreshStrictTwice},
	{"RedeemRefreshToken", "lazy: a token works until its successor was used", refreshLazy},
	{"RedeemRefreshToken", "lazy: a token beside the one that was used is a replay", refreshLazySibling},
	{"RedeemRefreshToken", "lazy: the first of a family stays until then too", refreshLazyFirst},
	{"RedeemRefreshToken", "touches no other family", refreshOthers},
	{"RedeemRefreshToken", "an unknown or expired one is refused and changes nothing", refreshRefused},
	{"RedeemRefreshToken", "one whose grant is over is refused", refreshGrantOver},
	{"RedeemRefreshToken", "more than the person agreed to is refused", refreshMore},
	{"RedeemRefreshToken", "is all or nothing", refreshAtomic},
}

// How a refresh token is rotated.
const (
	strict = true
	lazy   = false
)

func (h *house) redeem(t *testing.T, code lintel.AuthorizationCode, issue lintel.Issue) lintel.Redemption {
	t.Helper()
	got, err := h.RedeemCode(t.Context(), code.Hash, issue)
	must(t, err)
	return got
}

func (h *house) refresh(t *testing.T, hash string, strict bool, issue lintel.Issue) lintel.Redemption {
	t.Helper()
	got, err := h.RedeemRefreshToken(t.Context(), hash, strict, issue)
	must(t, err)
	return got
}

// refreshed gives a refresh token and returns what was issued for it.
func (h *house) refreshed(t *testing.T, hash string, strict bool, now time.Time) lintel.Issue {
	t.Helper()
	issue := newIssue(now)
	equal(t, h.refresh(t, hash, strict, issue), lintel.Redeemed)
	return issue
}

// spentAt reads when a refresh token was spent.
func (h *house) spentAt(t *testing.T, hash string) time.Time {
	t.Helper()
	r, _, err := h.RefreshToken(t.Context(), hash)
	must(t, err)
	return r.SpentAt
}

// wantUnissued holds that nothing of an issue was stored.
func (h *house) wantUnissued(t *testing.T, issue lintel.Issue) {
	t.Helper()
	who, err := h.Subject(t.Context(), issue.AccessHash)
	must(t, err)
	equal(t, who, nil)
	_, _, err = h.RefreshToken(t.Context(), issue.RefreshHash)
	wantCode(t, err, lintel.CodeNotFound)
}

// wantRevoked holds that a replay has ended a family at now.
func (h *house) wantRevoked(t *testing.T, f family, why string, now time.Time) {
	t.Helper()
	equal(t, h.grant(t, f).RevokedAt, now)
	equal(t, h.revokedFor(t, f.consent.ID), why)
	equal(t, h.usable(t, f.AccessHash), false)
}

func redeemCodeStores(t *testing.T, h *house) {
	app := newClient("app")
	g, code := h.consent(t, h.owner, h.addClient(t, app))
	issue := newIssue(epoch.Add(time.Second))
	issue.AccessScopes = lintel.ScopeOpen
	equal(t, h.redeem(t, code, issue), lintel.Redeemed)

	who, err := h.Subject(t.Context(), issue.AccessHash)
	must(t, err)
	equal(t, who, &access.Subject{
		TokenID: issue.AccessID, PersonID: h.owner.ID, Scopes: lintel.ScopeOpen, ExpiresAt: issue.AccessExpiresAt,
		GrantID: g.ID, ClientID: app.ID,
	})
	g.LastUsedAt, code.UsedAt = issue.At, issue.At
	gotCode, gotGrant, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, gotCode, code)
	equal(t, gotGrant, g)
	r, gotGrant, err := h.RefreshToken(t.Context(), issue.RefreshHash)
	must(t, err)
	equal(t, r, lintel.RefreshToken{Hash: issue.RefreshHash, ExpiresAt: issue.RefreshExpiresAt})
	equal(t, gotGrant, g)
	equal(t, h.usable(t, issue.AccessHash), true)
}

// redeemCodeTwice comes again after the code has expired, too: what was used
// must be recognised.
func redeemCodeTwice(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	kept := h.family(t, h.owner, app)
	for _, later := range []time.Duration{0, time.Millisecond, time.Hour} {
		f := h.family(t, h.owner, app)
		again := newIssue(epoch.Add(later))
		equal(t, h.redeem(t, f.code, again), lintel.Replayed)
		h.wantRevoked(t, f, "authorization code used twice", again.At)
		h.wantUnissued(t, again)
		equal(t, h.redeem(t, f.code, newIssue(epoch.Add(2*time.Hour))), lintel.Replayed)
		h.wantRevoked(t, f, "authorization code used twice", again.At)
	}
	equal(t, h.grant(t, kept), kept.consent)
	equal(t, h.usable(t, kept.AccessHash), true)
}

func redeemCodeRefused(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	g, code := h.consent(t, h.owner, h.client(t, "app"))
	for _, late := range []time.Duration{0, time.Hour} {
		issue := newIssue(code.ExpiresAt.Add(late))
		equal(t, h.redeem(t, code, issue), lintel.Refused)
		h.wantUnissued(t, issue)
	}
	for _, hash := range []string{"", "x", f.RefreshHash} {
		equal(t, h.redeem(t, lintel.AuthorizationCode{Hash: hash}, newIssue(epoch)), lintel.Refused)
	}
	got, gotGrant, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, got, code)
	equal(t, gotGrant, g)
	equal(t, h.redeem(t, code, newIssue(code.ExpiresAt.Add(-time.Millisecond))), lintel.Redeemed)
}

func redeemCodeGrantOver(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	_, revoked := h.consent(t, h.owner, app)
	g, expired := newConsent(h.owner, app)
	g.ExpiresAt = epoch.Add(time.Second)
	must(t, h.AddCode(t.Context(), g, expired))
	revokedGrant := h.grant(t, family{code: revoked})
	must(t, h.RevokeGrant(t.Context(), revokedGrant.ID, "test", epoch))
	for _, code := range []lintel.AuthorizationCode{revoked, expired} {
		issue := newIssue(epoch.Add(time.Second))
		equal(t, h.redeem(t, code, issue), lintel.Refused)
		h.wantUnissued(t, issue)
		got, grant, err := h.Code(t.Context(), code.Hash)
		must(t, err)
		equal(t, got, code)
		equal(t, grant.LastUsedAt, epoch)
	}
}

func redeemCodeMore(t *testing.T, h *house) {
	g, code := h.consent(t, h.owner, h.addClient(t, newClient("app")))
	for _, scopes := range []lintel.Scope{lintel.AllScopes, lintel.ScopeShare} {
		issue := newIssue(epoch)
		issue.AccessScopes = scopes
		equal(t, h.redeem(t, code, issue), lintel.Refused)
		h.wantUnissued(t, issue)
	}
	got, gotGrant, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, got, code)
	equal(t, gotGrant, g)
	equal(t, h.redeem(t, code, newIssue(epoch)), lintel.Redeemed)
}

// redeemCodeAtomic cannot store the tokens at first: then the code is not spent.
func redeemCodeAtomic(t *testing.T, h *house) {
	g, code := h.consent(t, h.owner, h.addClient(t, newClient("app")))
	f := h.family(t, h.owner, h.client(t, "app"))
	broken := newIssue(epoch.Add(time.Second))
	broken.RefreshHash = f.RefreshHash
	_, err := h.RedeemCode(t.Context(), code.Hash, broken)
	wantCode(t, err, lintel.CodeInternal)
	equal(t, h.usable(t, broken.AccessHash), false)
	got, gotGrant, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, got, code)
	equal(t, gotGrant, g)
	equal(t, h.redeem(t, code, newIssue(epoch)), lintel.Redeemed)
}

func refreshStrict(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	last := f.Issue
	for i := 1; i <= 3; i++ {
		next := newIssue(moment(i))
		next.AccessScopes = lintel.ScopeOpen
		equal(t, h.refresh(t, last.RefreshHash, strict, next), lintel.Redeemed)
		equal(t, h.spentAt(t, last.RefreshHash), next.At)
		equal(t, h.spentAt(t, next.RefreshHash), time.Time{})
		equal(t, h.grant(t, f).LastUsedAt, next.At)
		who, err := h.Subject(t.Context(), next.AccessHash)
		must(t, err)
		equal(t, who, &access.Subject{
			TokenID: next.AccessID, PersonID: h.owner.ID, Scopes: lintel.ScopeOpen, ExpiresAt: next.AccessExpiresAt,
			GrantID: f.consent.ID, ClientID: "app",
		})
		equal(t, h.usable(t, last.AccessHash), true) // until it expires
		last = next
	}
}

func refreshStrictTwice(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	for _, later := range []time.Duration{0, time.Hour, 40 * 24 * time.Hour} { // the last has expired as well
		f := h.family(t, h.owner, app)
		next := h.refreshed(t, f.RefreshHash, strict, epoch)
		again := newIssue(epoch.Add(later))
		equal(t, h.refresh(t, f.RefreshHash, strict, again), lintel.Replayed)
		h.wantRevoked(t, f, "refresh token used twice", again.At)
		h.wantUnissued(t, again)
		equal(t, h.usable(t, next.AccessHash), false)
		equal(t, h.refresh(t, next.RefreshHash, strict, newIssue(epoch)), lintel.Refused)
		equal(t, h.spentAt(t, next.RefreshHash), time.Time{})
		equal(t, h.refresh(t, f.RefreshHash, strict, newIssue(epoch)), lintel.Refused) // its grant is over already
	}
}

// refreshLazy is a client that loses answers: it may ask again until it uses
// one. From then on what it asked with is a replay.
func refreshLazy(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	first := h.refreshed(t, f.RefreshHash, lazy, moment(1))
	var lost []lintel.Issue
	for i := 2; i < 5; i++ {
		lost = append(lost, h.refreshed(t, first.RefreshHash, lazy, moment(i)))
		equal(t, h.spentAt(t, first.RefreshHash), time.Time{})
	}
	got := h.refreshed(t, first.RefreshHash, lazy, moment(6))
	next := h.refreshed(t, got.RefreshHash, lazy, moment(7))
	for _, spent := range append(lost, first) {
		equal(t, h.spentAt(t, spent.RefreshHash), moment(7))
	}
	equal(t, h.spentAt(t, got.RefreshHash), time.Time{})
	equal(t, h.spentAt(t, next.RefreshHash), time.Time{})
	equal(t, h.grant(t, f).RevokedAt, time.Time{})

	again := newIssue(moment(8))
	equal(t, h.refresh(t, first.RefreshHash, lazy, again), lintel.Replayed)
	h.wantRevoked(t, f, "refresh token used twice", moment(8))
	h.wantUnissued(t, again)
	for _, issue := range append(lost, first, got, next) {
		equal(t, h.usable(t, issue.AccessHash), false)
		equal(t, h.refresh(t, issue.RefreshHash, lazy, newIssue(moment(9))), lintel.Refused)
	}
}

func refreshLazySibling(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	lost := h.refreshed(t, f.RefreshHash, lazy, moment(1))
	got := h.refreshed(t, f.RefreshHash, lazy, moment(2))
	h.refreshed(t, got.RefreshHash, lazy, moment(3))
	equal(t, h.refresh(t, lost.RefreshHash, lazy, newIssue(moment(4))), lintel.Replayed)
	h.wantRevoked(t, f, "refresh token used twice", moment(4))
	equal(t, h.usable(t, got.AccessHash), false)
}

// refreshLazyFirst has no token before the first, and other families have
// first tokens too.
func refreshLazyFirst(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	f, other := h.family(t, h.owner, app), h.family(t, h.owner, app)
	for i := range 3 {
		h.refreshed(t, f.RefreshHash, lazy, moment(i))
	}
	equal(t, h.spentAt(t, f.RefreshHash), time.Time{})
	equal(t, h.spentAt(t, other.RefreshHash), time.Time{})
	h.refreshed(t, f.RefreshHash, strict, moment(4)) // a client may become stricter
	equal(t, h.spentAt(t, f.RefreshHash), moment(4))
	equal(t, h.spentAt(t, other.RefreshHash), time.Time{})
}

func refreshOthers(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	f, other := h.family(t, h.owner, app), h.family(t, h.owner, app)
	h.refreshed(t, f.RefreshHash, strict, moment(1))
	equal(t, h.refresh(t, f.RefreshHash, strict, newIssue(moment(2))), lintel.Replayed)
	equal(t, h.grant(t, other), other.consent)
	equal(t, h.spentAt(t, other.RefreshHash), time.Time{})
	equal(t, h.usable(t, other.AccessHash), true)
	h.refreshed(t, other.RefreshHash, strict, moment(3))
}

func refreshRefused(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	for _, mode := range []bool{strict, lazy} {
		for _, late := range []time.Duration{0, time.Hour} {
			issue := newIssue(f.RefreshExpiresAt.Add(late))
			equal(t, h.refresh(t, f.RefreshHash, mode, issue), lintel.Refused)
			h.wantUnissued(t, issue)
		}
		for _, hash := range []string{"", "x", f.code.Hash, f.AccessHash} {
			equal(t, h.refresh(t, hash, mode, newIssue(epoch)), lintel.Refused)
		}
	}
	equal(t, h.grant(t, f), f.consent)
	equal(t, h.spentAt(t, f.RefreshHash), time.Time{})
	h.refreshed(t, f.RefreshHash, strict, f.RefreshExpiresAt.Add(-time.Millisecond))
}

func refreshGrantOver(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	g, code := newConsent(h.owner, app)
	g.ExpiresAt = epoch.Add(time.Minute)
	must(t, h.AddCode(t.Context(), g, code))
	f := family{g, code, newIssue(epoch)}
	equal(t, h.redeem(t, code, f.Issue), lintel.Redeemed)
	next := h.refreshed(t, f.RefreshHash, strict, g.ExpiresAt.Add(-time.Millisecond))
	issue := newIssue(g.ExpiresAt)
	equal(t, h.refresh(t, next.RefreshHash, strict, issue), lintel.Refused)
	h.wantUnissued(t, issue)
	equal(t, h.grant(t, f).LastUsedAt, next.At)
	equal(t, h.spentAt(t, next.RefreshHash), time.Time{})
}

func refreshMore(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	for _, mode := range []bool{strict, lazy} {
		issue := newIssue(epoch.Add(time.Second))
		issue.AccessScopes |= lintel.ScopeSettings
		equal(t, h.refresh(t, f.RefreshHash, mode, issue), lintel.Refused)
		h.wantUnissued(t, issue)
	}
	equal(t, h.grant(t, f), f.consent)
	equal(t, h.spentAt(t, f.RefreshHash), time.Time{})
}

// refreshAtomic cannot store the new tokens at first: then the old one is not spent.
func refreshAtomic(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	broken := newIssue(epoch.Add(time.Second))
	broken.RefreshHash = f.RefreshHash
	_, err := h.RedeemRefreshToken(t.Context(), f.RefreshHash, strict, broken)
	wantCode(t, err, lintel.CodeInternal)
	equal(t, h.usable(t, broken.AccessHash), false)
	equal(t, h.grant(t, f), f.consent)
	equal(t, h.spentAt(t, f.RefreshHash), time.Time{})
	h.refreshed(t, f.RefreshHash, strict, epoch)
}
