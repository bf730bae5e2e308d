package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lintel/api"
	"lintel/client"
)

const (
	token   = "lta_a-token-that-must-not-be-shown"
	doorID  = "75d7b309-7f19-4b46-9eac-05d4c61a0319"
	command = "b4e99507-847d-45c7-b7f0-2005f13dee13"
)

// serve answers every request with a handler and returns a client of it.
func serve(t *testing.T, handle http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.StaticToken(token))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// envelope writes a toggle answer or an error.
func envelope(w http.ResponseWriter, status int, message, commandID, reason string) {
	if commandID != "" {
		w.Header().Set(api.HeaderCommandID, commandID)
	}
	if reason != "" {
		w.Header().Set(api.HeaderReason, reason)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(api.V1Answer{Success: true, Timestamp: 1795265940898, Message: message})
}

// list writes a sync answer of one door.
func list(w http.ResponseWriter, state, value string, fresh bool) {
	since := "2026-11-21T10:30:00.250Z"
	_ = json.NewEncoder(w).Encode(api.V1SyncAnswer{Devices: []api.V1Device{
		{ID: "empty", Active: true},
		{ID: "shut out", Doors: []api.V1Door{{ID: "another", Name: "Left door", State: state}}},
		{ID: "c0ffee00-0000-4000-8000-000000000000", Active: true, Doors: []api.V1Door{{
			ID: doorID, EntityNumber: 2, Name: "Left door", State: state,
			StateDetail: api.V1StateDetail{Value: value, Source: "sensor", Fresh: fresh, Since: &since},
		}}},
	}})
}

func TestDoors(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != api.V1Sync || r.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("asked %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		list(w, "CLOSED", "closed", true)
	})
	doors, err := c.Doors(t.Context())
	want := client.Door{
		ID: doorID, Name: "Left door", Number: 2, ControllerID: "c0ffee00-0000-4000-8000-000000000000",
		State: client.Closed, Value: "closed", Source: "sensor", Fresh: true,
		Since: time.Date(2026, 11, 21, 10, 30, 0, 250e6, time.UTC),
	}
	if err != nil || len(doors) != 1 || doors[0] != want {
		t.Errorf("got %+v, %v", doors, err)
	}
}

func TestOpenAndCloseAskForTheirState(t *testing.T) {
	var asked api.V1ToggleRequest
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("body: %v, Content-Type %q", err, r.Header.Get("Content-Type"))
		}
		envelope(w, 200, "200", command, "already_there")
	})
	for want, move := range map[string]func(context.Context, string) (client.Receipt, error){"OPEN": c.Open, "CLOSED": c.Close} {
		receipt, err := move(t.Context(), doorID)
		if err != nil || receipt != (client.Receipt{CommandID: command, Status: 200, Reason: "already_there", Message: "200"}) || !receipt.AlreadyThere() {
			t.Errorf("%s: got %+v, %v", want, receipt, err)
		}
		if asked != (api.V1ToggleRequest{DoorID: doorID, DoorState: want}) {
			t.Errorf("%s: asked for %+v", want, asked)
		}
	}
}

// TestEveryStatusIsAnError: each keeps what the server said, and only a 401
// without a command refuses the token.
func TestEveryStatusIsAnError(t *testing.T) {
	for _, row := range []struct {
		status          int
		command, reason string
		refused         bool
	}{
		{400, "", "", false}, {400, command, "malformed", false},
		{401, "", "", true}, {401, command, "", false},
		{403, "", "", false},
		{404, "", "", false}, {404, command, "offline", false},
		{413, "", "", false}, {428, command, "sensor_lost", false}, {429, "", "", false},
		{500, "", "", false}, {501, command, "unsupported", false}, {503, "", "", false},
	} {
		t.Run(fmt.Sprint(row.status, " ", row.reason), func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				envelope(w, row.status, "a sentence", row.command, row.reason)
			})
			_, err := c.Open(t.Context(), doorID)
			got, ok := errors.AsType[*client.Error](err)
			want := client.Error{Status: row.status, Message: "a sentence", Reason: row.reason, CommandID: row.command, RetryAfter: 7 * time.Second}
			if !ok || *got != want || got.TokenRefused() != row.refused {
				t.Errorf("got %+v (%v)", got, err)
			}
			if !strings.Contains(err.Error(), fmt.Sprint(row.status)) || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("it reads %q", err)
			}
			if _, err := c.Doors(t.Context()); !errors.As(err, &got) || *got != want {
				t.Errorf("doors: got %v", err)
			}
		})
	}
}

