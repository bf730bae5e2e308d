package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

var sessionCases = []testCase{
	{"AddSession", "stores what was given", addSessionStores},
	{"RenewSession", "the secret before is of none", renewSession},
	{"AddSession", "a hash is stored once", addSessionTwice},
	{"AddSession", "an unknown person or method is refused", addSessionRefused},
	{"Session", "one that is over, idle or of a disabled person is not found", sessionOver},
	{"Sessions", "lists one person's in use, newest first", sessions},
	{"TouchSession", "keeps one in use", touchSession},
	{"TouchSession", "an ended one is not found", touchSessionEnded},
	{"SignOut", "ends that session only", signOut},
	{"SignOut", "an unknown one, and somebody else's, is not found", signOutRefused},
	{"SignOutOthers", "ends all of one person's but one", signOutOthers},
	{"AddKnownBrowser", "a hash is stored once", addBrowserTwice},
	{"KnownBrowser", "knows a person's own until it expires", knownBrowser},
}

func newSession(p lintel.Person) lintel.Session {
	return lintel.Session{
		ID: lintel.NewID(), PersonID: p.ID, Method: lintel.ByPassword, UserAgent: "Browser/1.0 (\"☂\"; --)", Address: "192.0.2.1",
		CreatedAt: epoch, LastSeenAt: epoch, ExpiresAt: epoch.Add(24 * time.Hour),
	}
}

// addSession signs a person in, and returns the hash of the session's secret.
func (h *house) addSession(t *testing.T, p lintel.Person) (lintel.Session, string) {
	t.Helper()
	n, hash := newSession(p), secret.Hash(secret.New(secret.Session))
	must(t, h.AddSession(t.Context(), n, hash))
	return n, hash
}

// ever is a time before which nothing was seen.
var ever = epoch.Add(-time.Hour)

func (h *house) wantSession(t *testing.T, hash string, want lintel.Session, p lintel.Person) {
	t.Helper()
	n, who, err := h.Session(t.Context(), hash, ever, epoch)
	must(t, err)
	equal(t, n, want)
	equal(t, who, p)
}

func (h *house) wantNoSession(t *testing.T, hash string, seenSince, now time.Time) {
	t.Helper()
	_, _, err := h.Session(t.Context(), hash, seenSince, now)
	wantCode(t, err, lintel.CodeNotFound)
}

func (h *house) sessions(t *testing.T, p lintel.Person, seenSince, now time.Time) []lintel.Session {
	t.Helper()
	list, err := h.Sessions(t.Context(), p.ID, seenSince, now)
	must(t, err)
	return list
}

func addSessionStores(t *testing.T, h *house) {
	h.addSession(t, h.addPerson(t, "other@example.org"))
	for i, method := range []lintel.SignInMethod{lintel.ByPassword, lintel.ByPasskey, lintel.ByRecovery, lintel.BySetup} {
		n := newSession(h.owner)
		n.Method, n.LastSeenAt = method, moment(i)
		must(t, h.AddSession(t.Context(), n, string(method)))
		h.wantSession(t, string(method), n, h.owner)
	}
}

func renewSession(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	_, other := h.addSession(t, h.owner)
	must(t, h.RenewSession(t.Context(), n.ID, "renewed"))
	h.wantNoSession(t, hash, ever, epoch)
	h.wantSession(t, "renewed", n, h.owner)
	_, _, err := h.Session(t.Context(), other, ever, epoch)
	must(t, err)
	wantCode(t, h.RenewSession(t.Context(), lintel.NewID(), "x"), lintel.CodeNotFound)
	wantCode(t, h.RenewSession(t.Context(), n.ID, other), lintel.CodeInternal)
}

func addSessionTwice(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	wantCode(t, h.AddSession(t.Context(), newSession(h.addPerson(t, "other@example.org")), hash), lintel.CodeInternal)
	h.wantSession(t, hash, n, h.owner)
}

func addSessionRefused(t *testing.T, h *house) {
	wantCode(t, h.AddSession(t.Context(), newSession(lintel.Person{ID: lintel.NewID()}), "a"), lintel.CodeNotFound)
	disabled := h.addPerson(t, "disabled@example.org")
	h.disable(t, disabled)
	wantCode(t, h.AddSession(t.Context(), newSession(disabled), "c"), lintel.CodeNotFound)
	n := newSession(h.owner)
	n.Method = "guess"
	wantCode(t, h.AddSession(t.Context(), n, "b"), lintel.CodeInternal)
	equal(t, h.sessions(t, h.owner, ever, epoch), nil)
}

func sessionOver(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	h.wantNoSession(t, "", ever, epoch)
	h.wantNoSession(t, string(n.ID), ever, epoch)
	h.wantNoSession(t, hash, ever, n.ExpiresAt)
	h.wantNoSession(t, hash, n.LastSeenAt, epoch)
	_, _, err := h.Session(t.Context(), hash, n.LastSeenAt.Add(-time.Millisecond), n.ExpiresAt.Add(-time.Millisecond))
	must(t, err)
	h.disable(t, h.owner)
	h.wantNoSession(t, hash, ever, epoch)
}

