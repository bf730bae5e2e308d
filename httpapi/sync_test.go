package httpapi

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/access"
	"lintel/api"
	"lintel/secret"
	"lintel/store"
)

// TestV1State goes through every state there can be: CLOSED only for one that
// is fresh, closed, known from hardware, and with its sensor within reach.
func TestV1State(t *testing.T) {
	closed := 0
	for _, value := range []string{"closed", "opening", "open", "closing", "stopped", "unknown", "", "CLOSED", "ajar"} {
		for _, source := range []string{"sensor", "opener", "inferred"} {
			for _, fresh := range []bool{true, false} {
				for _, lost := range []bool{true, false} {
					got := v1State(lintel.DoorState{Value: value, Source: source, SensorLost: lost}, fresh)
					want := "OPEN"
					if value == "closed" && (source == "sensor" || source == "opener") && fresh && !lost {
						want = "CLOSED"
						closed++
					}
					if got != want {
						t.Errorf("%q by %s, fresh %v, sensor lost %v: %s", value, source, fresh, lost, got)
					}
				}
			}
		}
	}
	if closed != 2 {
		t.Errorf("%d states are CLOSED", closed)
	}
}

// testDevices are one that has been heard of and one that never was.
func testDevices() []store.Device {
	sensor := lintel.DoorState{Value: "closed", Source: "sensor", Since: now.Add(-time.Hour), ObservedAt: now.Add(-time.Second)}
	unknown := lintel.DoorState{Value: "unknown", Source: "inferred", SensorLost: true}
	return []store.Device{{
		Controller: lintel.Controller{
			ID: "9b2a0c4e-1111-4222-8333-444455556666", OwnerID: ownerID, Name: "Garage", Firmware: "1.2.3",
			CreatedAt: now.Add(-24 * time.Hour), LastContactAt: now.Add(-time.Minute),
		},
		OwnerGivenName: "Ada", OwnerFamilyName: "Köng",
		Doors: []lintel.Door{
			{ID: doorID, ControllerID: "9b2a0c4e-1111-4222-8333-444455556666", Number: 1, Name: "Left", State: sensor, ChangedAt: now.Add(-time.Hour)},
			{ID: ownerID, ControllerID: "9b2a0c4e-1111-4222-8333-444455556666", Number: 2, Name: "Right", State: unknown},
		},
	}, {
		Controller: lintel.Controller{ID: "00000000-0000-4000-8000-000000000001", OwnerID: ownerID, Name: "Shed", CreatedAt: now},
		Revoked:    true,
	}}
}

// TestSyncGolden compares a whole answer with testdata/sync.json: field names,
// order, types, times and nulls are the deployed services'. A change there is a
// change of the interface.
func TestSyncGolden(t *testing.T) {
	w := newWorld(t)
	w.store.devices[ownerID] = testDevices()
	w.doors.state = func(d lintel.Door) (lintel.DoorState, bool) { return d.State, d.State.Value == "closed" }
	r := w.send(t, w.request(t, http.MethodPost, api.V1Sync, ""))
	var indented strings.Builder
	encoder := json.NewEncoder(&indented)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(json.RawMessage(r.body)); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/sync.json")
	if err != nil || r.status != 200 || indented.String() != string(want) {
		t.Errorf("%v, status %d\n%s", err, r.status, indented.String())
	}
}

// TestSyncSameByAllMethods holds that GET and POST are alike, and HEAD without the body.
func TestSyncSameByAllMethods(t *testing.T) {
	w := newWorld(t)
	w.store.devices[ownerID] = testDevices()
	want := w.send(t, w.request(t, http.MethodGet, api.V1Sync, ""))
	for method, body := range map[string]string{"POST": "", "HEAD": "", "GET": ""} {
		r := w.send(t, w.request(t, method, api.V1Sync, body))
		if method == http.MethodHead {
			body = r.body
			r.body = want.body
		}
		if r.status != 200 || r.body != want.body || body != "" {
			t.Errorf("%s: %d %q", method, r.status, r.body)
		}
		if r.header.Get("Content-Type") != want.header.Get("Content-Type") {
			t.Errorf("%s: Content-Type %q", method, r.header.Get("Content-Type"))
		}
	}
	if r := w.send(t, w.request(t, http.MethodPost, api.V1Sync, "not JSON")); r.status != 200 {
		t.Errorf("a body, which has no meaning here: %d", r.status)
	}
}

func TestSyncListsTheBearersOwn(t *testing.T) {
	w := newWorld(t)
	w.store.devices[ownerID] = testDevices()
	other := secret.New(secret.AccessToken)
	w.allow(other, "somebody else")
	r := w.request(t, http.MethodPost, api.V1Sync, "")
	r.Header.Set("Authorization", "Bearer "+other)
	if answer := w.send(t, r); answer.status != 200 || answer.body != "{\"devices\":[]}\n" {
		t.Errorf("%d %q", answer.status, answer.body)
	}
}

// TestSyncNeedsRead holds that READ lists doors, and nothing else does.
func TestSyncNeedsRead(t *testing.T) {
	for scopes := range lintel.AllScopes + 1 {
		w := newWorld(t)
		w.store.subjects[secret.Hash(w.token)] = &access.Subject{PersonID: ownerID, Scopes: scopes, ExpiresAt: now.Add(time.Millisecond)}
		r := w.send(t, w.request(t, http.MethodGet, api.V1Sync, ""))
		want, challenge := http.StatusForbidden, insufficientScope(lintel.ScopeRead)
		if scopes.Has(lintel.ScopeRead) {
			want, challenge = http.StatusOK, ""
		}
		if r.status != want || r.header.Get("WWW-Authenticate") != challenge {
			t.Errorf("scopes %q: status %d, WWW-Authenticate %q", scopes, r.status, r.header.Get("WWW-Authenticate"))
		}
	}
}
