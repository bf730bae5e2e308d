package storetest

import (
	"testing"
	"time"

	"lintel"
)

var signInCases = []testCase{
	{"AnyPerson", "knows whether there is an account at all", anyPerson},
	{"Person", "finds by id", person},
	{"Person", "an unknown one is not found", personUnknown},
	{"PasswordHash", "reads one person's", passwordHash},
	{"PasswordHash", "an unknown person is not found", passwordHashUnknown},
	{"ChangePassword", "ends all but the session that did it", changePassword},
	{"ChangePassword", "may keep no session", changePasswordKeepsNone},
	{"ResetPassword", "ends everything that reaches the account", resetPassword},
	{"ChangePassword", "an unknown person is not found, and nothing ends", changePasswordUnknown},
	{"DisablePerson", "ends everything of one person", disablePerson},
	{"DisablePerson", "again keeps the first time", disablePersonAgain},
	{"EnablePerson", "does not bring back what was ended", enablePerson},
	{"AddPasskey", "stores what was given", addPasskeyStores},
	{"AddPasskey", "a stored one is a conflict, whoever's it is", addPasskeyTaken},
	{"AddPasskey", "an unknown person is refused", addPasskeyUnknown},
	{"Passkeys", "lists one person's, oldest first", passkeys},
	{"UsePasskey", "notes when, and what its authenticator says", usePasskey},
	{"UsePasskey", "an unknown one is not found", usePasskeyUnknown},
	{"RemovePasskey", "removes that one only", removePasskey},
	{"RemovePasskey", "an unknown one, and somebody else's, is not found", removePasskeyRefused},
	{"SetRecoveryCodes", "replaces one person's", setRecoveryCodes},
	{"SetRecoveryCodes", "is all or nothing", setRecoveryCodesAtomic},
	{"SetRecoveryCodes", "an unknown person is not found", setRecoveryCodesUnknown},
	{"UseRecoveryCode", "spends a person's own, once", useRecoveryCode},
	{"RecoveryCodes", "counts what one person has left", recoveryCodes},
}

func anyPerson(t *testing.T, h *house) {
	h.addPerson(t, "other@example.org")
	for _, want := range []bool{true, false} {
		got, err := h.AnyPerson(t.Context())
		must(t, err)
		equal(t, got, want)
		h.raw(t, `DELETE FROM people`)
	}
}

func (h *house) person(t *testing.T, id lintel.ID) lintel.Person {
	t.Helper()
	p, err := h.Person(t.Context(), id)
	must(t, err)
	return p
}

func person(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	h.disable(t, other)
	equal(t, h.person(t, h.owner.ID), h.owner)
	other.DisabledAt = epoch
	equal(t, h.person(t, other.ID), other)
}

func personUnknown(t *testing.T, h *house) {
	for _, id := range []lintel.ID{"", lintel.NewID(), h.token.ID} {
		_, err := h.Person(t.Context(), id)
		wantCode(t, err, lintel.CodeNotFound)
	}
}

func passwordHash(t *testing.T, h *house) {
	none := lintel.Person{ID: lintel.NewID(), Email: "none@example.org", CreatedAt: epoch}
	must(t, h.AddPerson(t.Context(), none, ""))
	equal(t, h.password(t, h.owner), "hash")
	equal(t, h.password(t, none), "")
}

func passwordHashUnknown(t *testing.T, h *house) {
	_, err := h.PasswordHash(t.Context(), lintel.NewID())
	wantCode(t, err, lintel.CodeNotFound)
}

// life is all that can act for a person.
type life struct {
	person   lintel.Person
	family   family
	unused   lintel.AuthorizationCode // of another grant
	device   lintel.DeviceCode        // approved
	token    string
	session  lintel.Session
	sessions []string // by their hashes; the first is session's
	browser  string
}

// live gives a person who has a house one of everything.
func (h *house) live(t *testing.T, client string) life {
	t.Helper()
	l := life{person: h.owner, token: h.token.Hash, browser: "browser of " + string(h.owner.ID)}
	app := h.addClient(t, newClient(client))
	l.family = h.family(t, h.owner, app)
	_, l.unused = h.consent(t, h.owner, app)
	l.device, _ = h.approved(t, app)
	var first, second string
	l.session, first = h.addSession(t, h.owner)
	_, second = h.addSession(t, h.owner)
	l.sessions = []string{first, second}
	must(t, h.AddKnownBrowser(t.Context(), h.owner.ID, l.browser, epoch.Add(time.Hour)))
	return l
}