// TestWhatIsNotLintel is never taken for an answer of Lintel.
func TestWhatIsNotLintel(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"a page": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>Welcome to the hotel</html>")
		},
		"another object": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) },
		"nothing":        func(http.ResponseWriter, *http.Request) {},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(" ", 9<<20)+"{}")
		},
		"a broken answer": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "99") },
		"a page of error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "bad gateway", http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, handle)
			if doors, err := c.Doors(t.Context()); err == nil {
				t.Errorf("doors: %+v", doors)
			}
			if receipt, err := c.Open(t.Context(), doorID); err == nil || !errors.Is(err, client.ErrNoAnswer) && name != "a page of error" {
				t.Errorf("open: %+v", receipt)
			}
		})
	}
}

// TestTheTokenStaysWithItsServer: no redirect is followed, whoever's client it is.
func TestTheTokenStaysWithItsServer(t *testing.T) {
	var strayed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		strayed.Add(1)
		envelope(w, 200, "200", command, "")
	}))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	lenient := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	for _, options := range [][]client.Option{nil, {client.WithHTTPClient(lenient)}, {client.WithHTTPClient(nil)}} {
		c, err := client.New(first.URL, client.StaticToken(token), options...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Open(t.Context(), doorID)
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusTemporaryRedirect {
			t.Errorf("got %v", err)
		}
	}
	if strayed.Load() != 0 {
		t.Error("a request went to another server")
	}
}

func TestErrorsDoNotHoldTheToken(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	for base, tokens := range map[string]client.StaticToken{gone.URL: token, "http://127.0.0.1:1": token + "\n"} {
		c, err := client.New(base, tokens)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Doors(t.Context()); err == nil || strings.Contains(err.Error(), "must-not-be-shown") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, good := range []string{"https://garage.example.org", "https://garage.example.org/", "http://127.0.0.1:8080", "https://[::1]:8443"} {
		if _, err := client.New(good, client.StaticToken(token)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "garage.example.org", "ftp://garage.example.org", "https://", "https://me:secret@h", "https://h/path", "https://h?q=1", "https://h#f", "https://h:x"} {
		if _, err := client.New(bad, client.StaticToken(token)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := client.New("https://h", nil); err == nil {
		t.Error("a client without tokens was made")
	}
}

// renewing is a TokenSource that has another token.
type renewing struct {
	client.StaticToken
	next    string
	err     error
	renewed []string
}

func (r *renewing) Renew(_ context.Context, refused string) (string, error) {
	r.renewed = append(r.renewed, refused)
	return r.next, r.err
}

// TestARefusedTokenIsRenewedOnce: what the server recorded, and a 401 that does not
// find fault with the token, are never repeated.
func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	const fault = `Bearer realm="lintel", error="invalid_token"`
	for name, row := range map[string]struct {
		challenge, command, next string
		err                      error
		renewed, asked, status   int
	}{
		"renewed":            {fault, "", "good", nil, 1, 2, 0},
		"refused again":      {fault, "", "bad", nil, 1, 2, 401},
		"not to be renewed":  {fault, "", token, nil, 1, 1, 401},
		"failing to renew":   {fault, "", "", io.ErrUnexpectedEOF, 1, 1, 0},
		"recorded":           {fault, command, "good", nil, 0, 1, 401},
		"no fault of tokens": {`Bearer realm="lintel"`, "", "good", nil, 0, 1, 401},
		"a proxy's":          {`Basic realm="x"`, "", "good", nil, 0, 1, 401},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				var body api.V1ToggleRequest
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.DoorID != doorID {
					t.Errorf("request %d: %+v, %v", asked, body, err)
				}
				if r.Header.Get("Authorization") == "Bearer good" {
					envelope(w, 200, "200", command, "")
					return
				}
				w.Header().Set("WWW-Authenticate", row.challenge)
				envelope(w, 401, "a sentence", row.command, "")
			}))
			defer server.Close()
			tokens := &renewing{StaticToken: token, next: row.next, err: row.err}
			c, err := client.New(server.URL, tokens)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Open(t.Context(), doorID)
			if asked != row.asked || len(tokens.renewed) != row.renewed || row.renewed > 0 && tokens.renewed[0] != token {
				t.Errorf("%d requests, renewed %v", asked, tokens.renewed)
			}
			e, ok := errors.AsType[*client.Error](err)
			if ok != (row.status != 0) || ok && e.Status != row.status || !ok && !errors.Is(err, row.err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAFailingTokenSourceAsksNothing(t *testing.T) {
	c, err := client.New("http://127.0.0.1:1", client.TokenFunc(func(context.Context) (string, error) { return "", io.ErrUnexpectedEOF }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(t.Context(), doorID); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, client.ErrNoAnswer) {
		t.Errorf("got %v", err)
	}
}
