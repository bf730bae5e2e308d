package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/access"
	"lintel/secret"
	"lintel/store"
)

var grantCases = []testCase{
	{"AddCode", "stores the consent and its code", addCodeStores},
	{"AddCode", "an unknown or disabled person or client is not found", addCodeRefused},
	{"AddCode", "is all or nothing", addCodeAtomic},
	{"Code", "an unknown one is not found", codeUnknown},
	{"RefreshToken", "reads the token and its grant", refreshTokenReads},
	{"RefreshToken", "an unknown one is not found", refreshTokenUnknown},
	{"Grants", "lists one person's, newest first", grants},
	{"Grants", "leaves out what no token can come of", grantsOver},
	{"RevokeGrant", "stops every token of that grant only", revokeGrant},
	{"RevokeGrant", "again keeps the first time and reason", revokeGrantAgain},
	{"RevokeGrant", "an unknown one is not found", revokeGrantUnknown},
	{"EndGrant", "is revoking by its person", endGrant},
	{"EndGrant", "an unknown one, and somebody else's, is not found", endGrantRefused},
}

// newConsent is a person's consent to a client at epoch, good for a year, and
// the code for it, good for a minute.
func newConsent(p lintel.Person, c lintel.Client) (lintel.Grant, lintel.AuthorizationCode) {
	g := lintel.Grant{
		ID: lintel.NewID(), PersonID: p.ID, ClientID: c.ID, Scopes: allScopes,
		CreatedAt: epoch, ExpiresAt: epoch.AddDate(1, 0, 0), LastUsedAt: epoch,
	}
	return g, lintel.AuthorizationCode{
		Hash: secret.Hash(secret.New(secret.AuthorizationCode)), RedirectURI: "https://app.example/back",
		CodeChallenge: "challenge", ExpiresAt: epoch.Add(time.Minute),
	}
}

// newIssue is a pair of tokens: one for an hour, one for thirty days.
func newIssue(now time.Time) lintel.Issue {
	return lintel.Issue{
		At: now, AccessID: lintel.NewID(), AccessHash: secret.Hash(secret.New(secret.AccessToken)), AccessScopes: allScopes,
		AccessExpiresAt: now.Add(time.Hour),
		RefreshHash:     secret.Hash(secret.New(secret.RefreshToken)), RefreshExpiresAt: now.AddDate(0, 0, 30),
	}
}

// consent stores a new consent with its code.
func (h *house) consent(t *testing.T, p lintel.Person, c lintel.Client) (lintel.Grant, lintel.AuthorizationCode) {
	t.Helper()
	g, code := newConsent(p, c)
	must(t, h.AddCode(t.Context(), g, code))
	return g, code
}

// family is a consent, and the first tokens that came of it.
type family struct {
	consent lintel.Grant
	code    lintel.AuthorizationCode
	lintel.Issue
}

func (h *house) family(t *testing.T, p lintel.Person, c lintel.Client) family {
	t.Helper()
	f := family{Issue: newIssue(epoch)}
	f.consent, f.code = h.consent(t, p, c)
	equal(t, h.redeem(t, f.code, f.Issue), lintel.Redeemed)
	return f
}

// grant reads a family's grant.
func (h *house) grant(t *testing.T, f family) lintel.Grant {
	t.Helper()
	_, g, err := h.Code(t.Context(), f.code.Hash)
	must(t, err)
	return g
}

// usable reports whether an access token opens the house's first door, and that
// all who decide about it agree.
func (h *house) usable(t *testing.T, hash string) bool {
	t.Helper()
	who, what, err := h.Authority(t.Context(), hash, h.doors[0].ID)
	must(t, err)
	subject, err := h.Subject(t.Context(), hash)
	must(t, err)
	equal(t, subject, who)
	c := h.command()
	allowed := access.Move(who, what, c.Action, c.RequestedAt) == nil
	recorded, err := h.RecordCommand(t.Context(), c, hash)
	must(t, err)
	equal(t, recorded, allowed)
	return allowed
}

func addCodeStores(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	g, code := h.consent(t, h.owner, app)
	gotCode, gotGrant, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, gotCode, code)
	equal(t, gotGrant, g)
	bare, bareCode := newConsent(h.owner, app)
	bareCode.RedirectURI, bareCode.CodeChallenge = "", ""
	must(t, h.AddCode(t.Context(), bare, bareCode))
	gotCode, gotGrant, err = h.Code(t.Context(), bareCode.Hash)
	must(t, err)
	equal(t, gotCode, bareCode)
	equal(t, gotGrant, bare)
}

