package storetest

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lintel"
)

// In these many redeem, decide or spend the same thing at once.
var grantRaceCases = []testCase{
	{"RedeemCode", "at once: one wins, and the replays revoke the grant", raceRedeemCode},
	{"RedeemRefreshToken", "at once, strict: one wins, and a replay revokes the grant", raceRefreshStrict},
	{"RedeemRefreshToken", "at once, lazy: everybody gets tokens, and one of them lives on", raceRefreshLazy},
	{"RedeemDeviceCode", "at once: one wins, and the grant stays", raceRedeemDevice},
	{"RevokeGrant", "amid redemptions: no token outlives it", raceRevokeGrant},
	{"DisableClient", "amid all that it could be granted: nothing outlives it", raceDisableClient},
	{"DisablePerson", "amid all that they could grant: nothing outlives it", raceDisablePerson},
	{"RemoveClient", "amid redemptions: nothing of it stays", raceRemoveClient},
	{"RotateClientSecret", "at once: two stay", raceRotate},
	{"ApproveDevice", "at once with others and denials: one decides", raceApprove},
	{"PollDevice", "at once: one comes in time", racePoll},
	{"AddDeviceCode", "at once: one gets the user code", raceUserCode},
	{"UseTicket", "at once: one gets it", raceTicket},
	{"UseRecoveryCode", "at once: one spends it", raceRecoveryCode},
	{"SetRecoveryCodes", "at once: one set stays", raceRecoveryCodes},
	{"AddPasskey", "at once: one registers it", racePasskey},
}

// redemptions runs do for a crowd, and returns who came to what.
func redemptions(t *testing.T, do func(i int) (lintel.Redemption, error)) map[lintel.Redemption][]int {
	t.Helper()
	outcomes := make([]lintel.Redemption, crowd)
	everybody(t, func(i int) (err error) {
		outcomes[i], err = do(i)
		return err
	})
	who := map[lintel.Redemption][]int{}
	for i, o := range outcomes {
		who[o] = append(who[o], i)
	}
	return who
}

// issues gives each of a crowd tokens of its own.
func issues() []lintel.Issue {
	var list []lintel.Issue
	for i := range crowd {
		list = append(list, newIssue(moment(i)))
	}
	return list
}

// wantOnlyIssued holds that of a crowd's tokens only the winners' are stored.
func (h *house) wantOnlyIssued(t *testing.T, list []lintel.Issue, winners []int) {
	t.Helper()
	for i, issue := range list {
		if !slices.Contains(winners, i) {
			h.wantUnissued(t, issue)
			continue
		}
		_, _, err := h.RefreshToken(t.Context(), issue.RefreshHash)
		must(t, err)
	}
}

func raceRedeemCode(t *testing.T, h *house) {
	g, code := h.consent(t, h.owner, h.addClient(t, newClient("app")))
	list := issues()
	who := redemptions(t, func(i int) (lintel.Redemption, error) {
		return h.RedeemCode(t.Context(), code.Hash, list[i])
	})
	equal(t, len(who[lintel.Redeemed]), 1)
	equal(t, len(who[lintel.Replayed]), crowd-1)
	h.wantOnlyIssued(t, list, who[lintel.Redeemed])
	won := list[who[lintel.Redeemed][0]]
	equal(t, h.usable(t, won.AccessHash), false)
	got, gotGrant, err := h.Code(t.Context(), code.Hash)
	must(t, err)
	equal(t, got.UsedAt, won.At)
	equal(t, gotGrant.RevokedAt.IsZero(), false)
	equal(t, h.revokedFor(t, g.ID), "authorization code used twice")
}