// wantEnded holds that nothing acts for a person any more but kept sessions.
func (h *house) wantEnded(t *testing.T, l life, kept int, why string, now time.Time) {
	t.Helper()
	h.wantRevoked(t, l.family, why, now)
	equal(t, h.grant(t, family{code: l.unused}).RevokedAt, now)
	equal(t, h.refresh(t, l.family.RefreshHash, strict, newIssue(now)), lintel.Refused)
	equal(t, h.redeem(t, l.unused, newIssue(epoch)), lintel.Refused)
	equal(t, h.redeemDevice(t, l.device, newIssue(epoch)), lintel.Refused)
	equal(t, h.usable(t, l.token), false)
	equal(t, h.tokens(t, l.person)[0].RevokedAt, now)
	equal(t, h.grants(t, l.person, epoch), nil)
	for _, hash := range l.sessions[kept:] {
		h.wantNoSession(t, hash, ever, epoch)
	}
	equal(t, len(h.sessions(t, l.person, ever, epoch)), kept)
	equal(t, h.known(t, l.person, l.browser, epoch), false)
}

// wantUntouched holds that everything still acts for a person.
func (h *house) wantUntouched(t *testing.T, l life) {
	t.Helper()
	equal(t, h.person(t, l.person.ID), l.person)
	equal(t, h.password(t, l.person), "hash")
	equal(t, h.grant(t, l.family), l.family.consent)
	equal(t, h.usable(t, l.family.AccessHash), true)
	equal(t, h.usable(t, l.token), true)
	h.wantSession(t, l.sessions[0], l.session, l.person)
	equal(t, len(h.sessions(t, l.person, ever, epoch)), 2)
	equal(t, h.known(t, l.person, l.browser, epoch), true)
	equal(t, h.redeemDevice(t, l.device, newIssue(epoch)), lintel.Redeemed)
	equal(t, h.redeem(t, l.unused, newIssue(epoch)), lintel.Redeemed)
}

func resetPassword(t *testing.T, h *house) {
	other := h.neighbour(t)
	mine, theirs := h.live(t, "mine"), other.live(t, "theirs")
	for _, p := range []lintel.Person{h.owner, other.owner} {
		must(t, h.AddPasskey(t.Context(), lintel.Passkey{ID: lintel.NewID(), PersonID: p.ID, CredentialID: "of " + p.Email, Credential: "{}", CreatedAt: epoch}))
		must(t, h.SetRecoveryCodes(t.Context(), p.ID, []string{"code of " + p.Email}))
	}
	now := epoch.Add(time.Minute)
	must(t, h.ResetPassword(t.Context(), h.owner.ID, "new hash", now))
	equal(t, h.password(t, h.owner), "new hash")
	h.wantEnded(t, mine, 0, "password reset", now)
	other.wantUntouched(t, theirs)
	for p, want := range map[lintel.ID]int{h.owner.ID: 0, other.owner.ID: 1} {
		left, err := h.RecoveryCodes(t.Context(), p)
		must(t, err)
		passkeys, err := h.Passkeys(t.Context(), p)
		must(t, err)
		equal(t, left, want)
		equal(t, len(passkeys), want)
	}
	wantCode(t, h.ResetPassword(t.Context(), lintel.NewID(), "new hash", epoch), lintel.CodeNotFound)
}

func changePassword(t *testing.T, h *house) {
	other := h.neighbour(t)
	mine, theirs := h.live(t, "mine"), other.live(t, "theirs")
	now := epoch.Add(time.Minute)
	must(t, h.ChangePassword(t.Context(), h.owner.ID, "new hash", mine.session.ID, now))
	equal(t, h.password(t, h.owner), "new hash")
	h.wantEnded(t, mine, 1, "password changed", now)
	h.wantSession(t, mine.sessions[0], mine.session, h.owner)
	other.wantUntouched(t, theirs)
	equal(t, h.usable(t, h.addToken(t, h.owner, allScopes).Hash), true)
	equal(t, h.usable(t, h.family(t, h.owner, h.client(t, "mine")).AccessHash), true)
}

// changePasswordKeepsNone also where the session to be kept is somebody else's.
func changePasswordKeepsNone(t *testing.T, h *house) {
	other := h.neighbour(t)
	mine, theirs := h.live(t, "mine"), other.live(t, "theirs")
	must(t, h.ChangePassword(t.Context(), h.owner.ID, "new hash", "", epoch))
	h.wantEnded(t, mine, 0, "password changed", epoch)
	must(t, h.ChangePassword(t.Context(), other.owner.ID, "new hash", mine.session.ID, epoch))
	other.wantEnded(t, theirs, 0, "password changed", epoch)
}

