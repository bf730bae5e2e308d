package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"lintel"
	"lintel/api"
	"lintel/control"
	"lintel/secret"
)

// TestOutcomes has a controller answer each code of the table, and none.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		outcome lintel.Outcome
		status  int
	}{
		{lintel.Outcome{Status: lintel.StatusTaken, Code: 200}, 200},
		{lintel.Outcome{Status: lintel.StatusTaken, Code: 200, Reason: "already_there"}, 200},
		{lintel.Outcome{Status: lintel.StatusRefused, Code: 400, Reason: "malformed"}, 400},
		{lintel.Outcome{Status: lintel.StatusRefused, Code: 401, Reason: "auth"}, 401},
		{lintel.Outcome{Status: lintel.StatusRefused, Code: 404, Reason: "late"}, 404},
		{lintel.Outcome{Status: lintel.StatusRefused, Code: 428, Reason: "sensor_lost"}, 428},
		{lintel.Outcome{Status: lintel.StatusRefused, Code: 501}, 501},
		{lintel.Outcome{Status: lintel.StatusUnreachable, Reason: "offline"}, 404},
		{lintel.Outcome{Status: lintel.StatusUnanswered, Reason: "deadline"}, 404},
	} {
		w := newWorld(t)
		w.doors.move = func(control.Request) (control.Receipt, error) {
			return control.Receipt{CommandID: "the-command", HardwareName: "Garage", Outcome: c.outcome}, nil
		}
		r := w.toggle(t, good)
		if got := r.envelope(t).Message; r.status != c.status || got != message(c.status, "Garage") {
			t.Errorf("%+v: %d %q", c.outcome, r.status, got)
		}
		if r.header.Get(api.HeaderCommandID) != "the-command" || r.header.Get(api.HeaderReason) != c.outcome.Reason {
			t.Errorf("%+v: headers %v", c.outcome, r.header)
		}
		challenge := "" // the controller's problem is none of the token, so there is no error in it
		if c.status == 401 {
			challenge = `Bearer realm="lintel"`
		}
		if got := r.header.Get("WWW-Authenticate"); got != challenge {
			t.Errorf("%+v: WWW-Authenticate %q", c.outcome, got)
		}
	}
}

// TestToggleAsks holds what reaches control.
func TestToggleAsks(t *testing.T) {
	w := newWorld(t)
	for _, body := range []string{
		good,
		`{"door_state":"CLOSED","door_id":"0F8FAD5BD9CB469FA16570867728950E","more":[1,{"x":null}]}`,
	} {
		if r := w.toggle(t, body); r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, r.status, r.body)
		}
	}
	hash := secret.Hash(w.token)
	want := []control.Request{
		{TokenHash: hash, Door: doorID, Action: lintel.ActionOpen},
		{TokenHash: hash, Door: doorID, Action: lintel.ActionClose},
	}
	if !reflect.DeepEqual(w.doors.asked, want) {
		t.Errorf("asked %+v", w.doors.asked)
	}
}

// TestNoTokenNoMove sends what could pass for a token in every other place.
func TestNoTokenNoMove(t *testing.T) {
	w := newWorld(t)
	for _, r := range []*http.Request{
		w.request(t, http.MethodPost, api.V1Toggle, good),
		w.request(t, http.MethodPost, api.V1Toggle+"?access_token="+w.token, good),
		w.request(t, http.MethodPost, api.V1Toggle, strings.Replace(good, "{", `{"access_token":"`+w.token+`",`, 1)),
		w.request(t, http.MethodPost, api.V1Toggle, "not JSON"),
		w.request(t, http.MethodPost, api.V1Sync+"?access_token="+w.token, ""),
	} {
		r.Header.Del("Authorization")
		answer := w.send(t, r)
		if answer.envelope(t); answer.status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", r.URL, answer.status)
		}
		if got := answer.header.Get("WWW-Authenticate"); got != `Bearer realm="lintel"` {
			t.Errorf("%s: WWW-Authenticate %q", r.URL, got)
		}
	}
	if len(w.doors.asked) != 0 {
		t.Errorf("asked %+v", w.doors.asked)
	}
}

// TestBadTokens sends tokens that are no good to both endpoints; a wrong body
// makes no difference: who may not ask is told that first.
func TestBadTokens(t *testing.T) {
	w := newWorld(t)
	w.doors.move = func(control.Request) (control.Receipt, error) {
		return control.Receipt{}, &lintel.Error{Code: lintel.CodeUnauthenticated}
	}
	expired, revoked, disabled := secret.New(secret.AccessToken), secret.New(secret.AccessToken), secret.New(secret.AccessToken)
	w.allow(expired, ownerID).ExpiresAt = now
	w.allow(revoked, ownerID).Revoked = true
	w.allow(disabled, ownerID).Disabled = true
	for name, token := range map[string]string{
		"unknown": secret.New(secret.AccessToken), "expired": expired, "revoked": revoked, "disabled": disabled,
		"a controller's": secret.New(secret.ControllerSecret), "no token": "x", "empty": "",
	} {
		for _, r := range []*http.Request{
			w.request(t, http.MethodPost, api.V1Toggle, good),
			w.request(t, http.MethodPost, api.V1Toggle, "not JSON"),
			w.request(t, http.MethodPost, api.V1Sync, ""),
		} {
			r.Header.Set("Authorization", "Bearer "+token)
			answer := w.send(t, r)
			if answer.envelope(t); answer.status != http.StatusUnauthorized {
				t.Errorf("%s: status %d", name, answer.status)
			}
			if got := answer.header.Get("WWW-Authenticate"); !strings.Contains(got, `error="invalid_token"`) {
				t.Errorf("%s: WWW-Authenticate %q", name, got)
			}
		}
	}
}