func raceRefreshStrict(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	list := issues()
	who := redemptions(t, func(i int) (lintel.Redemption, error) {
		return h.RedeemRefreshToken(t.Context(), f.RefreshHash, strict, list[i])
	})
	equal(t, len(who[lintel.Redeemed]), 1)
	equal(t, len(who[lintel.Replayed]), 1) // the others find the grant over
	equal(t, len(who[lintel.Refused]), crowd-2)
	h.wantOnlyIssued(t, list, who[lintel.Redeemed])
	equal(t, h.usable(t, list[who[lintel.Redeemed][0]].AccessHash), false)
	equal(t, h.spentAt(t, f.RefreshHash), list[who[lintel.Redeemed][0]].At)
	h.wantRevoked(t, f, "refresh token used twice", list[who[lintel.Replayed][0]].At)
}

// raceRefreshLazy asks with one token, and then with all that came of it.
func raceRefreshLazy(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	list, next := issues(), issues()
	who := redemptions(t, func(i int) (lintel.Redemption, error) {
		return h.RedeemRefreshToken(t.Context(), f.RefreshHash, lazy, list[i])
	})
	equal(t, len(who[lintel.Redeemed]), crowd)
	who = redemptions(t, func(i int) (lintel.Redemption, error) {
		return h.RedeemRefreshToken(t.Context(), list[i].RefreshHash, lazy, next[i])
	})
	equal(t, len(who[lintel.Redeemed]), 1)
	equal(t, len(who[lintel.Replayed]), 1)
	equal(t, len(who[lintel.Refused]), crowd-2)
	h.wantOnlyIssued(t, next, who[lintel.Redeemed])
	h.wantRevoked(t, f, "refresh token used twice", next[who[lintel.Replayed][0]].At)
}

func raceRedeemDevice(t *testing.T, h *house) {
	d, g := h.approved(t, commandLine)
	list := issues()
	who := redemptions(t, func(i int) (lintel.Redemption, error) {
		return h.RedeemDeviceCode(t.Context(), d.Hash, list[i])
	})
	equal(t, len(who[lintel.Redeemed]), 1)
	equal(t, len(who[lintel.Refused]), crowd-1)
	h.wantOnlyIssued(t, list, who[lintel.Redeemed])
	won := list[who[lintel.Redeemed][0]]
	equal(t, h.usable(t, won.AccessHash), true)
	g.LastUsedAt = won.At
	_, got, err := h.RefreshToken(t.Context(), won.RefreshHash)
	must(t, err)
	equal(t, got, g)
}

// refreshing redeems refresh tokens one after the other, and returns all that
// was issued. It calls late before each, and fails when one was redeemed although
// that was true.
func (h *house) refreshing(t *testing.T, hash string, late func() bool) ([]lintel.Issue, error) {
	var list []lintel.Issue
	for i := range 10 {
		issue, tooLate := newIssue(moment(i)), late()
		got, err := h.RedeemRefreshToken(t.Context(), hash, strict, issue)
		if err != nil || got != lintel.Redeemed {
			return list, err
		}
		if tooLate {
			t.Error("a token was issued after its grant had been revoked")
		}
		list, hash = append(list, issue), issue.RefreshHash
	}
	return list, nil
}

func raceRevokeGrant(t *testing.T, h *house) {
	f := h.family(t, h.owner, h.addClient(t, newClient("app")))
	starts := []string{}
	for range crowd {
		starts = append(starts, h.refreshed(t, f.RefreshHash, lazy, epoch).RefreshHash)
	}
	d, g := h.approved(t, commandLine)
	unused, code := h.consent(t, h.owner, h.client(t, "app"))
	var revoked atomic.Bool
	issued := make([][]lintel.Issue, crowd)
	everybody(t, func(i int) (err error) {
		switch i {
		case crowd / 2:
			for _, id := range []lintel.ID{f.consent.ID, g.ID, unused.ID} {
				if err := h.RevokeGrant(t.Context(), id, "test", epoch); err != nil {
					return err
				}
			}
			revoked.Store(true)
		case 0, 1:
			issued[i] = []lintel.Issue{newIssue(epoch)}
			_, err = h.RedeemDeviceCode(t.Context(), d.Hash, issued[i][0])
		case 2:
			issued[i] = []lintel.Issue{newIssue(epoch)}
			_, err = h.RedeemCode(t.Context(), code.Hash, issued[i][0])
		default:
			issued[i], err = h.refreshing(t, starts[i], revoked.Load)
		}
		return err
	})
	for _, issue := range slices.Concat(issued...) {
		equal(t, h.usable(t, issue.AccessHash), false)
		equal(t, h.refresh(t, issue.RefreshHash, strict, newIssue(epoch)) != lintel.Redeemed, true)
	}
}

