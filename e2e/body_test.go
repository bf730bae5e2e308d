package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// maxBody is the longest body that is read, in bytes.
const maxBody = 16 << 10

// padded is a body that is right in all but, perhaps, its length.
func padded(door string, length int) string {
	body := fmt.Sprintf(`{"door_id":%q,"door_state":"CLOSED","padding":""}`, door)
	return strings.Replace(body, `""}`, `"`+strings.Repeat("x", length-len(body))+`"}`, 1)
}

// badBodies are right but for the fault in their name; <id> stands for the id of
// a door that works and is the bearer's.
var badBodies = map[string]string{
	"empty":                        ``,
	"spaces":                       "  \n",
	"not JSON":                     `door_id=<id>&door_state=OPEN`,
	"cut off":                      `{"door_id":"<id>","door_state":"OPEN"`,
	"single quotes":                `{'door_id':'<id>','door_state':'OPEN'}`,
	"trailing comma":               `{"door_id":"<id>","door_state":"OPEN",}`,
	"comment":                      `{"door_id":"<id>","door_state":"OPEN"/**/}`,
	"trailing text":                `{"door_id":"<id>","door_state":"OPEN"} x`,
	"trailing object":              `{"door_id":"<id>","door_state":"OPEN"}{}`,
	"trailing zero byte":           "{\"door_id\":\"<id>\",\"door_state\":\"OPEN\"}\x00",
	"array":                        `[{"door_id":"<id>","door_state":"OPEN"}]`,
	"null":                         `null`,
	"string":                       `"OPEN"`,
	"empty object":                 `{}`,
	"door_id missing":              `{"door_state":"OPEN"}`,
	"door_state missing":           `{"door_id":"<id>"}`,
	"door_id null":                 `{"door_id":null,"door_state":"OPEN"}`,
	"door_state null":              `{"door_id":"<id>","door_state":null}`,
	"door_id a number":             `{"door_id":1,"door_state":"OPEN"}`,
	"door_id an array":             `{"door_id":["<id>"],"door_state":"OPEN"}`,
	"door_state true":              `{"door_id":"<id>","door_state":true}`,
	"door_state an object":         `{"door_id":"<id>","door_state":{"OPEN":"OPEN"}}`,
	"state in lower case":          `{"door_id":"<id>","door_state":"open"}`,
	"state in mixed case":          `{"door_id":"<id>","door_state":"Closed"}`,
	"state with a space":           `{"door_id":"<id>","door_state":"OPEN "}`,
	"state empty":                  `{"door_id":"<id>","door_state":""}`,
	"state not allowed":            `{"door_id":"<id>","door_state":"STOP"}`,
	"names in upper case":          `{"DOOR_ID":"<id>","DOOR_STATE":"OPEN"}`,
	"duplicate door_state":         `{"door_id":"<id>","door_state":"CLOSED","door_state":"OPEN"}`,
	"duplicate door_id":            `{"door_id":"<id>","door_id":"<id>","door_state":"OPEN"}`,
	"duplicate by an escape":       `{"door_id":"<id>","door_state":"CLOSED","door\u005fstate":"OPEN"}`,
	"duplicate of an unknown name": `{"door_id":"<id>","door_state":"OPEN","x":1,"x":2}`,
	"bad UTF-8 in a value":         "{\"door_id\":\"<id>\",\"door_state\":\"OPEN\",\"x\":\"\xff\"}",
	"bad UTF-8 in a name":          "{\"door_id\":\"<id>\",\"door_state\":\"OPEN\",\"\xc3\x28\":1}",
	"overlong UTF-8":               "{\"door_id\":\"<id>\",\"door_state\":\"OPEN\",\"x\":\"\xc0\xaf\"}",
	"half a surrogate pair":        `{"door_id":"<id>","door_state":"OPEN","x":"\ud800"}`,
	"byte order mark":              "\xef\xbb\xbf{\"door_id\":\"<id>\",\"door_state\":\"OPEN\"}",
	"UTF-16":                       "\xff\xfe{\x00}\x00",
	"door_id not a UUID":           `{"door_id":"door","door_state":"OPEN"}`,
	"door_id empty":                `{"door_id":"","door_state":"OPEN"}`,
	"door_id in braces":            `{"door_id":"{<id>}","door_state":"OPEN"}`,
	"door_id with a space":         `{"door_id":"<id> ","door_state":"OPEN"}`,
	"door_id too short":            `{"door_id":"3f2504e0-4f89-41d3-9a0c-0305e82c330","door_state":"OPEN"}`,
	"door_id not hexadecimal":      `{"door_id":"3f2504e0-4f89-41d3-9a0c-0305e82c330g","door_state":"OPEN"}`,
}

