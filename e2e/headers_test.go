package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestHeadersOfEveryAnswer: nothing may be cached, and all is JSON in UTF-8.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	works := toggleBody(d.door("works").DoorID, "CLOSED")
	rows := []struct {
		name, method, path, token, body string
		status                          int
	}{
		{"toggle", "POST", togglePath, d.Token, works, http.StatusOK},
		{"bad body", "POST", togglePath, d.Token, "{", http.StatusBadRequest},
		{"no token", "POST", togglePath, "", works, http.StatusUnauthorized},
		{"nobody's door", "POST", togglePath, d.Token, toggleBody(unknownID, "OPEN"), http.StatusNotFound},
		{"wrong method", "PUT", togglePath, d.Token, works, http.StatusMethodNotAllowed},
		{"too large", "POST", togglePath, d.Token, strings.Repeat("x", maxBody+1), http.StatusRequestEntityTooLarge},
		{"sync", "GET", syncPath, d.Token, "", http.StatusOK},
		{"sync without a token", "GET", syncPath, "", "", http.StatusUnauthorized},
		{"unknown endpoint", "POST", endpoints + "nothing", d.Token, works, http.StatusNotFound},
		{"endpoint with a slash", "POST", togglePath + "/", d.Token, works, http.StatusNotFound},
		{"other behaviours", "POST", togglePath, d.Token, toggleBody(d.door("sensor_lost").DoorID, "OPEN"), http.StatusPreconditionRequired},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := do(t, row.method, d.BaseURL+row.path, row.token, row.body)
			if r.Status != row.status {
				t.Errorf("got %d %s, want %d", r.Status, r.Body, row.status)
			}
			if r.Status != http.StatusOK || row.path != syncPath {
				r.envelope(t)
			}
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

// observed is when the service last heard of a door: it differs between two
// answers without a change of anything else.
var observed = regexp.MustCompile(`"observed_at":"[^"]*"`)

func unobserved(body []byte) string { return observed.ReplaceAllString(string(body), "") }

// TestCompression: where the client accepts it and it is worth it, and nowhere else.
func TestCompression(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	plain := do(t, "GET", d.BaseURL+syncPath, d.Token, "")
	toggle := toggleBody(d.door("works").DoorID, "CLOSED")
	rows := []struct {
		name, accept, path, token, body string
		compressed                      bool
	}{
		{"large", "gzip", syncPath, d.Token, "", true},
		{"large, one of several", "br;q=1.0, gzip;q=0.8, *;q=0.1", syncPath, d.Token, "", true},
		{"not asked for", "", syncPath, d.Token, "", false},
		{"another coding", "br", syncPath, d.Token, "", false},
		{"excluded", "gzip;q=0", syncPath, d.Token, "", false},
		{"small list", "gzip", syncPath, d.Other, "", false},
		{"small answer", "gzip", togglePath, d.Token, toggle, false},
		{"small refusal", "gzip", togglePath, d.Token, "{", false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := do(t, "POST", d.BaseURL+row.path, row.token, row.body, "Accept-Encoding", row.accept)
			if got := r.Header.Get("Content-Encoding"); got != map[bool]string{true: "gzip", false: ""}[row.compressed] {
				t.Fatalf("Content-Encoding is %q", got)
			}
			if row.token == d.Token && row.path == syncPath && !strings.Contains(r.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("Vary is %q", r.Header.Get("Vary"))
			}
			if !row.compressed {
				return
			}
			if len(r.Body) >= len(plain.Body) {
				t.Errorf("%d bytes are not fewer than %d", len(r.Body), len(plain.Body))
			}
			if text := unzipped(t, r.Body); unobserved(text) != unobserved(plain.Body) {
				t.Errorf("compressed: %s\nplain: %s", text, plain.Body)
			}
		})
	}
}

func unzipped(t *testing.T, body []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader) // checks the sum and the length, too
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestHeadAndOptions behave as HTTP says.
func TestHeadAndOptions(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, accept := range []string{"identity", "gzip"} {
		head, body := raw(t, strings.TrimPrefix(d.BaseURL, "http://"), "HEAD "+syncPath+" HTTP/1.1\r\nHost: lintel\r\n"+
			"Authorization: Bearer "+d.Token+"\r\nAccept-Encoding: "+accept+"\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(head, "HTTP/1.1 200 ") || !strings.Contains(head, "Content-Type: application/json; charset=utf-8\r\n") || body != "" {
			t.Errorf("HEAD, accepting %s: got %s with the body %q", accept, head, body)
		}
	}
	if r := do(t, "HEAD", d.BaseURL+syncPath, "", ""); r.Status != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") != challengeAlone {
		t.Errorf("HEAD without a token: got %d, %v", r.Status, r.Header)
	}
	for path, allow := range map[string]string{togglePath: "POST, OPTIONS", syncPath: "GET, HEAD, POST, OPTIONS"} {
		r := do(t, "OPTIONS", d.BaseURL+path, "", "")
		if r.Status != http.StatusNoContent || r.Header.Get("Allow") != allow || len(r.Body) != 0 {
			t.Errorf("OPTIONS %s: got %d, Allow %q, body %q", path, r.Status, r.Header.Get("Allow"), r.Body)
		}
	}
}

// raw sends bytes and reads until the service closes. A client library would
// drop a body that must not be there.
func raw(t *testing.T, address, text string) (head, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ = strings.Cut(string(answer), "\r\n\r\n")
	return head + "\r\n", body
}
