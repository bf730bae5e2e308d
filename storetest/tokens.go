package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/store"
)

var tokenCases = []testCase{
	{"AddToken", "a hash is stored once", addTokenTwice},
	{"AddToken", "an unknown person is refused", addTokenUnknown},
	{"Tokens", "lists one person's, newest first", tokens},
	{"Tokens", "leaves out what apps were given", tokensOfApps},
	{"RevokeToken", "by id ends that token only", revokeByID},
	{"RevokeToken", "by hash ends that token only", revokeByHash},
	{"RevokeToken", "again keeps the first time", revokeAgain},
	{"RevokeToken", "an unknown one is not found", revokeUnknown},
	{"RevokeToken", "ends one token of a grant, not the others", revokeOfGrant},
	{"EndToken", "is revoking by its person", endToken},
	{"EndToken", "again keeps the first time", endTokenAgain},
	{"EndToken", "an unknown one, and somebody else's, is not found", endTokenRefused},
}

func addTokenTwice(t *testing.T, h *house) {
	again := newToken(h.owner, allScopes)
	again.Hash = h.token.Hash
	wantCode(t, h.AddToken(t.Context(), again), lintel.CodeInternal)
	equal(t, h.tokens(t, h.owner), []store.Token{h.token})
}

func addTokenUnknown(t *testing.T, h *house) {
	nobody := lintel.Person{ID: lintel.NewID()}
	wantCode(t, h.AddToken(t.Context(), newToken(nobody, allScopes)), lintel.CodeInternal)
}

func (h *house) tokens(t *testing.T, p lintel.Person) []store.Token {
	t.Helper()
	list, err := h.Tokens(t.Context(), p.ID)
	must(t, err)
	return list
}

func tokens(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	theirs := h.addToken(t, other, lintel.ScopeOpen)
	newer := newToken(h.owner, lintel.ScopeRead)
	newer.CreatedAt = epoch.Add(time.Millisecond)
	must(t, h.AddToken(t.Context(), newer))
	equal(t, h.tokens(t, h.owner), []store.Token{newer, h.token})
	equal(t, h.tokens(t, other), []store.Token{theirs})
	equal(t, h.tokens(t, lintel.Person{ID: lintel.NewID()}), nil)
}

func tokensOfApps(t *testing.T, h *house) {
	h.family(t, h.owner, h.addClient(t, newClient("app")))
	equal(t, h.tokens(t, h.owner), []store.Token{h.token})
}

func revokeByID(t *testing.T, h *house) {
	revokes(t, h, func(token store.Token, now time.Time) error {
		return h.RevokeToken(t.Context(), token.ID, "", now)
	})
}

func revokeByHash(t *testing.T, h *house) {
	revokes(t, h, func(token store.Token, now time.Time) error {
		return h.RevokeToken(t.Context(), "", token.Hash, now)
	})
}

func revokes(t *testing.T, h *house, revoke func(store.Token, time.Time) error) {
	t.Helper()
	kept := newToken(h.owner, allScopes)
	kept.CreatedAt = epoch.Add(-time.Hour)
	must(t, h.AddToken(t.Context(), kept))
	now := epoch.Add(time.Minute)
	must(t, revoke(h.token, now))
	h.token.RevokedAt = now
	equal(t, h.tokens(t, h.owner), []store.Token{h.token, kept})
	subject, _ := h.authority(t, h.token, h.doors[0].ID)
	equal(t, subject.Revoked, true)
}

func revokeAgain(t *testing.T, h *house) {
	must(t, h.RevokeToken(t.Context(), h.token.ID, "", epoch))
	must(t, h.RevokeToken(t.Context(), "", h.token.Hash, epoch.Add(time.Hour)))
	equal(t, h.tokens(t, h.owner)[0].RevokedAt, epoch)
}

func revokeUnknown(t *testing.T, h *house) {
	wantCode(t, h.RevokeToken(t.Context(), lintel.NewID(), "", epoch), lintel.CodeNotFound)
	wantCode(t, h.RevokeToken(t.Context(), "", "no such hash", epoch), lintel.CodeNotFound)
	wantCode(t, h.RevokeToken(t.Context(), "", "", epoch), lintel.CodeNotFound)
	equal(t, h.tokens(t, h.owner)[0].RevokedAt, time.Time{})
}

func revokeOfGrant(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	next := h.refreshed(t, f.RefreshHash, strict, epoch)
	must(t, h.RevokeToken(t.Context(), "", f.AccessHash, epoch))
	equal(t, h.usable(t, f.AccessHash), false)
	equal(t, h.usable(t, next.AccessHash), true)
	equal(t, h.grant(t, f), f.consent)
}

func endToken(t *testing.T, h *house) {
	revokes(t, h, func(token store.Token, now time.Time) error {
		return h.EndToken(t.Context(), h.owner.ID, token.ID, now)
	})
}

func endTokenAgain(t *testing.T, h *house) {
	must(t, h.EndToken(t.Context(), h.owner.ID, h.token.ID, epoch))
	must(t, h.EndToken(t.Context(), h.owner.ID, h.token.ID, epoch.Add(time.Hour)))
	equal(t, h.tokens(t, h.owner)[0].RevokedAt, epoch)
}

func endTokenRefused(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	for _, person := range []lintel.ID{other.ID, lintel.NewID(), ""} {
		wantCode(t, h.EndToken(t.Context(), person, h.token.ID, epoch), lintel.CodeNotFound)
	}
	for _, id := range []lintel.ID{lintel.NewID(), ""} {
		wantCode(t, h.EndToken(t.Context(), h.owner.ID, id, epoch), lintel.CodeNotFound)
	}
	equal(t, h.tokens(t, h.owner), []store.Token{h.token})
}
