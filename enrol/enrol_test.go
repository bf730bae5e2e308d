package enrol

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
	"lintel/store"
	"lintel/store/sqlite"
)

// world is an owner with a controller, somebody else, and a clock.
type world struct {
	*Service
	t          *testing.T
	db         *store.Store
	now        time.Time
	owner, bob lintel.ID
	controller lintel.Controller
	doors      []lintel.Door
}

var home = netip.MustParseAddr("192.0.2.7")

func newWorld(t *testing.T) *world {
	t.Helper()
	engine, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: store.New(engine), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), owner: lintel.NewID(), bob: lintel.NewID()}
	t.Cleanup(func() { _ = w.db.Close() })
	w.Service = New(Config{Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)}, w.db)
	for id, email := range map[lintel.ID]string{w.owner: "owner@example.org", w.bob: "bob@example.org"} {
		must(t, w.db.AddPerson(t.Context(), lintel.Person{ID: id, Email: email, CreatedAt: w.now}, ""))
	}
	w.controller = lintel.Controller{ID: lintel.NewID(), OwnerID: w.owner, Name: "Garage", CreatedAt: w.now}
	w.doors = []lintel.Door{{ID: lintel.NewID(), Number: 1, Name: "Left"}, {ID: lintel.NewID(), Number: 3, Name: "Right"}}
	must(t, w.db.AddController(t.Context(), w.controller, "nobody's", w.doors))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, what string, err error, code lintel.Code) {
	t.Helper()
	if lintel.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func (w *world) claimCode() string {
	w.t.Helper()
	code, err := w.NewClaim(w.t.Context(), w.controller.ID, w.owner, ClaimFor)
	must(w.t, err)
	return code.Code
}

func (w *world) tryClaim(code string) error {
	w.t.Helper()
	_, err := w.Claim(w.t.Context(), code, home)
	return err
}

func TestAClaimGivesTheCredentialsOnce(t *testing.T) {
	w := newWorld(t)
	code := w.claimCode()
	claimed, err := w.Claim(t.Context(), " "+strings.ToLower(strings.ReplaceAll(code, "-", " ")), home)
	must(t, err)
	if claimed.ID != w.controller.ID || claimed.Name != "Garage" || len(claimed.Doors) != 2 || !secret.Is(secret.ControllerSecret, claimed.Secret) {
		t.Errorf("claimed %+v", claimed)
	}
	hash, _, _, err := w.db.ControllerSecretHash(t.Context(), w.controller.ID)
	must(t, err)
	if hash != secret.Hash(claimed.Secret) {
		t.Error("the secret is not the controller's")
	}
	wantCode(t, "a second time", w.tryClaim(code), lintel.CodeNotFound)
}

// TestClaimCodesThatAreNotGood: all give the same answer.
func TestClaimCodesThatAreNotGood(t *testing.T) {
	for name, spoil := range map[string]func(w *world, code string) string{
		"none":     func(*world, string) string { return "" },
		"mistyped": func(_ *world, code string) string { return code[:13] + "1" },
		"made up":  func(*world, string) string { return secret.NewCode(codeLetters) },
		"too late": func(w *world, code string) string { w.now = w.now.Add(ClaimFor); return code },
		"replaced": func(w *world, code string) string { w.claimCode(); return code },
		"a release": func(w *world, _ string) string {
			r, _ := w.Release(w.t.Context(), w.controller.ID, w.owner)
			return r.Code
		},
		"the id": func(w *world, _ string) string { return string(w.controller.ID) },
		"revoked": func(w *world, code string) string {
			_ = w.db.RevokeController(w.t.Context(), w.controller.ID, w.now)
			return code
		},
		"taken over": func(w *world, code string) string { w.transfer(); return code },
	} {
		w := newWorld(t)
		err := w.tryClaim(spoil(w, w.claimCode()))
		if lintel.CodeOf(err) != lintel.CodeNotFound || lintel.MessageOf(err) != errCode.Message {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhoMayMakeAClaimCode(t *testing.T) {
	w := newWorld(t)
	vendor := lintel.Controller{ID: lintel.NewID(), OwnerID: w.owner, Name: "Ratgdo", Driver: "ratgdo", CreatedAt: w.now}
	must(t, w.db.AddController(t.Context(), vendor, "x", []lintel.Door{{ID: lintel.NewID(), Number: 1, Name: "Door"}}))
	for _, row := range []struct {
		what              string
		controller, owner lintel.ID
		life              time.Duration
		code              lintel.Code
	}{
		{"somebody else's controller", w.controller.ID, w.bob, ClaimFor, lintel.CodeNotFound},
		{"no controller", lintel.NewID(), w.owner, ClaimFor, lintel.CodeNotFound},
		{"one with a driver", vendor.ID, w.owner, ClaimFor, lintel.CodeInvalid},
		{"too long", w.controller.ID, w.owner, MaxClaimFor + 1, lintel.CodeInvalid},
		{"too short", w.controller.ID, w.owner, time.Second, lintel.CodeInvalid},
	} {
		_, err := w.NewClaim(t.Context(), row.controller, row.owner, row.life)
		wantCode(t, row.what, err, row.code)
	}
}

// TestRotateEndsClaimCodes and whatever has the controller's secret.
func TestRotateEndsClaimCodes(t *testing.T) {
	w := newWorld(t)
	code := w.claimCode()
	made, err := w.Rotate(t.Context(), w.controller.ID)
	must(t, err)
	hash, _, _, err := w.db.ControllerSecretHash(t.Context(), w.controller.ID)
	must(t, err)
	if hash != secret.Hash(made) {
		t.Error("the new secret is not the controller's")
	}
	wantCode(t, "the old code", w.tryClaim(code), lintel.CodeNotFound)
	_, err = w.Rotate(t.Context(), lintel.NewID())
	wantCode(t, "of no controller", err, lintel.CodeNotFound)
}

// TestGuessingIsSlow: a network may be wrong ten times, and what is right costs nothing.
func TestGuessingIsSlow(t *testing.T) {
	w := newWorld(t)
	for range 2 * perNetwork.Burst {
		must(t, w.tryClaim(w.claimCode()))
	}
	for range perNetwork.Burst {
		wantCode(t, "a guess", w.tryClaim(secret.NewCode(codeLetters)), lintel.CodeNotFound)
	}
	code := w.claimCode()
	err := w.tryClaim(code)
	if wantCode(t, "the right one, too late", err, lintel.CodeTooMany); RetryAfter(err) != perNetwork.Each {
		t.Errorf("to be tried again in %s", RetryAfter(err))
	}
	_, err = w.Claim(t.Context(), secret.NewCode(codeLetters), netip.MustParseAddr("198.51.100.1"))
	wantCode(t, "from elsewhere", err, lintel.CodeNotFound)
	w.now = w.now.Add(perNetwork.Each)
	must(t, w.tryClaim(code))
}

func (w *world) transfer() Taken {
	w.t.Helper()
	code, err := w.Release(w.t.Context(), w.controller.ID, w.owner)
	must(w.t, err)
	taken, err := w.Take(w.t.Context(), code.Code, w.bob)
	must(w.t, err)
	return taken
}

func TestATransferBeginsAnew(t *testing.T) {
	w := newWorld(t)
	taken := w.transfer()
	if taken.ID == w.controller.ID || taken.Name != "Garage" || taken.OwnerID != w.bob || len(taken.Doors) != 2 {
		t.Errorf("taken %+v", taken)
	}
	for i, d := range taken.Doors {
		if d.ID == w.doors[i].ID || d.Name != w.doors[i].Name || d.Number != w.doors[i].Number {
			t.Errorf("door %+v, was %+v", d, w.doors[i])
		}
	}
	if _, err := w.Release(t.Context(), w.controller.ID, w.owner); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("the old owner releases it again: %v", err)
	}
}

func TestNothingIsTakenWithoutARelease(t *testing.T) {
	w := newWorld(t)
	take := func(code string, by lintel.ID) error {
		_, err := w.Take(t.Context(), code, by)
		return err
	}
	wantCode(t, "by its id", take(string(w.controller.ID), w.bob), lintel.CodeNotFound)
	wantCode(t, "by a claim code", take(w.claimCode(), w.bob), lintel.CodeNotFound)
	_, err := w.Release(t.Context(), w.controller.ID, w.bob)
	wantCode(t, "released by somebody else", err, lintel.CodeNotFound)
	wantCode(t, "kept without an offer", w.Keep(t.Context(), w.controller.ID, w.owner), lintel.CodeNotFound)

	code, err := w.Release(t.Context(), w.controller.ID, w.owner)
	must(t, err)
	wantCode(t, "by its owner", take(code.Code, w.owner), lintel.CodeInvalid)
	wantCode(t, "kept by somebody else", w.Keep(t.Context(), w.controller.ID, w.bob), lintel.CodeNotFound)
	must(t, w.Keep(t.Context(), w.controller.ID, w.owner))
	wantCode(t, "after it is kept", take(code.Code, w.bob), lintel.CodeNotFound)
	code, err = w.Release(t.Context(), w.controller.ID, w.owner)
	must(t, err)
	w.now = w.now.Add(ReleaseFor)
	wantCode(t, "too late", take(code.Code, w.bob), lintel.CodeNotFound)
}