// TestBadBodiesReachNoController sees every fault in a body answered 400.
func TestBadBodiesReachNoController(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	door := d.door("works").DoorID
	for name, body := range badBodies {
		t.Run(name, func(t *testing.T) {
			r := do(t, "POST", d.BaseURL+togglePath, d.Token, strings.ReplaceAll(body, "<id>", door))
			r.refusedWith(t, http.StatusBadRequest, "Error communicating with Lintel, malformed request (400)")
		})
	}
	d.nothingRecorded()
}

// refusedWith checks a refusal that no controller has seen.
func (r response) refusedWith(t *testing.T, status int, message string) {
	t.Helper()
	if e := r.envelope(t); r.Status != status || e.Message != message {
		t.Errorf("got %d %q, want %d %q", r.Status, e.Message, status, message)
	}
	if r.commandID() != "" {
		t.Error("it was made a command")
	}
}

// TestBodiesOfAnyLength: the limit holds with a length announced and without one,
// and what is just within it is taken.
func TestBodiesOfAnyLength(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	door := d.door("works").DoorID
	rows := []struct {
		length  int
		chunked bool
		status  int
	}{
		{maxBody + 1, false, http.StatusRequestEntityTooLarge},
		{maxBody + 1, true, http.StatusRequestEntityTooLarge},
		{8 * maxBody, false, http.StatusRequestEntityTooLarge},
		{8 * maxBody, true, http.StatusRequestEntityTooLarge},
		{maxBody, false, http.StatusOK},
		{maxBody, true, http.StatusOK},
	}
	for _, row := range rows {
		t.Run(fmt.Sprintf("%d bytes, chunked %t", row.length, row.chunked), func(t *testing.T) {
			var body io.Reader = strings.NewReader(padded(door, row.length))
			if row.chunked {
				body = struct{ io.Reader }{body} // hides the length
			}
			r := must(t, request("POST", d.BaseURL+togglePath, d.Token, body))
			if e := r.envelope(t); r.Status != row.status {
				t.Errorf("got %d %q, want %d", r.Status, e.Message, row.status)
			}
			if taken := row.status == http.StatusOK; (r.commandID() != "") != taken {
				t.Errorf("it was made the command %q", r.commandID())
			}
		})
	}
	if commands := d.history(); len(commands) != 2 {
		t.Errorf("%d commands are recorded, want 2: %+v", len(commands), commands)
	}
}

// TestMediaTypes: a body is read only as what it says it is.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	rows := []struct {
		contentType, contentEncoding string
		status                       int
	}{
		{"", "", http.StatusUnsupportedMediaType},
		{"text/plain", "", http.StatusUnsupportedMediaType},
		{"application/x-www-form-urlencoded", "", http.StatusUnsupportedMediaType},
		{"application/jsonp", "", http.StatusUnsupportedMediaType},
		{"application/json; charset", "", http.StatusUnsupportedMediaType},
		{"application/json; charset=iso-8859-1", "", http.StatusUnsupportedMediaType},
		{"application/json; charset=utf-16", "", http.StatusUnsupportedMediaType},
		{"application/json, text/plain", "", http.StatusUnsupportedMediaType},
		{"application/json", "gzip", http.StatusUnsupportedMediaType},
		{"application/json", "br", http.StatusUnsupportedMediaType},
		{"application/json", "identity, gzip", http.StatusUnsupportedMediaType},
		{"application/json; charset=utf-8", "", http.StatusOK},
		{"Application/JSON;charset=\"UTF-8\"", "", http.StatusOK},
		{"application/json", "identity", http.StatusOK},
	}
	taken := 0
	for _, row := range rows {
		t.Run(row.contentType+" "+row.contentEncoding, func(t *testing.T) {
			r := do(t, "POST", d.BaseURL+togglePath, d.Token, toggleBody(d.door("works").DoorID, "CLOSED"),
				"Content-Type", row.contentType, "Content-Encoding", row.contentEncoding)
			if row.status == http.StatusOK {
				taken++
			}
			if e := r.envelope(t); r.Status != row.status || (r.commandID() != "") != (row.status == http.StatusOK) {
				t.Errorf("got %d %q, want %d", r.Status, e.Message, row.status)
			}
		})
	}
	if commands := d.history(); len(commands) != taken {
		t.Errorf("%d commands are recorded, want %d", len(commands), taken)
	}
}