// granting has a crowd consent to a client and redeem what they get for it, in
// every way, while end ends it all. It returns whatever was issued to anybody.
func (h *house) granting(t *testing.T, app lintel.Client, end func() error) []lintel.Issue {
	t.Helper()
	type start struct {
		device, approved lintel.DeviceCode
		code             lintel.AuthorizationCode
		refresh          string
	}
	starts := make([]start, crowd)
	for i := range starts {
		starts[i].device = h.addDevice(t, app)
		starts[i].approved, _ = h.approved(t, app)
		_, starts[i].code = h.consent(t, h.owner, app)
		starts[i].refresh = h.family(t, h.owner, app).RefreshHash
	}
	issued := make([][]lintel.Issue, crowd)
	together(func(i int) {
		if i == crowd/2 {
			if err := end(); err != nil {
				t.Errorf("could not end it: %v", err)
			}
			return
		}
		for range 4 {
			issued[i] = append(issued[i], newIssue(epoch))
		}
		s, list := starts[i], issued[i]
		fresh, code := newConsent(h.owner, app)
		agreed, _ := newConsent(h.owner, app)
		steps := []func() error{
			func() error { return h.AddCode(t.Context(), fresh, code) },
			func() error { return h.ApproveDevice(t.Context(), s.device.UserCodeHash, agreed, epoch) },
			func() error { _, err := h.RedeemDeviceCode(t.Context(), s.approved.Hash, list[0]); return err },
			func() error { _, err := h.RedeemCode(t.Context(), s.code.Hash, list[1]); return err },
			func() error { _, err := h.RedeemRefreshToken(t.Context(), s.refresh, strict, list[2]); return err },
			func() error { _, err := h.RedeemCode(t.Context(), code.Hash, list[3]); return err },
		}
		for n := range steps {
			step := (n + i) % len(steps) // so that each is tried at the moment
			if err := steps[step](); err != nil && lintel.CodeOf(err) != lintel.CodeNotFound {
				t.Errorf("step %d failed: %v", step, err)
			}
		}
	})
	return slices.Concat(issued...)
}

func raceDisableClient(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	list := h.granting(t, app, func() error { return h.DisableClient(t.Context(), app.ID, epoch) })
	h.wantNothingLeft(t, list)
	must(t, h.EnableClient(t.Context(), app.ID))
	h.wantNothingLeft(t, list)
}

func raceDisablePerson(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	list := h.granting(t, app, func() error { return h.DisablePerson(t.Context(), h.owner.ID, epoch) })
	h.wantNothingLeft(t, list)
	must(t, h.EnablePerson(t.Context(), h.owner.ID))
	h.wantNothingLeft(t, list)
}

func raceRemoveClient(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	list := h.granting(t, app, func() error { return h.RemoveClient(t.Context(), app.ID) })
	h.wantNothingLeft(t, list)
	for _, issue := range list {
		h.wantUnissued(t, issue)
	}
}

// wantNothingLeft holds that no grant is live and nothing that was issued is good.
func (h *house) wantNothingLeft(t *testing.T, list []lintel.Issue) {
	t.Helper()
	var live int
	must(t, h.engine.Reader().QueryRow(`SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL`).Scan(&live))
	equal(t, live, 0)
	for _, issue := range list {
		equal(t, h.usable(t, issue.AccessHash), false)
	}
}

func raceRotate(t *testing.T, h *house) {
	app := h.addClient(t, newClient("app"))
	hash := func(i int) string { return string(rune('a' + i)) }
	everybody(t, func(i int) error {
		return h.RotateClientSecret(t.Context(), app.ID, hash(i), true, epoch.Add(time.Second))
	})
	left := h.client(t, app.ID).SecretHashes
	equal(t, len(left), 2)
	must(t, h.FinishClientSecret(t.Context(), app.ID))
	equal(t, h.client(t, app.ID).SecretHashes, left[:1])
}