func sessions(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	theirs, _ := h.addSession(t, other)
	older, _ := h.addSession(t, h.owner)
	newer := newSession(h.owner)
	newer.CreatedAt, newer.LastSeenAt, newer.ExpiresAt = epoch.Add(time.Millisecond), epoch.Add(time.Hour), epoch.Add(2*time.Hour)
	must(t, h.AddSession(t.Context(), newer, "newer"))
	equal(t, h.sessions(t, h.owner, ever, epoch), []lintel.Session{newer, older})
	equal(t, h.sessions(t, h.owner, epoch, epoch), []lintel.Session{newer})          // the older is idle
	equal(t, h.sessions(t, h.owner, ever, newer.ExpiresAt), []lintel.Session{older}) // the newer is over
	equal(t, h.sessions(t, other, ever, epoch), []lintel.Session{theirs})
	equal(t, h.sessions(t, lintel.Person{ID: lintel.NewID()}, ever, epoch), nil)
}

func touchSession(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	other, otherHash := h.addSession(t, h.owner)
	n.LastSeenAt = epoch.Add(time.Hour)
	must(t, h.TouchSession(t.Context(), n.ID, n.LastSeenAt))
	h.wantSession(t, hash, n, h.owner)
	h.wantSession(t, otherHash, other, h.owner)
}

func touchSessionEnded(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	must(t, h.SignOut(t.Context(), h.owner.ID, n.ID))
	wantCode(t, h.TouchSession(t.Context(), n.ID, epoch), lintel.CodeNotFound)
	wantCode(t, h.TouchSession(t.Context(), lintel.NewID(), epoch), lintel.CodeNotFound)
	h.wantNoSession(t, hash, ever, epoch)
}

func signOut(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	kept, keptHash := h.addSession(t, h.owner)
	must(t, h.SignOut(t.Context(), h.owner.ID, n.ID))
	h.wantNoSession(t, hash, ever, epoch)
	h.wantSession(t, keptHash, kept, h.owner)
}

func signOutRefused(t *testing.T, h *house) {
	n, hash := h.addSession(t, h.owner)
	other := h.addPerson(t, "other@example.org")
	for _, person := range []lintel.ID{other.ID, lintel.NewID(), ""} {
		wantCode(t, h.SignOut(t.Context(), person, n.ID), lintel.CodeNotFound)
	}
	wantCode(t, h.SignOut(t.Context(), h.owner.ID, lintel.NewID()), lintel.CodeNotFound)
	h.wantSession(t, hash, n, h.owner)
}

func signOutOthers(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	theirs, theirHash := h.addSession(t, other)
	kept, keptHash := h.addSession(t, h.owner)
	h.addSession(t, h.owner)
	h.addSession(t, h.owner)
	ended := func(person, keep lintel.ID, want int64) {
		t.Helper()
		n, err := h.SignOutOthers(t.Context(), person, keep)
		must(t, err)
		equal(t, n, want)
	}
	ended(h.owner.ID, kept.ID, 2)
	ended(h.owner.ID, kept.ID, 0)
	h.wantSession(t, keptHash, kept, h.owner)
	ended(h.owner.ID, theirs.ID, 1) // somebody else's is no reason to keep anything
	ended(lintel.NewID(), "", 0)
	h.wantSession(t, theirHash, theirs, other)
	ended(other.ID, "", 1)
}

func (h *house) known(t *testing.T, p lintel.Person, hash string, now time.Time) bool {
	t.Helper()
	known, err := h.KnownBrowser(t.Context(), p.ID, hash, now)
	must(t, err)
	return known
}

func addBrowserTwice(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	must(t, h.AddKnownBrowser(t.Context(), h.owner.ID, "browser", epoch.Add(time.Hour)))
	wantCode(t, h.AddKnownBrowser(t.Context(), other.ID, "browser", epoch.Add(time.Hour)), lintel.CodeInternal)
	wantCode(t, h.AddKnownBrowser(t.Context(), lintel.NewID(), "another", epoch.Add(time.Hour)), lintel.CodeInternal)
	equal(t, h.known(t, h.owner, "browser", epoch), true)
	equal(t, h.known(t, other, "browser", epoch), false)
}

func knownBrowser(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	expires := epoch.Add(time.Hour)
	must(t, h.AddKnownBrowser(t.Context(), h.owner.ID, "browser", expires))
	must(t, h.AddKnownBrowser(t.Context(), h.owner.ID, "another", expires))
	equal(t, h.known(t, h.owner, "browser", expires.Add(-time.Millisecond)), true)
	equal(t, h.known(t, h.owner, "browser", expires), false)
	equal(t, h.known(t, other, "browser", epoch), false)
	equal(t, h.known(t, h.owner, "", epoch), false)
	equal(t, h.known(t, h.owner, "x", epoch), false)
}