func addCodeRefused(t *testing.T, h *house) {
	app, gone := h.addClient(t, newClient("app")), h.addClient(t, newClient("gone"))
	must(t, h.DisableClient(t.Context(), gone.ID, epoch))
	disabled := h.addPerson(t, "disabled@example.org")
	must(t, h.DisablePerson(t.Context(), disabled.ID, epoch))
	for _, c := range []struct {
		person lintel.Person
		client lintel.Client
	}{
		{lintel.Person{ID: lintel.NewID()}, app},
		{h.owner, lintel.Client{ID: "nobody"}},
		{disabled, app},
		{h.owner, gone},
	} {
		g, code := newConsent(c.person, c.client)
		wantCode(t, h.AddCode(t.Context(), g, code), lintel.CodeNotFound)
		_, _, err := h.Code(t.Context(), code.Hash)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

// addCodeAtomic adds a code twice: the second consent may not stay without it.
func addCodeAtomic(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	first, code := h.consent(t, h.owner, app)
	second, other := newConsent(h.owner, app)
	wantCode(t, h.AddCode(t.Context(), second, code), lintel.CodeInternal)
	_, got, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, got, first)
	must(t, h.AddCode(t.Context(), second, other)) // its ID is free
}

func codeUnknown(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	for _, hash := range []string{"", "x", f.RefreshHash, f.AccessHash} {
		_, _, err := h.Code(t.Context(), hash)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

func refreshTokenReads(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	got, g, err := h.RefreshToken(t.Context(), f.RefreshHash)
	must(t, err)
	equal(t, got, lintel.RefreshToken{Hash: f.RefreshHash, ExpiresAt: f.RefreshExpiresAt})
	equal(t, g, f.consent)
}

func refreshTokenUnknown(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	for _, hash := range []string{"", "x", f.code.Hash, f.AccessHash} {
		_, _, err := h.RefreshToken(t.Context(), hash)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

func (h *house) grants(t *testing.T, p lintel.Person, now time.Time) []store.GrantListed {
	t.Helper()
	list, err := h.Grants(t.Context(), p.ID, now)
	must(t, err)
	return list
}

func grants(t *testing.T, h *house) {
	shop, phone := h.addClient(t, newClient("shop")), newPublicClient("phone")
	phone.Name = "Phone"
	h.addClient(t, phone)
	other := h.addPerson(t, "other@example.org")
	older, theirs := h.family(t, h.owner, shop), h.family(t, other, shop)
	newer, code := newConsent(h.owner, phone)
	newer.CreatedAt, newer.LastUsedAt = epoch.Add(time.Millisecond), epoch.Add(time.Millisecond)
	newer.Scopes = lintel.ScopeRead
	must(t, h.AddCode(t.Context(), newer, code))
	waiting := store.GrantListed{Grant: newer, ClientName: "Phone"} // its code is not redeemed yet
	equal(t, h.grants(t, h.owner, epoch), []store.GrantListed{waiting, {Grant: older.consent, ClientName: shop.Name}})
	equal(t, h.grants(t, h.owner, code.ExpiresAt), []store.GrantListed{{Grant: older.consent, ClientName: shop.Name}})
	issue := newIssue(epoch.Add(time.Second))
	issue.AccessScopes = lintel.ScopeRead
	equal(t, h.redeem(t, code, issue), lintel.Redeemed)
	newer.LastUsedAt = issue.At
	equal(t, h.grants(t, h.owner, epoch.Add(time.Second)), []store.GrantListed{
		{Grant: newer, ClientName: "Phone"}, {Grant: older.consent, ClientName: shop.Name},
	})
	equal(t, h.grants(t, other, epoch), []store.GrantListed{{Grant: theirs.consent, ClientName: shop.Name}})
	equal(t, h.grants(t, lintel.Person{ID: lintel.NewID()}, epoch), nil)
}

func grantsOver(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	f := h.family(t, h.owner, app)
	listed := func(now time.Time) bool { return len(h.grants(t, h.owner, now)) == 1 }
	equal(t, listed(f.RefreshExpiresAt.Add(-time.Millisecond)), true)
	equal(t, listed(f.RefreshExpiresAt), false)
	next := newIssue(epoch)
	next.RefreshExpiresAt = f.consent.ExpiresAt.Add(time.Hour)
	equal(t, h.refresh(t, f.RefreshHash, strict, next), lintel.Redeemed)
	equal(t, listed(f.RefreshExpiresAt), true)
	equal(t, listed(f.consent.ExpiresAt.Add(-time.Millisecond)), true)
	equal(t, listed(f.consent.ExpiresAt), false)
	must(t, h.RevokeGrant(t.Context(), f.consent.ID, "test", epoch))
	equal(t, listed(epoch), false)
	next = newIssue(epoch) // over before the one that it was given for
	next.RefreshExpiresAt = moment(1)
	equal(t, h.refresh(t, h.family(t, h.owner, app).RefreshHash, strict, next), lintel.Redeemed)
	equal(t, listed(epoch), true)
	equal(t, listed(moment(1)), false)
}

// revokedFor reads what only the log will read.
func (h *house) revokedFor(t *testing.T, grant lintel.ID) (why string) {
	t.Helper()
	must(t, h.engine.Reader().QueryRow(`SELECT revoked_for FROM grants WHERE id = $1`, string(grant)).Scan(&why))
	return why
}

func revokeGrant(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	ended, kept := h.family(t, h.owner, app), h.family(t, h.owner, app)
	second := newIssue(epoch.Add(time.Second))
	equal(t, h.refresh(t, ended.RefreshHash, strict, second), lintel.Redeemed)
	unused, code := h.consent(t, h.owner, app)
	equal(t, h.usable(t, ended.AccessHash), true)
	equal(t, h.usable(t, second.AccessHash), true)
	now := epoch.Add(time.Minute)
	must(t, h.RevokeGrant(t.Context(), ended.consent.ID, "test", now))
	must(t, h.RevokeGrant(t.Context(), unused.ID, "test", now))

	who, err := h.Subject(t.Context(), ended.AccessHash)
	must(t, err)
	equal(t, who.Revoked, true)
	equal(t, h.usable(t, ended.AccessHash), false)
	equal(t, h.usable(t, second.AccessHash), false)
	equal(t, h.refresh(t, second.RefreshHash, strict, newIssue(now)), lintel.Refused)
	equal(t, h.redeem(t, code, newIssue(epoch)), lintel.Refused)
	ended.consent.LastUsedAt, ended.consent.RevokedAt = second.At, now
	equal(t, h.grant(t, ended), ended.consent)
	equal(t, h.revokedFor(t, ended.consent.ID), "test")
	equal(t, h.grant(t, kept), kept.consent)
	equal(t, h.usable(t, kept.AccessHash), true)
	equal(t, h.usable(t, h.token.Hash), true)
}

func revokeGrantAgain(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	must(t, h.RevokeGrant(t.Context(), f.consent.ID, "first", epoch.Add(time.Second)))
	must(t, h.RevokeGrant(t.Context(), f.consent.ID, "second", epoch.Add(time.Hour)))
	must(t, h.EndGrant(t.Context(), h.owner.ID, f.consent.ID, epoch.Add(time.Hour)))
	equal(t, h.grant(t, f).RevokedAt, epoch.Add(time.Second))
	equal(t, h.revokedFor(t, f.consent.ID), "first")
}

func revokeGrantUnknown(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	for _, id := range []lintel.ID{"", lintel.NewID(), h.owner.ID} {
		wantCode(t, h.RevokeGrant(t.Context(), id, "test", epoch), lintel.CodeNotFound)
	}
	equal(t, h.grant(t, f), f.consent)
}

func endGrant(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	ended, second, kept := h.family(t, h.owner, app), h.family(t, h.owner, app), h.family(t, h.owner, h.addClient(t, newClient("another")))
	theirs := h.family(t, h.addPerson(t, "other@example.org"), app)
	now := epoch.Add(time.Minute)
	must(t, h.EndGrant(t.Context(), h.owner.ID, ended.consent.ID, now))
	equal(t, h.grant(t, ended).RevokedAt, now)
	equal(t, h.revokedFor(t, ended.consent.ID), "ended by the person")
	equal(t, h.usable(t, ended.AccessHash), false)
	equal(t, h.usable(t, second.AccessHash), false)
	equal(t, h.grant(t, kept), kept.consent)
	equal(t, h.usable(t, kept.AccessHash), true)
	equal(t, h.grant(t, theirs), theirs.consent)
	_, approved := h.approved(t, commandLine)
	equal(t, len(h.grants(t, h.owner, epoch)), 2) // before it has polled
	must(t, h.EndGrant(t.Context(), h.owner.ID, approved.ID, now))
	equal(t, h.grants(t, h.owner, epoch), []store.GrantListed{{Grant: kept.consent, ClientName: "Home app"}})
}

func endGrantRefused(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	for _, person := range []lintel.ID{other.ID, lintel.NewID(), ""} {
		wantCode(t, h.EndGrant(t.Context(), person, f.consent.ID, epoch), lintel.CodeNotFound)
	}
	wantCode(t, h.EndGrant(t.Context(), h.owner.ID, lintel.NewID(), epoch), lintel.CodeNotFound)
	equal(t, h.grant(t, f), f.consent)
	equal(t, h.usable(t, f.AccessHash), true)
}
