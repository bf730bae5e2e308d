package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	endpoints    = "/api/oauth/v1/endpoints/"
	togglePath   = endpoints + "toggle"
	syncPath     = endpoints + "sync"
	historyPath  = endpoints + "toggle-history"
	userInfoPath = endpoints + "user-info"
)

// response is an HTTP response, read.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

// commandID is the id of the recorded command that a toggle was; empty for none.
func (r response) commandID() string { return r.Header.Get("Lintel-Command-Id") }

// envelope is the body of a toggle answer and of every error.
type envelope struct {
	Success   bool   `json:"success"`
	Timestamp int64  `json:"timestamp"`
	Message   string `json:"message"`
}

// envelope reads the body, which must be an envelope with exactly its fields.
func (r response) envelope(t *testing.T) envelope {
	t.Helper()
	var fields map[string]json.RawMessage
	var e envelope
	if json.Unmarshal(r.Body, &fields) != nil || json.Unmarshal(r.Body, &e) != nil {
		t.Fatalf("body %q is not an envelope", r.Body)
	}
	sameNames(t, "envelope", fields, "success", "timestamp", "message")
	age := time.Since(time.UnixMilli(e.Timestamp))
	if !e.Success || age > time.Hour || age < -time.Hour {
		t.Errorf("envelope %s: success is not true, or timestamp is not the time in milliseconds", r.Body)
	}
	return e
}

// client does not follow redirects and does not decompress by itself.
var client = &http.Client{
	Timeout:       time.Minute,
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// request makes a request with the usual headers; header pairs replace them, and
// an empty value removes one.
func request(method, url, token string, body io.Reader, header ...string) *http.Request {
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		panic(err) // the tests' own URLs are well-formed
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] == "" {
			req.Header.Del(header[i])
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// exchange sends a request and reads the whole answer. It may be used in any
// goroutine.
func exchange(req *http.Request) (response, error) {
	res, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return response{res.StatusCode, res.Header, text}, err
}

// do sends a request with the usual headers and those given.
func do(t *testing.T, method, url, token, body string, header ...string) response {
	t.Helper()
	return must(t, request(method, url, token, strings.NewReader(body), header...))
}

func must(t *testing.T, req *http.Request) response {
	t.Helper()
	r, err := exchange(req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// toggleBody is the body that asks for a door to be OPEN or CLOSED.
func toggleBody(doorID, state string) string {
	return fmt.Sprintf(`{"door_id":%q,"door_state":%q}`, doorID, state)
}

// toggle asks for a door to be OPEN or CLOSED.
func (s *site) toggle(doorID, state string) response {
	s.t.Helper()
	return s.toggleAs(s.Token, doorID, state)
}

func (s *site) toggleAs(token, doorID, state string) response {
	s.t.Helper()
	return do(s.t, "POST", s.BaseURL+togglePath, token, toggleBody(doorID, state))
}

// outcome is what came of a request in another goroutine.
type outcome struct {
	response
	err error
}

// background asks like toggle, without waiting for the answer.
func (s *site) background(ctx context.Context, doorID, state string) <-chan outcome {
	done := make(chan outcome, 1)
	req := request("POST", s.BaseURL+togglePath, s.Token, strings.NewReader(toggleBody(doorID, state))).WithContext(ctx)
	go func() {
		r, err := exchange(req)
		done <- outcome{r, err}
	}()
	return done
}

// listedDevice is what the tests look at of a device in sync.
type listedDevice struct {
	ID    string
	Doors []listedDoor
}

// listedDoor is what the tests look at of a door in sync.
type listedDoor struct {
	ID          string
	State       string
	StateDetail struct {
		Value  string
		Source string
		Fresh  bool
	} `json:"state_detail"`
	LastToggled *string `json:"last_toggled"`
}

// String shows a door's state as value/source/fresh/state.
func (d listedDoor) String() string {
	return fmt.Sprintf("%s/%s/%t/%s", d.StateDetail.Value, d.StateDetail.Source, d.StateDetail.Fresh, d.State)
}

// devices lists the account's devices.
func (s *site) devices() []listedDevice {
	s.t.Helper()
	r := do(s.t, "GET", s.BaseURL+syncPath, s.Token, "")
	var list struct{ Devices []listedDevice }
	if err := json.Unmarshal(r.Body, &list); err != nil || r.Status != http.StatusOK {
		s.t.Fatalf("sync answered %d %s (%v)", r.Status, r.Body, err)
	}
	return list.Devices
}

// listed returns a door as sync lists it.
func (s *site) listed(doorID string) listedDoor {
	s.t.Helper()
	for _, device := range s.devices() {
		for _, door := range device.Doors {
			if door.ID == doorID {
				return door
			}
		}
	}
	s.t.Fatalf("sync does not list the door %s", doorID)
	return listedDoor{}
}

// awaitDoor waits until sync shows a door as value/source/fresh/state.
func (s *site) awaitDoor(doorID, want string) {
	s.t.Helper()
	eventually(s.t, "the door "+doorID+" to be "+want, func() bool { return s.listed(doorID).String() == want })
}

// sameNames checks that an object has exactly the names.
func sameNames(t *testing.T, what string, fields map[string]json.RawMessage, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s lacks %q", what, name)
		}
	}
	if len(fields) != len(names) {
		text, _ := json.Marshal(fields)
		t.Errorf("%s has %d names, not the %d of %q: %s", what, len(fields), len(names), names, bytes.TrimSpace(text))
	}
}
