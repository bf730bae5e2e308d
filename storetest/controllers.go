package storetest

import (
	"testing"
	"time"

	"lintel"
)

var controllerCases = []testCase{
	{"AddController", "is all or nothing", addControllerAtomic},
	{"AddController", "an unknown owner is refused", addControllerUnknown},
	{"AddController", "takes as many doors as are allowed", addControllerMany},
	{"SetControllerSecret", "replaces the secret", setSecret},
	{"SetControllerSecret", "an unknown or revoked one is not found", setSecretRefused},
	{"ControllerSecretHash", "tells the driver and its settings", secretHashDriver},
	{"RevokeController", "refuses it, and its doors do not move", revokeController},
	{"CredentialsChanged", "lists what was replaced or revoked since", credentialsChanged},
	{"CredentialsRevision", "is that of the last change", credentialsChanged},
	{"CredentialsChanged", "at once: none is missed", raceCredentials},
	{"ControllerSecretHash", "an unknown or revoked one is not found", secretHashRefused},
	{"BeginSession", "numbers rise for each controller", sessionsRise},
	{"BeginSession", "an unknown or revoked one is not found", sessionRefused},
	{"EndSession", "notes when it was last heard", endSession},
}

// addControllerAtomic gives two doors one number: the second fails, so nothing stays.
func addControllerAtomic(t *testing.T, h *house) {
	c, doors := newController(h.owner, 2)
	doors[1].Number = 1
	wantCode(t, h.AddController(t.Context(), c, "x", doors), lintel.CodeInternal)
	_, _, _, err := h.ControllerSecretHash(t.Context(), c.ID)
	wantCode(t, err, lintel.CodeNotFound)
	doors[1].Number = 2
	must(t, h.AddController(t.Context(), c, "x", doors))
}

func addControllerUnknown(t *testing.T, h *house) {
	c, doors := newController(lintel.Person{ID: lintel.NewID()}, 1)
	wantCode(t, h.AddController(t.Context(), c, "x", doors), lintel.CodeInternal)
}

func addControllerMany(t *testing.T, h *house) {
	c, doors := h.addController(t, h.owner, lintel.MaxDoors)
	_, byNumber, err := h.BeginSession(t.Context(), c.ID, "", epoch)
	must(t, err)
	equal(t, len(byNumber), lintel.MaxDoors)
	equal(t, byNumber[lintel.MaxDoors], doors[lintel.MaxDoors-1].ID)
	c, doors = newController(h.owner, lintel.MaxDoors+1)
	wantCode(t, h.AddController(t.Context(), c, "x", doors), lintel.CodeInternal)
}

func (h *house) secretHash(t *testing.T, c lintel.Controller) string {
	t.Helper()
	hash, _, _, err := h.ControllerSecretHash(t.Context(), c.ID)
	must(t, err)
	return hash
}

func setSecret(t *testing.T, h *house) {
	other, _ := h.addController(t, h.owner, 1)
	equal(t, h.secretHash(t, h.controller), "secret hash")
	must(t, h.SetControllerSecret(t.Context(), h.controller.ID, "new hash"))
	equal(t, h.secretHash(t, h.controller), "new hash")
	equal(t, h.secretHash(t, other), "secret hash")
}

func setSecretRefused(t *testing.T, h *house) {
	wantCode(t, h.SetControllerSecret(t.Context(), lintel.NewID(), "x"), lintel.CodeNotFound)
	h.revokeController(t, h.controller)
	wantCode(t, h.SetControllerSecret(t.Context(), h.controller.ID, "x"), lintel.CodeNotFound)
}

func secretHashDriver(t *testing.T, h *house) {
	c, doors := newController(h.owner, 1)
	c.Driver, c.Settings = "ratgdo", `{"Base":"home/garage"}`
	must(t, h.AddController(t.Context(), c, "hash", doors))
	hash, driver, settings, err := h.ControllerSecretHash(t.Context(), c.ID)
	must(t, err)
	equal(t, hash+" "+driver+" "+settings, "hash ratgdo "+c.Settings)
	_, driver, settings, err = h.ControllerSecretHash(t.Context(), h.controller.ID)
	must(t, err)
	equal(t, driver+settings, "")
}

func revokeController(t *testing.T, h *house) {
	other, otherDoors := h.addController(t, h.owner, 1)
	must(t, h.RevokeController(t.Context(), h.controller.ID, epoch))
	must(t, h.RevokeController(t.Context(), h.controller.ID, epoch.Add(time.Hour)))
	_, _, _, err := h.ControllerSecretHash(t.Context(), h.controller.ID)
	wantCode(t, err, lintel.CodeNotFound)
	_, what := h.authority(t, h.token, h.doors[0].ID)
	equal(t, what.Revoked, true)
	_, what = h.authority(t, h.token, otherDoors[0].ID)
	equal(t, what.Revoked, false)
	equal(t, h.secretHash(t, other), "secret hash")
	wantCode(t, h.RevokeController(t.Context(), lintel.NewID(), epoch), lintel.CodeNotFound)
}

