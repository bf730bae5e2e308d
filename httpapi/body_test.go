package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lintel"
	"lintel/api"
)

// refused are bodies that do not reach a controller.
var refused = map[string]string{
	"nothing":                ``,
	"a space":                ` `,
	"not JSON":               `hello`,
	"null":                   `null`,
	"a string":               `"OPEN"`,
	"a number":               `1`,
	"an array":               `[` + good + `]`,
	"an empty object":        `{}`,
	"cut short":              good[:len(good)-1],
	"trailing data":          good + `x`,
	"two objects":            good + good,
	"trailing comma":         strings.Replace(good, `}`, `,}`, 1),
	"a comment":              `/**/` + good,
	"single quotes":          strings.ReplaceAll(good, `"`, `'`),
	"a byte order mark":      "\xef\xbb\xbf" + good,
	"UTF-16":                 "{\x00\"\x00",
	"bad UTF-8":              strings.Replace(good, `}`, ",\"x\":\"\xff\"}", 1),
	"bad UTF-8 in a name":    strings.Replace(good, `}`, ",\"\xff\":1}", 1),
	"a lone surrogate":       strings.Replace(good, `}`, `,"x":"\ud800"}`, 1),
	"no door":                `{"door_state":"OPEN"}`,
	"no state":               `{"door_id":"` + string(doorID) + `"}`,
	"door null":              `{"door_id":null,"door_state":"OPEN"}`,
	"state null":             `{"door_id":"` + string(doorID) + `","door_state":null}`,
	"door a number":          `{"door_id":1,"door_state":"OPEN"}`,
	"state a bool":           `{"door_id":"` + string(doorID) + `","door_state":true}`,
	"state an array":         `{"door_id":"` + string(doorID) + `","door_state":["OPEN"]}`,
	"door an object":         `{"door_id":{},"door_state":"OPEN"}`,
	"door empty":             `{"door_id":"","door_state":"OPEN"}`,
	"door no UUID":           `{"door_id":"front","door_state":"OPEN"}`,
	"door with spaces":       `{"door_id":" ` + string(doorID) + `","door_state":"OPEN"}`,
	"door in braces":         `{"door_id":"{` + string(doorID) + `}","door_state":"OPEN"}`,
	"state in lower case":    strings.Replace(good, `OPEN`, `open`, 1),
	"state in mixed case":    strings.Replace(good, `OPEN`, `Open`, 1),
	"state with a space":     strings.Replace(good, `OPEN`, `OPEN `, 1),
	"state empty":            strings.Replace(good, `OPEN`, ``, 1),
	"state CLOSE":            strings.Replace(good, `OPEN`, `CLOSE`, 1),
	"state STOP":             strings.Replace(good, `OPEN`, `STOP`, 1),
	"state opening":          strings.Replace(good, `OPEN`, `OPENING`, 1),
	"names in upper case":    strings.ReplaceAll(good, `door_`, `DOOR_`),
	"one name in mixed case": strings.Replace(good, `door_state`, `Door_State`, 1),
	"the same twice":         strings.Replace(good, `}`, `,"door_state":"OPEN"}`, 1),
	"opposites":              strings.Replace(good, `}`, `,"door_state":"CLOSED"}`, 1),
	"two doors":              strings.Replace(good, `{`, `{"door_id":"`+string(ownerID)+`",`, 1),
	"an escaped duplicate":   strings.Replace(good, `}`, `,"door\u005fstate":"CLOSED"}`, 1),
	"an unknown one twice":   strings.Replace(good, `}`, `,"x":1,"x":2}`, 1),
	"twice within":           strings.Replace(good, `}`, `,"x":{"y":1,"y":2}}`, 1),
	"very deep":              strings.Replace(good, `}`, `,"x":`+strings.Repeat(`[`, 12000)+`}`, 1),
}

func TestRefusedBodies(t *testing.T) {
	w := newWorld(t)
	for name, body := range refused {
		r := w.request(t, http.MethodPost, api.V1Toggle, body)
		r.Header.Set("Content-Type", "application/json")
		answer := w.send(t, r)
		if got := answer.envelope(t).Message; answer.status != 400 || got != message(400, "Lintel") {
			t.Errorf("%s: %d %q", name, answer.status, got)
		}
	}
	if len(w.doors.asked) != 0 {
		t.Errorf("asked %+v", w.doors.asked)
	}
}

func TestMediaTypes(t *testing.T) {
	for value, want := range map[string]int{
		"application/json": 200, "APPLICATION/JSON": 200, "application/json; charset=utf-8": 200, "application/json;charset=UTF-8": 200,
		`application/json; charset="utf-8"`: 200, "application/json; v=1": 200,
		"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415, "application/jsonp": 415, "application/json5": 415,
		"application/vnd.api+json": 415, "application/json; charset=utf-16": 415, "application/json; charset=latin1": 415,
		"application/json, text/plain": 415, "application/json; charset": 415, "json": 415, "*/*": 415,
	} {
		w := newWorld(t)
		r := w.request(t, http.MethodPost, api.V1Toggle, good)
		r.Header.Set("Content-Type", value)
		answer := w.send(t, r)
		if answer.envelope(t); answer.status != want {
			t.Errorf("Content-Type %q: status %d instead of %d", value, answer.status, want)
		}
	}
	for encoding, want := range map[string]int{"": 200, "identity": 200, "gzip": 415, "br": 415, "identity, gzip": 415} {
		w := newWorld(t)
		r := w.request(t, http.MethodPost, api.V1Toggle, good)
		r.Header.Set("Content-Encoding", encoding)
		if answer := w.send(t, r); answer.status != want {
			t.Errorf("Content-Encoding %q: status %d instead of %d", encoding, answer.status, want)
		}
	}
}

func FuzzReadToggle(f *testing.F) {
	f.Add("application/json", []byte(good))
	f.Add("application/json; charset=utf-8", []byte(strings.ToLower(good)))
	f.Add("text/plain", []byte(good))
	f.Add("application/json", bytes.Repeat([]byte(" "), maxBody+1))
	for _, body := range refused {
		f.Add("application/json", []byte(body))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, api.V1Toggle, bytes.NewReader(body))
		r.Header.Set("Content-Type", kind)
		request, status := readToggle(r)
		switch status {
		case 0:
			checkAccepted(t, body, request.Door, request.Action)
		case 400, 413, 415:
			if request.Door != "" || request.Action != "" {
				t.Fatalf("refused with %d, and yet %+v", status, request)
			}
		default:
			t.Fatalf("status %d", status)
		}
	})
}

// checkAccepted holds an accepted body to what another reader of JSON sees in it.
func checkAccepted(t *testing.T, body []byte, door lintel.ID, action lintel.Action) {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil || len(body) > maxBody {
		t.Fatalf("accepted %q: %v", body, err)
	}
	want := map[string]lintel.Action{"OPEN": lintel.ActionOpen, "CLOSED": lintel.ActionClose}
	if state, ok := fields["door_state"].(string); !ok || want[state] != action || action == "" {
		t.Fatalf("accepted %q as %q", body, action)
	}
	given, _ := fields["door_id"].(string)
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }
	if canonical, err := lintel.ParseID(string(door)); err != nil || canonical != door || plain(given) != plain(string(door)) {
		t.Fatalf("accepted %q as the door %q", body, door)
	}
}
