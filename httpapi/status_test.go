package httpapi

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lintel"
	"lintel/access"
	"lintel/api"
	"lintel/control"
)

// allCodes reads the codes from their source, so that a new one is seen here.
func allCodes(t *testing.T) []lintel.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../error.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var codes []lintel.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, lintel.Code(text))
		}
		return true
	})
	return codes
}

func TestEveryCodeHasAStatus(t *testing.T) {
	codes := allCodes(t)
	if len(codes) == 0 || len(codes) != len(statusOf) {
		t.Errorf("%d codes, %d statuses", len(codes), len(statusOf))
	}
	for _, code := range codes {
		if status := statusOf[code]; status < 400 || http.StatusText(status) == "" {
			t.Errorf("%q has the status %d", code, status)
		}
	}
}

// TestEveryErrorOfMove has control fail with each code, and with errors that
// have none. Whatever the cause holds stays inside.
func TestEveryErrorOfMove(t *testing.T) {
	cause := errors.New(`sql: no rows in "people" at store.go:12`)
	for _, code := range append(allCodes(t), "no code at all", "") {
		t.Run(string(code), func(t *testing.T) {
			err := error(&lintel.Error{Code: code, Message: "for a person", Err: cause})
			want := statusOf[code]
			if want == 0 {
				err, want = fmt.Errorf("move: %w", cause), http.StatusInternalServerError
				if code == "" {
					err = &lintel.Error{Message: "for a person", Err: cause}
				}
			}
			w := newWorld(t)
			w.doors.move = func(control.Request) (control.Receipt, error) { return control.Receipt{}, err }
			checkFailure(t, w, w.toggle(t, good), want)
		})
	}
}

// TestEveryErrorOfTheStore has each read of the store fail.
func TestEveryErrorOfTheStore(t *testing.T) {
	cause := errors.New(`sql: connection refused at store.go:12`)
	for _, c := range []struct{ method, path, body string }{
		{"Subject", api.V1Sync, ""}, {"Devices", api.V1Sync, ""}, {"Subject", api.V1Toggle, "not JSON"},
	} {
		for _, err := range []error{cause, &lintel.Error{Code: lintel.CodeInternal, Message: "x", Err: cause}} {
			w := newWorld(t)
			w.store.fail = func(method string) error {
				if method == c.method {
					return err
				}
				return nil
			}
			checkFailure(t, w, w.send(t, w.request(t, http.MethodPost, c.path, c.body)), http.StatusInternalServerError)
		}
	}
}

func checkFailure(t *testing.T, w *world, r reply, want int) {
	t.Helper()
	if r.status != want {
		t.Errorf("status %d instead of %d", r.status, want)
	}
	if got := r.envelope(t).Message; got != message(want, "Lintel") {
		t.Errorf("message %q", got)
	}
	for _, internal := range []string{"sql:", ".go:", "for a person"} {
		if strings.Contains(r.body+fmt.Sprint(r.header), internal) {
			t.Errorf("%q leaks: %s %v", internal, r.body, r.header)
		}
	}
	if logged := strings.Contains(w.log.String(), "sql: "); logged != (want == 500) {
		t.Errorf("the cause is in the log: %v\n%s", logged, w.log)
	}
	if retry := r.header.Get("Retry-After"); (retry != "") != (want == 429 || want == 503) {
		t.Errorf("Retry-After %q", retry)
	}
	if challenge := r.header.Get("WWW-Authenticate"); (challenge != "") != (want == 401 || want == 403) {
		t.Errorf("WWW-Authenticate %q", challenge)
	}
}

// TestPanics has each part under a handler panic: the answer is a 500 like any
// other, and the next request is served.
func TestPanics(t *testing.T) {
	oops := func() { panic("sql: oops at store.go:12") }
	for name, c := range map[string]struct {
		path   string
		damage func(w *world)
	}{
		"move": {api.V1Toggle, func(w *world) {
			w.doors.move = func(control.Request) (control.Receipt, error) { oops(); return control.Receipt{}, nil }
		}},
		"subject": {api.V1Sync, func(w *world) { w.store.fail = func(string) error { oops(); return nil } }},
		"state": {api.V1Sync, func(w *world) {
			w.doors.state = func(lintel.Door) (lintel.DoorState, bool) { oops(); return lintel.DoorState{}, false }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.store.devices[ownerID] = testDevices()
			move, state := w.doors.move, w.doors.state
			c.damage(w)
			for range 2 {
				checkFailure(t, w, w.send(t, w.request(t, http.MethodPost, c.path, good)), http.StatusInternalServerError)
			}
			w.doors.move, w.doors.state, w.store.fail = move, state, nil
			if r := w.send(t, w.request(t, http.MethodPost, c.path, good)); r.status != http.StatusOK {
				t.Errorf("afterwards: status %d", r.status)
			}
		})
	}
}

// TestMessages holds the texts to the shapes of the interface's section 7.
func TestMessages(t *testing.T) {
	for status, shape := range map[int]string{
		200: `^200$`,
		400: `^Error communicating with Garage, malformed request\b.*\(400\)$`,
		401: `^Error communicating with Garage, authentication error\b.*\(401\)$`,
		404: `(?i)^sorry.*Garage cannot be found.*unplug.*plug it back in`,
		428: `Garage requires pairing a door sensor before the request can be processed.*\(428\)$`,
		501: `^Error communicating with Garage, not implemented error\b.*\(501\)$`,
		403: `^Error communicating with Garage, .*\(403\)$`,
		405: `^Error communicating with Garage, .*\(405\)$`,
		413: `^Error communicating with Garage, .*\(413\)$`,
		415: `^Error communicating with Garage, .*\(415\)$`,
		429: `^Error communicating with Garage, .*\(429\)$`,
		500: `^Error communicating with Garage, .*\(500\)$`,
		503: `^Error communicating with Garage, .*\(503\)$`,
	} {
		if got := message(status, "Garage"); !regexp.MustCompile(shape).MatchString(got) {
			t.Errorf("%d: %q is not of the shape %s", status, got, shape)
		}
	}
}

// TestForbiddenNamesTheScope holds RFC 6750 §3.1.
func TestForbiddenNamesTheScope(t *testing.T) {
	for state, action := range map[string]lintel.Action{api.V1Open: lintel.ActionOpen, api.V1Closed: lintel.ActionClose} {
		w := newWorld(t)
		w.doors.move = func(control.Request) (control.Receipt, error) {
			return control.Receipt{}, &lintel.Error{Code: lintel.CodeForbidden}
		}
		r := w.toggle(t, strings.Replace(good, api.V1Open, state, 1))
		want := fmt.Sprintf(`Bearer realm="lintel", error="insufficient_scope", scope="%s"`, access.ScopeFor(action))
		if got := r.header.Get("WWW-Authenticate"); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
}