func credentialsChanged(t *testing.T, h *house) {
	other, _ := h.addController(t, h.owner, 1)
	changed := func(after int64) ([]lintel.ID, int64) {
		ids, last, err := h.CredentialsChanged(t.Context(), after)
		must(t, err)
		return ids, last
	}
	before, err := h.CredentialsRevision(t.Context())
	must(t, err)
	ids, last := changed(before)
	equal(t, len(ids), 0)
	equal(t, last, before)
	must(t, h.SetControllerSecret(t.Context(), h.controller.ID, "new"))
	_, first := changed(before)
	must(t, h.RevokeController(t.Context(), other.ID, epoch.Add(time.Second)))
	ids, last = changed(before)
	equal(t, ids, []lintel.ID{h.controller.ID, other.ID})
	ids, _ = changed(first)
	equal(t, ids, []lintel.ID{other.ID})
	ids, _ = changed(last)
	equal(t, len(ids), 0)
	now, err := h.CredentialsRevision(t.Context())
	must(t, err)
	equal(t, now, last)
	must(t, h.SetControllerSecret(t.Context(), h.controller.ID, "newer"))
	ids, _ = changed(last)
	equal(t, ids, []lintel.ID{h.controller.ID})
}

// raceCredentials: however many change at once, who looks again and again misses none.
func raceCredentials(t *testing.T, h *house) {
	var controllers []lintel.Controller
	for range crowd {
		c, _ := h.addController(t, h.owner, 1)
		controllers = append(controllers, c)
	}
	seen, after := map[lintel.ID]bool{}, int64(0)
	look := func() {
		ids, last, err := h.CredentialsChanged(t.Context(), after)
		must(t, err)
		for _, id := range ids {
			seen[id] = true
		}
		after = last
	}
	together(func(i int) {
		if i == 0 {
			for range 50 {
				look()
			}
		}
		if err := h.SetControllerSecret(t.Context(), controllers[i].ID, "new"); err != nil {
			t.Error(err)
		}
	})
	look()
	equal(t, len(seen), crowd)
}

func secretHashRefused(t *testing.T, h *house) {
	_, _, _, err := h.ControllerSecretHash(t.Context(), lintel.NewID())
	wantCode(t, err, lintel.CodeNotFound)
	h.revokeController(t, h.controller)
	_, _, _, err = h.ControllerSecretHash(t.Context(), h.controller.ID)
	wantCode(t, err, lintel.CodeNotFound)
}

func sessionsRise(t *testing.T, h *house) {
	other, otherDoors := h.addController(t, h.owner, 1)
	for want := int64(1); want <= 3; want++ {
		number, doors, err := h.BeginSession(t.Context(), h.controller.ID, "1.2.3", epoch)
		must(t, err)
		equal(t, number, want)
		equal(t, doors, map[int]lintel.ID{1: h.doors[0].ID, 2: h.doors[1].ID})
	}
	number, doors, err := h.BeginSession(t.Context(), other.ID, "9", epoch.Add(time.Second))
	must(t, err)
	equal(t, number, 1)
	equal(t, doors, map[int]lintel.ID{1: otherDoors[0].ID})
	devices, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	for _, d := range devices {
		firmware, contact := "1.2.3", epoch
		if d.ID == other.ID {
			firmware, contact = "9", epoch.Add(time.Second)
		}
		equal(t, d.Firmware, firmware)
		equal(t, d.LastContactAt, contact)
	}
}

func sessionRefused(t *testing.T, h *house) {
	_, _, err := h.BeginSession(t.Context(), lintel.NewID(), "x", epoch)
	wantCode(t, err, lintel.CodeNotFound)
	h.revokeController(t, h.controller)
	_, _, err = h.BeginSession(t.Context(), h.controller.ID, "x", epoch)
	wantCode(t, err, lintel.CodeNotFound)
	devices, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	equal(t, devices[0].LastContactAt, time.Time{})
}

func endSession(t *testing.T, h *house) {
	other, _ := h.addController(t, h.owner, 1)
	must(t, h.EndSession(t.Context(), h.controller.ID, epoch.Add(time.Hour)))
	must(t, h.EndSession(t.Context(), lintel.NewID(), epoch)) // gone meanwhile: nothing to note
	devices, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	for _, d := range devices {
		want := epoch.Add(time.Hour)
		if d.ID == other.ID {
			want = time.Time{}
		}
		equal(t, d.LastContactAt, want)
	}
}