// TestBodySizes is about the limit, with the length announced and without.
func TestBodySizes(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		for size, want := range map[int]int{maxBody: 200, maxBody + 1: 413, 1 << 20: 413} {
			w := newWorld(t)
			r := w.request(t, http.MethodPost, api.V1Toggle, good+strings.Repeat(" ", size-len(good)))
			if chunked {
				r.ContentLength = -1
				r.Body = io.NopCloser(io.MultiReader(r.Body, bytes.NewReader(nil)))
			}
			answer := w.send(t, r)
			if answer.envelope(t); answer.status != want {
				t.Errorf("%d bytes, chunked %v: status %d", size, chunked, answer.status)
			}
			if moved := len(w.doors.asked) == 1; moved != (want == 200) {
				t.Errorf("%d bytes: reached control: %v", size, moved)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t)
	for path, allow := range map[string]string{api.V1Toggle: "POST, OPTIONS", api.V1Sync: "GET, HEAD, POST, OPTIONS"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
			r := w.send(t, w.request(t, method, path, ""))
			switch {
			case method == http.MethodOptions:
				if r.status != http.StatusNoContent || r.body != "" {
					t.Errorf("%s %s: %d %q", method, path, r.status, r.body)
				}
			case strings.Contains(allow, method):
				if r.status == http.StatusMethodNotAllowed {
					t.Errorf("%s %s: not allowed", method, path)
				}
				continue // without Allow
			default:
				if r.status != http.StatusMethodNotAllowed || method == "HEAD" && r.body != "" {
					t.Errorf("%s %s: %d %q", method, path, r.status, r.body)
				}
				if method != "HEAD" {
					r.envelope(t)
				}
			}
			if got := r.header.Get("Allow"); got != allow {
				t.Errorf("%s %s: Allow %q", method, path, got)
			}
		}
	}
	if len(w.doors.asked) != 0 {
		t.Errorf("asked %+v", w.doors.asked)
	}
}

// TestHeadersOfEveryAnswer holds what no answer may lack.
func TestHeadersOfEveryAnswer(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{api.V1Toggle, api.V1Sync, api.V1Prefix, api.V1Prefix + "nothing", "/healthz", "/", "/nothing"} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "DELETE"} {
			r := w.send(t, w.request(t, method, path, good))
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			} {
				if got := r.header.Get(name); got != want {
					t.Errorf("%s %s: %s is %q", method, path, name, got)
				}
			}
		}
	}
	for _, path := range []string{"/", "/nothing", api.V1Prefix, api.V1Prefix + "nothing", api.V1Toggle + "/"} {
		r := w.send(t, w.request(t, "POST", path, good))
		if got := r.envelope(t).Message; r.status != 404 || got != message(404, "Lintel") {
			t.Errorf("%s: %d %q", path, r.status, got)
		}
	}
	if r := w.send(t, w.request(t, "GET", "/healthz", "")); r.status != 200 || r.body != "{\"ok\":true}\n" {
		t.Errorf("health: %d %q", r.status, r.body)
	}
}

// TestGzip compresses what is worth it for who accepts it, and nothing else.
func TestGzip(t *testing.T) {
	w := newWorld(t)
	for range 10 {
		w.store.devices[ownerID] = append(w.store.devices[ownerID], testDevices()...)
	}
	plain := w.request(t, "GET", api.V1Sync, "")
	plain.Header.Set("Accept-Encoding", "identity")
	want := w.send(t, plain)
	if want.header.Get("Content-Encoding") != "" || len(want.body) < minCompressed {
		t.Fatalf("not asked for: %v, %d bytes", want.header, len(want.body))
	}
	zipped := w.request(t, "GET", api.V1Sync, "")
	zipped.Header.Set("Accept-Encoding", "gzip")
	r := w.send(t, zipped)
	if r.header.Get("Content-Encoding") != "gzip" || !strings.Contains(r.header.Get("Vary"), "Accept-Encoding") {
		t.Fatalf("asked for: %v", r.header)
	}
	reader, err := gzip.NewReader(strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != want.body {
		t.Errorf("%v, %q instead of %q", err, got, want.body)
	}
	small := w.request(t, "POST", api.V1Toggle, good)
	small.Header.Set("Accept-Encoding", "gzip")
	if r := w.send(t, small); r.header.Get("Content-Encoding") != "" {
		t.Errorf("an answer of %d bytes is compressed", len(r.body))
	}
}