func changePasswordUnknown(t *testing.T, h *house) {
	mine := h.live(t, "mine")
	wantCode(t, h.ChangePassword(t.Context(), lintel.NewID(), "new hash", "", epoch), lintel.CodeNotFound)
	h.wantUntouched(t, mine)
}

func disablePerson(t *testing.T, h *house) {
	other := h.neighbour(t)
	mine, theirs := h.live(t, "mine"), other.live(t, "theirs")
	now := epoch.Add(time.Minute)
	must(t, h.DisablePerson(t.Context(), h.owner.ID, now))
	h.wantEnded(t, mine, 0, "account disabled", now)
	mine.person.DisabledAt = now
	equal(t, h.person(t, h.owner.ID), mine.person)
	equal(t, h.password(t, h.owner), "hash")
	other.wantUntouched(t, theirs)
}

func disablePersonAgain(t *testing.T, h *house) {
	mine := h.live(t, "mine")
	must(t, h.DisablePerson(t.Context(), h.owner.ID, epoch))
	must(t, h.DisablePerson(t.Context(), h.owner.ID, epoch.Add(time.Hour)))
	equal(t, h.person(t, h.owner.ID).DisabledAt, epoch)
	h.wantEnded(t, mine, 0, "account disabled", epoch)
	wantCode(t, h.DisablePerson(t.Context(), lintel.NewID(), epoch), lintel.CodeNotFound)
}

func enablePerson(t *testing.T, h *house) {
	mine := h.live(t, "mine")
	must(t, h.DisablePerson(t.Context(), h.owner.ID, epoch))
	must(t, h.EnablePerson(t.Context(), h.owner.ID))
	equal(t, h.person(t, h.owner.ID), h.owner)
	h.wantEnded(t, mine, 0, "account disabled", epoch)
	equal(t, h.usable(t, h.family(t, h.owner, h.client(t, "mine")).AccessHash), true)
	n, hash := h.addSession(t, h.owner)
	h.wantSession(t, hash, n, h.owner)
	must(t, h.EnablePerson(t.Context(), h.owner.ID)) // again
	wantCode(t, h.EnablePerson(t.Context(), lintel.NewID()), lintel.CodeNotFound)
}

func newPasskey(p lintel.Person) lintel.Passkey {
	id := lintel.NewID()
	return lintel.Passkey{
		ID: id, PersonID: p.ID, CredentialID: "credential " + string(id), Credential: `{"publicKey":"☂"}`, Name: "Phone",
		CreatedAt: epoch,
	}
}

func (h *house) addPasskey(t *testing.T, p lintel.Person) lintel.Passkey {
	t.Helper()
	k := newPasskey(p)
	must(t, h.AddPasskey(t.Context(), k))
	return k
}

func (h *house) passkeys(t *testing.T, p lintel.Person) []lintel.Passkey {
	t.Helper()
	list, err := h.Passkeys(t.Context(), p.ID)
	must(t, err)
	return list
}

func addPasskeyStores(t *testing.T, h *house) {
	equal(t, h.passkeys(t, h.owner), nil)
	k := h.addPasskey(t, h.owner)
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{k})
}

func addPasskeyTaken(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	k := h.addPasskey(t, h.owner)
	for _, p := range []lintel.Person{h.owner, other} {
		again := newPasskey(p)
		again.CredentialID = k.CredentialID
		wantCode(t, h.AddPasskey(t.Context(), again), lintel.CodeConflict)
	}
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{k})
	equal(t, h.passkeys(t, other), nil)
}

func addPasskeyUnknown(t *testing.T, h *house) {
	wantCode(t, h.AddPasskey(t.Context(), newPasskey(lintel.Person{ID: lintel.NewID()})), lintel.CodeInternal)
}

func passkeys(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	theirs, newer, older := h.addPasskey(t, other), newPasskey(h.owner), newPasskey(h.owner)
	older.CreatedAt = epoch.Add(-time.Millisecond)
	must(t, h.AddPasskey(t.Context(), newer))
	must(t, h.AddPasskey(t.Context(), older))
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{older, newer})
	equal(t, h.passkeys(t, other), []lintel.Passkey{theirs})
	equal(t, h.passkeys(t, lintel.Person{ID: lintel.NewID()}), nil)
}