func raceApprove(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	grants := make([]lintel.Grant, crowd)
	won := winners(t, lintel.CodeNotFound, func(i int) error {
		if i%2 == 0 {
			return h.DenyDevice(t.Context(), d.UserCodeHash, epoch)
		}
		grants[i], _ = newConsent(h.owner, commandLine)
		return h.ApproveDevice(t.Context(), d.UserCodeHash, grants[i], epoch)
	})
	equal(t, len(won), 1)
	d.State, d.GrantID = lintel.DeviceDenied, grants[won[0]].ID
	if d.GrantID != "" {
		d.State = lintel.DeviceApproved
	}
	equal(t, h.device(t, d.Hash), d)
	var stored int
	must(t, h.engine.Reader().QueryRow(`SELECT COUNT(*) FROM grants`).Scan(&stored))
	equal(t, stored, won[0]%2) // the losers' were undone
}

func racePoll(t *testing.T, h *house) {
	d := h.addDevice(t, commandLine)
	var inTime atomic.Int64
	everybody(t, func(int) error {
		tooEarly, err := h.PollDevice(t.Context(), d.Hash, epoch)
		if err == nil && !tooEarly {
			inTime.Add(1)
		}
		return err
	})
	equal(t, inTime.Load(), 1)
	equal(t, h.device(t, d.Hash).Pause, crowd*5*time.Second) // the first pause, and one for each other
}

func raceUserCode(t *testing.T, h *house) {
	list := make([]lintel.DeviceCode, crowd)
	for i := range list {
		list[i] = newDevice(commandLine)
		list[i].UserCodeHash = "same"
	}
	won := winners(t, lintel.CodeConflict, func(i int) error { return h.AddDeviceCode(t.Context(), list[i]) })
	equal(t, len(won), 1)
	got, err := h.DeviceByUserCode(t.Context(), "same")
	must(t, err)
	equal(t, got, list[won[0]])
}

func raceTicket(t *testing.T, h *house) {
	v := h.addTicket(t, newTicket("a"))
	contents := make([]string, crowd)
	won := winners(t, lintel.CodeNotFound, func(i int) (err error) {
		contents[i], err = h.UseTicket(t.Context(), v.Hash, v.Kind, v.Holder, epoch)
		return err
	})
	equal(t, len(won), 1)
	for i, content := range contents {
		want := ""
		if i == won[0] {
			want = v.Content
		}
		equal(t, content, want)
	}
}

func raceRecoveryCode(t *testing.T, h *house) {
	h.setRecoveryCodes(t, h.owner, "a", "b")
	won := winners(t, lintel.CodeNotFound, func(int) error { return h.UseRecoveryCode(t.Context(), h.owner.ID, "a") })
	equal(t, len(won), 1)
	equal(t, h.recoveryCodesLeft(t, h.owner), 1)
}

func raceRecoveryCodes(t *testing.T, h *house) {
	h.setRecoveryCodes(t, h.owner, "a", "b")
	name := func(i int) string { return string(rune('A' + i)) }
	everybody(t, func(i int) error {
		return h.SetRecoveryCodes(t.Context(), h.owner.ID, []string{name(i) + "1", name(i) + "2", name(i) + "3"})
	})
	equal(t, h.recoveryCodesLeft(t, h.owner), 3)
}

func racePasskey(t *testing.T, h *house) {
	keys := make([]lintel.Passkey, crowd)
	for i := range keys {
		keys[i] = newPasskey(h.owner)
		keys[i].CredentialID = "same"
	}
	won := winners(t, lintel.CodeConflict, func(i int) error { return h.AddPasskey(t.Context(), keys[i]) })
	equal(t, len(won), 1)
	equal(t, h.passkeys(t, h.owner), []lintel.Passkey{keys[won[0]]})
}
