package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/api"
	"lintel/store"
)

// TestHistoryIsFrozen: the answer, letter by letter.
func TestHistoryIsFrozen(t *testing.T) {
	w := newWorld(t)
	at := time.Date(2026, 3, 29, 3, 30, 0, 0, time.FixedZone("", 2*60*60))
	ada := lintel.Person{ID: ownerID, Email: "ada@example.org", GivenName: "Ada", FamilyName: "King"}
	w.store.toggles = []store.Toggle{
		{DoorID: doorID, DoorName: "Left", Value: "open", At: at, Succeeded: true, Person: ada, App: "Panel"},
		{DoorID: doorID, DoorName: "Left", Value: "closed", At: at, Person: ada},
		{DoorID: doorID, DoorName: "Left", Value: "closed", At: at, Succeeded: true},
	}
	got := w.send(t, w.request(t, http.MethodGet, api.V1ToggleHistory, ""))
	const door = `{"door_id":"0f8fad5b-d9cb-469f-a165-70867728950e","door_name":"Left",`
	const person = `"user":{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","first_name":"Ada","last_name":"King","email_address":"ada@example.org"},`
	want := `{"success":true,"timestamp":1774747800123,"data":{"toggle_events":[` +
		door + `"door_state":"OPEN","channel":"Panel",` + person + `"was_success":true,"toggle_date_time":"2026-03-29 01:30:00"},` +
		door + `"door_state":"CLOSED","channel":"Lintel",` + person + `"was_success":false,"toggle_date_time":"2026-03-29 01:30:00"},` +
		door + `"door_state":"CLOSED","channel":"Door Sensor","user":{"id":"","first_name":"","last_name":"","email_address":""},"was_success":true,"toggle_date_time":"2026-03-29 01:30:00"}]}}` + "\n"
	if got.status != http.StatusOK || got.body != want {
		t.Errorf("%d\n%s\nwant\n%s", got.status, got.body, want)
	}
	w.store.toggles = nil
	if got := w.send(t, w.request(t, http.MethodGet, api.V1ToggleHistory, "")); !strings.HasSuffix(got.body, `"data":{"toggle_events":[]}}`+"\n") {
		t.Errorf("without any: %s", got.body)
	}
}

func TestHistoryQueries(t *testing.T) {
	w := newWorld(t)
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	always := store.ToggleQuery{Owner: ownerID, From: time.UnixMilli(0), Until: now.Add(24 * time.Hour), Limit: maxHistory}
	for query, change := range map[string]func(*store.ToggleQuery){
		"":                                 func(*store.ToggleQuery) {},
		"?history_type=user&anything=else": func(*store.ToggleQuery) {},
		"?door_id=0F8FAD5BD9CB469FA16570867728950E":       func(q *store.ToggleQuery) { q.Door = doorID },
		"?device_id=7c9e6679-7425-40de-944b-e07fc1f90ae7": func(q *store.ToggleQuery) { q.Controller = ownerID },
		"?start_date=2026-03-01&end_date=2026-03-02":      func(q *store.ToggleQuery) { q.From, q.Until = day(1), day(3) },
	} {
		want := always
		change(&want)
		if got := w.send(t, w.request(t, http.MethodGet, api.V1ToggleHistory+query, "")); got.status != http.StatusOK || w.store.query != want {
			t.Errorf("%s: %d, asked for %+v, want %+v", query, got.status, w.store.query, want)
		}
	}
	for _, query := range []string{"?door_id=1", "?device_id=", "?history_type=all", "?start_date=2026-3-1", "?end_date=2026-02-30", "?door_id=x&door_id=y"} {
		if got := w.send(t, w.request(t, http.MethodGet, api.V1ToggleHistory+query, "")); got.status != http.StatusBadRequest || got.envelope(t).Message == "" {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

func TestUserInfo(t *testing.T) {
	w := newWorld(t)
	got := w.send(t, w.request(t, http.MethodGet, api.V1UserInfo, ""))
	const want = `{"success":true,"timestamp":1774747800123,"data":{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","first_name":"Ada","last_name":"King"}}` + "\n"
	if got.status != http.StatusOK || got.body != want {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.store.fail = func(method string) error {
		if method == "Person" || method == "Toggles" {
			return errors.New("sql: no such table")
		}
		return nil
	}
	for _, path := range []string{api.V1UserInfo, api.V1ToggleHistory} {
		if got := w.send(t, w.request(t, http.MethodGet, path, "")); got.status != http.StatusInternalServerError || strings.Contains(got.body, "sql") {
			t.Errorf("%s on a fault: %d %s", path, got.status, got.body)
		}
	}
}