func usePasskey(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	used, theirs := h.addPasskey(t, h.owner), h.addPasskey(t, other)
	used.Credential, used.LastUsedAt = `{"counter":2}`, epoch.Add(time.Hour)
	must(t, h.UsePasskey(t.Context(), used.ID, used.Credential, used.LastUsedAt))
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{used})
	equal(t, h.passkeys(t, other), []lintel.Passkey{theirs})
}

func usePasskeyUnknown(t *testing.T, h *house) {
	k := h.addPasskey(t, h.owner)
	wantCode(t, h.UsePasskey(t.Context(), lintel.NewID(), "{}", epoch), lintel.CodeNotFound)
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{k})
}

func removePasskey(t *testing.T, h *house) {
	gone, kept := h.addPasskey(t, h.owner), h.addPasskey(t, h.owner)
	must(t, h.RemovePasskey(t.Context(), h.owner.ID, gone.ID))
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{kept})
	wantCode(t, h.RemovePasskey(t.Context(), h.owner.ID, gone.ID), lintel.CodeNotFound)
}

func removePasskeyRefused(t *testing.T, h *house) {
	k := h.addPasskey(t, h.owner)
	other := h.addPerson(t, "other@example.org")
	for _, person := range []lintel.ID{other.ID, lintel.NewID(), ""} {
		wantCode(t, h.RemovePasskey(t.Context(), person, k.ID), lintel.CodeNotFound)
	}
	wantCode(t, h.RemovePasskey(t.Context(), h.owner.ID, lintel.NewID()), lintel.CodeNotFound)
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{k})
}

func (h *house) setRecoveryCodes(t *testing.T, p lintel.Person, hashes ...string) {
	t.Helper()
	must(t, h.SetRecoveryCodes(t.Context(), p.ID, hashes))
}

func (h *house) recoveryCodesLeft(t *testing.T, p lintel.Person) int {
	t.Helper()
	n, err := h.RecoveryCodes(t.Context(), p.ID)
	must(t, err)
	return n
}

func setRecoveryCodes(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	h.setRecoveryCodes(t, other, "theirs")
	h.setRecoveryCodes(t, h.owner, "a", "b", "c")
	h.setRecoveryCodes(t, h.owner, "c", "d")
	equal(t, h.recoveryCodesLeft(t, h.owner), 2)
	wantCode(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "a"), lintel.CodeNotFound)
	must(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "d"))
	h.setRecoveryCodes(t, h.owner)
	equal(t, h.recoveryCodesLeft(t, h.owner), 0)
	equal(t, h.recoveryCodesLeft(t, other), 1)
}

// setRecoveryCodesAtomic has one that is taken: then the old ones stay.
func setRecoveryCodesAtomic(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	h.setRecoveryCodes(t, other, "theirs")
	h.setRecoveryCodes(t, h.owner, "a", "b")
	wantCode(t, h.SetRecoveryCodes(t.Context(), h.owner.ID, []string{"c", "theirs"}), lintel.CodeInternal)
	equal(t, h.recoveryCodesLeft(t, h.owner), 2)
	must(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "a"))
	wantCode(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "c"), lintel.CodeNotFound)
	must(t, h.UseRecoveryCode(t.Context(), other.ID, "theirs"))
}

func setRecoveryCodesUnknown(t *testing.T, h *house) {
	nobody := lintel.Person{ID: lintel.NewID()}
	wantCode(t, h.SetRecoveryCodes(t.Context(), nobody.ID, []string{"a"}), lintel.CodeNotFound)
	equal(t, h.recoveryCodesLeft(t, nobody), 0)
}

func useRecoveryCode(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	h.setRecoveryCodes(t, h.owner, "a", "b")
	for _, person := range []lintel.ID{other.ID, lintel.NewID(), ""} {
		wantCode(t, h.UseRecoveryCode(t.Context(), person, "a"), lintel.CodeNotFound)
	}
	must(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "a"))
	wantCode(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "a"), lintel.CodeNotFound)
	wantCode(t, h.UseRecoveryCode(t.Context(), h.owner.ID, ""), lintel.CodeNotFound)
	must(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "b"))
}

func recoveryCodes(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	equal(t, h.recoveryCodesLeft(t, h.owner), 0)
	h.setRecoveryCodes(t, h.owner, "a", "b", "c")
	h.setRecoveryCodes(t, other, "d")
	must(t, h.UseRecoveryCode(t.Context(), h.owner.ID, "b"))
	equal(t, h.recoveryCodesLeft(t, h.owner), 2)
	equal(t, h.recoveryCodesLeft(t, other), 1)
}