// TestWhatIsAccepted: strict does not mean narrow.
func TestWhatIsAccepted(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	rows := map[string]string{
		"unknown extra fields":    `{"door_id":"<id>","door_state":"CLOSED","x":{"door_state":"OPEN"},"door":null}`,
		"any order and spaces":    "\r\n\t {\"door_state\" : \"CLOSED\" ,\n\"door_id\" : \"<id>\"} \n",
		"escapes":                 `{"door_id":"<id>","door_state":"\u0043LOSED"}`,
		"id without dashes":       `{"door_id":"<bare>","door_state":"CLOSED"}`,
		"id in upper case":        `{"door_id":"<ID>","door_state":"CLOSED"}`,
		"id in upper case, bare":  `{"door_id":"<BARE>","door_state":"CLOSED"}`,
		"text beyond ASCII":       `{"door_id":"<id>","door_state":"CLOSED","note":"größer 🚪"}`,
		"one name in two objects": `{"door_id":"<id>","door_state":"CLOSED","x":{"a":1},"y":{"a":1}}`,
	}
	id := d.door("works").DoorID
	bare := strings.ReplaceAll(id, "-", "")
	fill := strings.NewReplacer("<BARE>", strings.ToUpper(bare), "<id>", id, "<bare>", bare, "<ID>", strings.ToUpper(id))
	for name, body := range rows {
		t.Run(name, func(t *testing.T) {
			r := do(t, "POST", d.BaseURL+togglePath, d.Token, fill.Replace(body))
			if r.Status != http.StatusOK || r.envelope(t).Message != "200" {
				t.Errorf("got %d %s", r.Status, r.Body)
			}
		})
	}
	for _, command := range d.history() {
		if command.DoorID != id {
			t.Errorf("a command is for the door %q, not the canonical %q", command.DoorID, id)
		}
	}
}

// TestMethods: what a path does not take is told, with what it takes.
func TestMethods(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	const toggleAllows, syncAllows = "POST, OPTIONS", "GET, HEAD, POST, OPTIONS"
	rows := []struct {
		method, path, allow string
		status              int
	}{
		{"GET", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"HEAD", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"PUT", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"PATCH", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"DELETE", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"post", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"BREW", togglePath, toggleAllows, http.StatusMethodNotAllowed},
		{"OPTIONS", togglePath, toggleAllows, http.StatusNoContent},
		{"PUT", syncPath, syncAllows, http.StatusMethodNotAllowed},
		{"PATCH", syncPath, syncAllows, http.StatusMethodNotAllowed},
		{"DELETE", syncPath, syncAllows, http.StatusMethodNotAllowed},
		{"OPTIONS", syncPath, syncAllows, http.StatusNoContent},
	}
	for _, row := range rows {
		t.Run(row.method+" "+row.path, func(t *testing.T) {
			r := do(t, row.method, d.BaseURL+row.path, d.Token, toggleBody(d.door("works").DoorID, "OPEN"))
			if r.Status != row.status || r.Header.Get("Allow") != row.allow {
				t.Errorf("got %d, Allow %q; want %d, %q", r.Status, r.Header.Get("Allow"), row.status, row.allow)
			}
			bodiless := row.method == "HEAD" || row.status == http.StatusNoContent
			if bodiless && len(r.Body) > 0 {
				t.Errorf("it has the body %q", r.Body)
			}
			if !bodiless {
				r.envelope(t)
			}
		})
	}
	d.nothingRecorded()
}
