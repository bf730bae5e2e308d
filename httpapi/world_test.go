package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/access"
	"lintel/api"
	"lintel/control"
	"lintel/secret"
	"lintel/store"
)

// now is a time with milliseconds, in another zone than the answers'.
var now = time.Date(2026, 3, 29, 3, 30, 0, 123e6, time.FixedZone("", 2*60*60))

const (
	doorID  = lintel.ID("0f8fad5b-d9cb-469f-a165-70867728950e")
	ownerID = lintel.ID("7c9e6679-7425-40de-944b-e07fc1f90ae7")
	good    = `{"door_id":"0f8fad5b-d9cb-469f-a165-70867728950e","door_state":"OPEN"}`
)

// fakeDoors answers as it is told and remembers what it was asked.
type fakeDoors struct {
	move  func(control.Request) (control.Receipt, error)
	state func(lintel.Door) (lintel.DoorState, bool)

	mu    sync.Mutex // guards asked
	asked []control.Request
}

func (d *fakeDoors) Move(_ context.Context, r control.Request) (control.Receipt, error) {
	d.mu.Lock()
	d.asked = append(d.asked, r)
	d.mu.Unlock()
	return d.move(r)
}

func (d *fakeDoors) State(door lintel.Door) (lintel.DoorState, bool) { return d.state(door) }

// fakeStore has tokens and devices in maps.
type fakeStore struct {
	subjects map[string]*access.Subject   // by token hash
	devices  map[lintel.ID][]store.Device // by person
	toggles  []store.Toggle
	query    store.ToggleQuery         // the last one for toggles
	fail     func(method string) error // nil for never
}

func (s *fakeStore) failure(method string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(method)
}

func (s *fakeStore) Subject(_ context.Context, hash string) (*access.Subject, error) {
	return s.subjects[hash], s.failure("Subject")
}

func (s *fakeStore) Devices(_ context.Context, person lintel.ID) ([]store.Device, error) {
	return s.devices[person], s.failure("Devices")
}

func (s *fakeStore) Toggles(_ context.Context, q store.ToggleQuery) ([]store.Toggle, error) {
	s.query = q
	return s.toggles, s.failure("Toggles")
}

func (s *fakeStore) Person(_ context.Context, id lintel.ID) (lintel.Person, error) {
	return lintel.Person{ID: id, Email: "ada@example.org", GivenName: "Ada", FamilyName: "King"}, s.failure("Person")
}

// world is the API on a live server, with one owner's good token.
type world struct {
	doors *fakeDoors
	store *fakeStore
	token string
	url   string
	log   *logged
}

// logged is a log that a test may read while the server writes it.
type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func taken(control.Request) (control.Receipt, error) {
	return control.Receipt{CommandID: "c", HardwareName: "Garage", Outcome: lintel.Outcome{Status: lintel.StatusTaken, Code: 200}}, nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{log: &logged{}, token: secret.New(secret.AccessToken)}
	w.doors = &fakeDoors{move: taken, state: func(d lintel.Door) (lintel.DoorState, bool) { return d.State, false }}
	w.store = &fakeStore{devices: map[lintel.ID][]store.Device{}, subjects: map[string]*access.Subject{}}
	w.allow(w.token, ownerID)
	log := slog.New(slog.NewTextHandler(w.log, nil))
	handler, err := New(Config{
		HardwareName: "Lintel", Claims: &fakeClaims{}, MQTT: api.V2MQTT{Port: 8883, TLS: true},
		Source: func(*http.Request) netip.Addr { return netip.Addr{} }, Now: func() time.Time { return now }, Log: log,
	}, w.doors, w.store)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// allow makes a token good for a person, for an hour.
func (w *world) allow(token string, person lintel.ID) *access.Subject {
	s := &access.Subject{TokenID: "t", PersonID: person, Scopes: lintel.ScopeOpen | lintel.ScopeRead, ExpiresAt: now.Add(time.Hour)}
	w.store.subjects[secret.Hash(token)] = s
	return s
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request as it is; nothing is followed or added.
func (w *world) send(t *testing.T, r *http.Request) reply {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(body)}
}

// request makes a request with the good token, and JSON where there is a body.
func (w *world) request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (w *world) toggle(t *testing.T, body string) reply {
	t.Helper()
	return w.send(t, w.request(t, http.MethodPost, api.V1Toggle, body))
}

// envelope reads the three fields, and fails if there is anything else.
func (r reply) envelope(t *testing.T) api.V1Answer {
	t.Helper()
	var answer api.V1Answer
	decoder := json.NewDecoder(strings.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.body), &fields); err != nil || len(fields) != 3 {
		t.Fatalf("%q has %d fields, %v", r.body, len(fields), err)
	}
	if !answer.Success || answer.Timestamp != now.UnixMilli() || r.header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("%q of type %q", r.body, r.header.Get("Content-Type"))
	}
	return answer
}
