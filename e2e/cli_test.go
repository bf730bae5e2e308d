package e2e

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority is a small authorization server with doors, as strict as Lintel's
// own: a refresh token is good once, and used twice it ends its family.
type authority struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	pending   int // polls to answer with authorization_pending
	denied    bool
	lifetime  int // of access tokens, in seconds
	made      int
	access    map[string]int // token to its family
	refresh   map[string]int
	spent     map[string]int
	ended     map[int]bool // families
	refreshes int
	reused    int
	asked     int               // times at the token endpoint
	metadata  map[string]string // instead of the true ones
	doors     []fakeDoor
	toggled   []string // id and state
	status    int      // of toggles
	headers   map[string]string
	values    []string       // of the first door, one for each sync after a toggle
	answer    map[string]any // in place of what the token endpoint would say
	lacking   string         // scope of every token; empty for none
	refusing  bool           // every token
	requests  int            // for doors and movements
}

type fakeDoor struct {
	id, name, value string
	fresh           bool
}

func startAuthority(t *testing.T, serve func(http.Handler) *httptest.Server) *authority {
	t.Helper()
	a := &authority{
		t: t, lifetime: 3600, access: map[string]int{}, refresh: map[string]int{}, spent: map[string]int{}, ended: map[int]bool{},
		metadata: map[string]string{}, status: 200, headers: map[string]string{"Lintel-Command-Id": "b4e99507-847d-45c7-b7f0-2005f13dee13"},
		doors: []fakeDoor{
			{"75d7b309-7f19-4b46-9eac-05d4c61a0319", "Left door", "closed", true},
			{"11111111-7f19-4b46-9eac-05d4c61a0319", "Left shed", "open", false},
			{"22222222-7f19-4b46-9eac-05d4c61a0319", "Barn", "open", true},
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", a.discovery)
	mux.HandleFunc("POST /oauth/v2/endpoints/device_authorization/", a.device)
	mux.HandleFunc("POST /oauth/v2/endpoints/token/", a.token)
	mux.HandleFunc("POST /oauth/v2/endpoints/revocation/", a.revocation)
	mux.HandleFunc(syncPath, a.sync)
	mux.HandleFunc(togglePath, a.toggle)
	a.set(func() { // as every request reads its address
		a.Server = serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			mux.ServeHTTP(w, r)
		}))
	})
	t.Cleanup(a.Close)
	return a
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (a *authority) discovery(w http.ResponseWriter, _ *http.Request) {
	meta := map[string]string{"issuer": a.URL}
	for _, name := range []string{"token", "revocation", "device_authorization"} {
		meta[name+"_endpoint"] = a.URL + "/oauth/v2/endpoints/" + name + "/"
	}
	for name, value := range a.metadata {
		meta[name] = value
	}
	say(w, 200, meta)
}

func (a *authority) device(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("client_id") != "lintelcli" || r.FormValue("scope") != "OPENDOOR CLOSEDOOR READ" || r.Header.Get("Authorization") != "" {
		a.t.Errorf("device_authorization asked with %v", r.Form)
	}
	say(w, 200, map[string]any{
		"device_code": "secret-device-code", "user_code": "BDKF-QZRT", "verification_uri": a.URL + "/device",
		"verification_uri_complete": a.URL + "/device?user_code=BDKF-QZRT", "expires_in": 600, "interval": 1,
	})
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	fail := func(code string) { say(w, 400, map[string]string{"error": code}) }
	a.asked++
	if r.FormValue("client_id") != "lintelcli" {
		fail("invalid_client")
		return
	}
	switch r.FormValue("grant_type") {
	case "urn:ietf:params:oauth:grant-type:device_code":
		switch {
		case r.FormValue("device_code") != "secret-device-code":
			fail("invalid_grant")
		case a.denied:
			fail("access_denied")
		case a.pending > 0:
			a.pending--
			fail("authorization_pending")
		default:
			a.grant(w, a.made)
		}
	case "refresh_token":
		given := r.FormValue("refresh_token")
		family, known := a.refresh[given]
		if spent, was := a.spent[given]; was {
			a.reused++
			a.ended[spent] = true
		}
		if !known || a.ended[family] {
			fail("invalid_grant")
			return
		}
		delete(a.refresh, given)
		a.spent[given] = family
		a.refreshes++
		a.lifetime = 3600
		a.grant(w, family)
	default:
		fail("unsupported_grant_type")
	}
}

func (a *authority) grant(w http.ResponseWriter, family int) {
	a.made++
	access, refresh := fmt.Sprintf("secret-access-%d", a.made), fmt.Sprintf("secret-refresh-%d", a.made)
	a.access[access], a.refresh[refresh] = family, family
	said := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": a.lifetime, "scope": "OPENDOOR CLOSEDOOR READ"}
	maps.Copy(said, a.answer)
	say(w, 200, said)
}

func (a *authority) revocation(w http.ResponseWriter, r *http.Request) {
	if family, known := a.refresh[r.FormValue("token")]; known && r.FormValue("client_id") == "lintelcli" {
		a.ended[family] = true
	}
	w.WriteHeader(200)
}

func (a *authority) allowed(w http.ResponseWriter, r *http.Request, scope string) bool {
	a.requests++
	family, known := a.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch {
	case !known || a.ended[family] || a.refusing:
		w.Header().Set("WWW-Authenticate", challengeAlone+`, error="invalid_token"`)
		say(w, 401, envelope{true, 1795265940898, "authentication error (401)"})
	case scope == a.lacking:
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`%s, error="insufficient_scope", scope=%q`, challengeAlone, scope))
		say(w, 403, envelope{true, 1795265940898, "permission error (403)"})
	default:
		return true
	}
	return false
}

func (a *authority) sync(w http.ResponseWriter, r *http.Request) {
	if !a.allowed(w, r, "READ") {
		return
	}
	if len(a.toggled) > 0 && len(a.values) > 0 {
		a.doors[0].value, a.values = a.values[0], a.values[1:]
	}
	doors := []any{}
	for i, d := range a.doors {
		state := "OPEN"
		if d.value == "closed" && d.fresh {
			state = "CLOSED"
		}
		doors = append(doors, map[string]any{"id": d.id, "name": d.name, "entity_number": i + 1, "state": state,
			"state_detail": map[string]any{"value": d.value, "source": "sensor", "fresh": d.fresh, "since": "2026-11-21T10:30:00.250Z"}})
	}
	say(w, 200, map[string]any{"devices": []any{map[string]any{"id": "c0ffee00-0000-4000-8000-000000000000", "active": true, "doors": doors}}})
}

func (a *authority) toggle(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID    string `json:"door_id"`
		State string `json:"door_state"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		a.t.Errorf("toggle: %v", err)
	}
	if !a.allowed(w, r, map[string]string{"OPEN": "OPENDOOR", "CLOSED": "CLOSEDOOR"}[asked.State]) {
		return
	}
	a.toggled = append(a.toggled, asked.ID+" "+asked.State)
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	say(w, a.status, envelope{true, 1795265940898, "a sentence of the server"})
}

// set changes the server between two commands.
func (a *authority) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// person runs lintel with a configuration directory of its own.
type person struct {
	t    *testing.T
	home string
}

func newPerson(t *testing.T) person {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the configuration directory is set by XDG_CONFIG_HOME, which is of Linux")
	}
	return person{t, t.TempDir()}
}

func (p person) file() string { return filepath.Join(p.home, "lintel", "credentials.json") }

// attempt runs a command, returns its exit code, and looks for secrets in what it says.
func (p person) attempt(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	stdout, stderr, err := invocation{args: args, environment: []string{"XDG_CONFIG_HOME=" + p.home}}.run()
	if exit, exited := errors.AsType[*exec.ExitError](err); exited {
		code = exit.ExitCode()
	} else if err != nil {
		p.t.Errorf("lintel %v: %v", args, err)
	}
	if strings.Contains(stdout+stderr, "secret-") {
		p.t.Errorf("lintel %v shows a secret:\n%s%s", args, stdout, stderr)
	}
	return code, stdout, stderr
}

// expect runs a command that must end with a code.
func (p person) expect(code int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	got, stdout, stderr := p.attempt(args...)
	if got != code {
		p.t.Fatalf("lintel %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout, stderr
}

// signedIn starts a server and signs a person in there.
func signedIn(t *testing.T) (person, *authority) {
	t.Helper()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	p.expect(0, "login", "--server", a.URL)
	return p, a
}

func TestLogin(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	a.set(func() { a.pending = 1 })
	out, _ := p.expect(0, "login", "--server", a.URL)
	for _, want := range []string{a.URL + "/device", "BDKF-QZRT", "Signed in at " + a.URL} {
		if !strings.Contains(out, want) {
			t.Errorf("login does not say %q:\n%s", want, out)
		}
	}
	for path, want := range map[string]fs.FileMode{p.file(): 0o600, filepath.Dir(p.file()): 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.file()), "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// A second login replaces the first and revokes it.
	out, _ = p.expect(0, "login", "--server", a.URL, "--json")
	first, last, _ := strings.Cut(out, "\n")
	if !regexp.MustCompile(`^\{"verification_uri":"http://\S+/device","verification_uri_complete":"\S+BDKF-QZRT","user_code":"BDKF-QZRT","expires_in":(600|599)\}$`).MatchString(first) {
		t.Errorf("first line: %s", first)
	}
	if last != fmt.Sprintf("{\"server\":%q,\"scope\":\"OPENDOOR CLOSEDOOR READ\"}\n", a.URL) {
		t.Errorf("last line: %s", last)
	}
	a.set(func() {
		if !a.ended[0] || len(a.ended) != 1 {
			t.Errorf("ended are %v", a.ended)
		}
	})
	p.expect(0, "doors") // of the last login
}

func TestLoginDenied(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	a.set(func() { a.denied = true })
	p.expect(3, "login", "--server", a.URL)
	p.expect(3, "doors", "--server", a.URL)
	p.expect(3, "doors")
}

// TestLoginTrustsOneOriginOnly: metadata of another server is not followed.
func TestLoginTrustsOneOriginOnly(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for name, value := range map[string]string{
		"issuer": "https://elsewhere.example", "token_endpoint": "https://elsewhere.example/token",
		"device_authorization_endpoint": "http://127.0.0.1:1/", "revocation_endpoint": "",
	} {
		a := startAuthority(t, httptest.NewServer)
		a.set(func() { a.metadata[name] = value })
		if _, stderr := p.expect(1, "login", "--server", a.URL); !strings.Contains(stderr, a.URL) {
			t.Errorf("%s: %s", name, stderr)
		}
	}
}

func TestPlainTextBeyondThisMachine(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, args := range [][]string{{"login"}, {"doors"}, {"open", "Barn"}, {"logout"}} {
		if _, stderr := p.expect(2, append(args, "--server", "http://garage.example")...); !strings.Contains(stderr, "--allow-plaintext") {
			t.Errorf("%v: %s", args, stderr)
		}
	}
}

// TestOwnAuthority: a self-signed certificate is trusted by --ca, which login remembers.
func TestOwnAuthority(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewTLSServer)
	file := filepath.Join(t.TempDir(), "cert.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr := p.expect(1, "login", "--server", a.URL); !strings.Contains(stderr, "--ca") {
		t.Errorf("without --ca: %s", stderr)
	}
	p.expect(0, "login", "--server", a.URL, "--ca", file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.expect(0, "doors")
}

// TestCompletionSpendsNoToken: what ends after two seconds may not refresh.
func TestCompletionSpendsNoToken(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	a.set(func() { a.lifetime = 1 })
	p.expect(0, "login", "--server", a.URL)
	if out, _ := p.expect(0, "__complete", "open", ""); out != ":4\n" {
		t.Errorf("offered %q", out)
	}
	a.set(func() {
		if a.refreshes != 0 {
			t.Errorf("%d refreshes", a.refreshes)
		}
	})
}

// TestOneRefreshOfMany: of processes that find the same stale token, one refreshes.
func TestOneRefreshOfMany(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	a.set(func() { a.lifetime = 1 }) // stale at once
	p.expect(0, "login", "--server", a.URL)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code, out, stderr := p.attempt("doors"); code != 0 || !strings.Contains(out, "Left door") {
				t.Errorf("exit code %d: %s%s", code, out, stderr)
			}
		})
	}
	all.Wait()
	a.set(func() {
		if a.refreshes != 1 || a.reused != 0 {
			t.Errorf("%d refreshes, %d of them with a spent token", a.refreshes, a.reused)
		}
	})
	if info, err := os.Stat(p.file()); err != nil || info.Mode() != 0o600 {
		t.Errorf("after a refresh: %v, %v", info.Mode(), err)
	}
}

func TestASignInThatHasEnded(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	a.set(func() { a.lifetime = 1 })
	p.expect(0, "login", "--server", a.URL)
	a.set(func() { a.ended[0] = true })
	for range 2 { // the second time without asking the server
		if _, stderr := p.expect(3, "doors", "--server", a.URL); !strings.Contains(stderr, "lintel login --server "+a.URL) {
			t.Errorf("it says %s", stderr)
		}
	}
	a.set(func() {
		if a.asked != 2 { // by login and by one of the two
			t.Errorf("the token endpoint was asked %d times", a.asked)
		}
		a.lifetime = 3600
	})
	p.expect(0, "login", "--server", a.URL)
	a.set(func() { a.ended[1] = true }) // the access token looks good, and is refused
	p.expect(3, "doors")
}

func TestDoorsListed(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	a.set(func() { a.doors[2].name = "Barn \x1b[2J" })
	out, _ := p.expect(0, "doors")
	for _, want := range []string{`NAME +STATE +SINCE +CONTROLLER +ID`, `Left door +closed +2026-11-2[0-2]T\d\d:\d\d:00(Z|[+-]\d\d:\d\d) .* 75d7b309`, `Left shed +open \(not fresh\)`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("a door's name reaches the terminal as it is: %q", out)
	}
	out, _ = p.expect(0, "doors", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	sameNames(t, "door", parsed[object](t, lines[0]), strings.Fields("id name number controller_id state value source fresh since observed_at")...)
	if len(lines) != 3 {
		t.Errorf("%d lines", len(lines))
	}
}

// TestDoorsAreInOrder: by name, in either letter case, then by id.
func TestDoorsAreInOrder(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	a.set(func() {
		a.doors = []fakeDoor{
			{"33333333-7f19-4b46-9eac-05d4c61a0319", "shed", "closed", true}, {"22222222-7f19-4b46-9eac-05d4c61a0319", "barn", "open", true},
			{"11111111-7f19-4b46-9eac-05d4c61a0319", "Shed", "open", false}, {"44444444-7f19-4b46-9eac-05d4c61a0319", "Attic", "open", true},
		}
	})
	for _, args := range [][]string{{"doors"}, {"doors", "--json"}} {
		out, _ := p.expect(0, args...)
		if got := strings.Join(regexp.MustCompile(`(\d)\d{7}-7f19`).FindAllString(out, -1), " "); got != "44444444-7f19 22222222-7f19 11111111-7f19 33333333-7f19" {
			t.Errorf("%v: the order is %s", args, got)
		}
	}
}

// TestASignInWithoutAScope says which it lacks. Without READ an id moves a door all
// the same.
func TestASignInWithoutAScope(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	a.set(func() { a.lacking = "READ" })
	const id = "75d7b309-7f19-4b46-9eac-05d4c61a0319"
	for _, asked := range []string{id, "75D7B3097F194B469EAC05D4C61A0319"} {
		a.set(func() { a.toggled, a.requests = nil, 0 })
		if out, _ := p.expect(0, "open", asked); out != id+": the controller took the request to open.\n" {
			t.Errorf("%s: it says %s", asked, out)
		}
		a.set(func() {
			if len(a.toggled) != 1 || a.toggled[0] != id+" OPEN" || a.requests != 1 {
				t.Errorf("%s: moved %v in %d requests", asked, a.toggled, a.requests)
			}
		})
	}
	out, _ := p.expect(0, "close", id, "--json")
	if want := `{"door_id":"` + id + `","name":"","asked":"CLOSED","status":200,`; !strings.HasPrefix(out, want) {
		t.Errorf("got %s, want %s", out, want)
	}
	a.set(func() { a.toggled = nil })
	for _, row := range []struct {
		args    []string
		instead string
	}{
		{[]string{"doors"}, ""}, {[]string{"open", "Barn"}, "; or name the door by its id\n"},
		{[]string{"open", id, "--wait"}, "; or leave out --wait\n"}, {[]string{"close", "Barn", "--wait"}, "; or name the door by its id and leave out --wait\n"},
	} {
		if _, stderr := p.expect(4, row.args...); !strings.Contains(stderr, "does not allow seeing doors (scope READ)") || !strings.HasSuffix(stderr, row.instead) {
			t.Errorf("%v: it says %s", row.args, stderr)
		}
	}
	a.set(func() {
		if len(a.toggled) != 0 {
			t.Errorf("moved %v", a.toggled)
		}
		a.lacking = "CLOSEDOOR"
	})
	if _, stderr := p.expect(4, "close", "Barn"); !strings.Contains(stderr, "does not allow closing doors (scope CLOSEDOOR)") {
		t.Errorf("it says %s", stderr)
	}
	p.expect(0, "open", "Barn")
}

// TestARefusedTokenIsRenewedOnce, however good it looks here, and the request is
// repeated once. What has a command id is not.
func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	forget := func() { clear(a.access); a.refreshes, a.requests, a.toggled = 0, 0, nil }
	is := func(what string, refreshes, requests, toggled int) {
		t.Helper()
		a.set(func() {
			if a.refreshes != refreshes || a.requests != requests || len(a.toggled) != toggled {
				t.Errorf("%s: %d refreshes, %d requests, moved %v", what, a.refreshes, a.requests, a.toggled)
			}
		})
	}
	a.set(forget)
	p.expect(0, "doors")
	is("doors", 1, 2, 0)
	a.set(forget)
	p.expect(0, "open", "75d7b309-7f19-4b46-9eac-05d4c61a0319")
	is("open", 1, 2, 1)

	a.set(forget)
	if out, _ := p.expect(0, "__complete", "open", ""); out != ":4\n" {
		t.Errorf("offered %q", out)
	}
	is("completion", 0, 1, 0)

	a.set(forget)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code, out, stderr := p.attempt("doors"); code != 0 {
				t.Errorf("exit code %d: %s%s", code, out, stderr)
			}
		})
	}
	all.Wait()
	a.set(func() {
		if a.refreshes != 1 || a.reused != 0 {
			t.Errorf("many: %d refreshes, %d of them with a spent token", a.refreshes, a.reused)
		}
		forget()
		a.refusing = true
	})
	if _, stderr := p.expect(3, "open", "75d7b309-7f19-4b46-9eac-05d4c61a0319"); !strings.Contains(stderr, "refused the token") {
		t.Errorf("it says %s", stderr)
	}
	is("refused again", 1, 2, 0)

	a.set(func() {
		a.refusing, a.refreshes, a.requests = false, 0, 0
		a.status, a.headers["WWW-Authenticate"] = 401, `Bearer error="invalid_token"`
	})
	p.expect(6, "open", "75d7b309-7f19-4b46-9eac-05d4c61a0319")
	is("recorded", 0, 1, 1)
}

// TestTokensAreLookedOver before they are kept, by login and by a refresh.
func TestTokensAreLookedOver(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]map[string]any{
		"another type": {"token_type": "mac"}, "no type": {"token_type": ""},
		"no access token": {"access_token": ""}, "an access token with a space": {"access_token": "secret- x"},
		"an access token of two lines": {"access_token": "secret-\nx"}, "an access token in Unicode": {"access_token": "secret-\u00e9"},
		"no refresh token": {"refresh_token": ""}, "a refresh token of two lines": {"refresh_token": "secret-\r\nx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, a := newPerson(t), startAuthority(t, httptest.NewServer)
			a.set(func() { a.answer, a.lifetime = answer, 1 })
			if _, stderr := p.expect(1, "login", "--server", a.URL); !strings.Contains(stderr, a.URL) {
				t.Errorf("login says %s", stderr)
			}
			if _, err := os.Stat(p.file()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("login kept something: %v", err)
			}
			a.set(func() { a.answer = map[string]any{"token_type": "bEARER"} })
			p.expect(0, "login", "--server", a.URL)
			before, err := os.ReadFile(p.file())
			if err != nil {
				t.Fatal(err)
			}
			a.set(func() { a.answer = answer })
			if _, stderr := p.expect(1, "doors"); !strings.Contains(stderr, a.URL) {
				t.Errorf("the refresh says %s", stderr)
			}
			if after, err := os.ReadFile(p.file()); err != nil || string(after) != string(before) {
				t.Errorf("the refresh kept something (%v)", err)
			}
		})
	}
}

// TestAServerWithoutAccounts: there is nobody to sign in yet, and the answer is how to
// change that.
func TestAServerWithoutAccounts(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		say(w, 503, map[string]string{"error": "not set up"})
	}))
	defer server.Close()
	_, stderr := p.expect(1, "login", "--server", server.URL)
	for _, want := range []string{"no account yet", "lintel serve", "lintel user add"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
}

// TestALockThatCannotBeMade is not another command's.
func TestALockThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p, a := newPerson(t), startAuthority(t, httptest.NewServer)
	a.set(func() { a.lifetime = 1 })
	p.expect(0, "login", "--server", a.URL)
	lock := filepath.Join(filepath.Dir(p.file()), "credentials.lock")
	if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"doors"}, {"login", "--server", a.URL}, {"logout"}} {
		if _, stderr := p.expect(1, args...); strings.Contains(stderr, "another") || !strings.Contains(stderr, lock+" cannot be locked") {
			t.Errorf("%v: it says %s", args, stderr)
		}
	}
}

// TestAControllerOutOfReach: the command line says so in its own words too.
func TestAControllerOutOfReach(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	for reason, want := range map[string]string{
		"offline": "the door's controller cannot be reached: ", "": "the door's controller cannot be reached: ",
		"deadline": "the door's controller did not answer in time: ", "late": "the door's controller could not act in time: ",
	} {
		a.set(func() { a.status, a.headers["Lintel-Reason"] = 404, reason })
		if _, stderr := p.expect(5, "open", "Barn"); !strings.Contains(stderr, want) || !strings.Contains(stderr, "a sentence of the server") {
			t.Errorf("%q: it says %s", reason, stderr)
		}
	}
}

func TestNamesMayBeShortened(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	for _, row := range []struct {
		asked string
		code  int
		moved string
	}{
		{"75d7b309-7f19-4b46-9eac-05d4c61a0319", 0, "75d7b309"}, {"75D7B3097F194B469EAC05D4C61A0319", 0, "75d7b309"},
		{"Left shed", 0, "11111111"}, {"left SHED", 0, "11111111"}, {"ba", 0, "22222222"}, {"shed", 0, "11111111"},
		{"left", 4, ""}, {"Left ", 4, ""}, {"garage", 4, ""}, {"75d7", 4, ""}, {"", 2, ""}, {" ", 2, ""},
	} {
		a.set(func() { a.toggled = nil })
		_, stderr := p.expect(row.code, "open", row.asked)
		a.set(func() {
			if got := strings.Join(a.toggled, ","); (row.moved == "") != (got == "") || !strings.HasPrefix(got, row.moved) {
				t.Errorf("%q moved %q", row.asked, got)
			}
		})
		if row.code == 4 && !strings.Contains(stderr, "Left shed") {
			t.Errorf("%q: no candidates in %s", row.asked, stderr)
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	for _, row := range []struct {
		status, code int
		command      bool
	}{
		{200, 0, true}, {400, 6, true}, {401, 6, true}, {428, 6, true}, {501, 6, true}, {404, 5, true},
		{400, 1, false}, {401, 3, false}, {403, 4, false}, {404, 4, false}, {429, 1, false}, {500, 1, false}, {500, 1, true},
	} {
		a.set(func() {
			a.status, a.headers = row.status, map[string]string{"Lintel-Reason": "a_word"}
			if row.command {
				a.headers["Lintel-Command-Id"] = "b4e99507-847d-45c7-b7f0-2005f13dee13"
			}
		})
		out, _ := p.expect(row.code, "close", "Barn", "--json")
		var line struct {
			Status   int    `json:"status"`
			Asked    string `json:"asked"`
			Reason   string `json:"reason"`
			ExitCode int    `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(out), &line); err != nil || line.Status != row.status || line.Asked != "CLOSED" || line.Reason != "a_word" || line.ExitCode != row.code {
			t.Errorf("%d: %s (%v)", row.status, out, err)
		}
	}
	for _, args := range [][]string{{"open"}, {"open", "Barn", "Left"}, {"doors", "--nonsense"}, {"doors", "--server", "ftp://x"}, {"open", "Barn", "--timeout", "0s"}, {"login", "--ca", "/nowhere"}} {
		p.expect(2, args...)
	}
	a.Close()
	p.expect(1, "doors")
}

func TestWaitUntilTheDoorIsThere(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	a.set(func() { a.values = []string{"closed", "opening", "open"} })
	out, progress := p.expect(0, "open", "Left door", "--wait")
	if out != "Left door is open.\n" || progress != "Left door: closed\nLeft door: opening\nLeft door: open\n" {
		t.Errorf("got %q, progress %q", out, progress)
	}
	a.set(func() { a.headers["Lintel-Reason"] = "already_there" })
	if out, _ := p.expect(0, "open", "Left door"); !strings.Contains(out, "nothing to do") {
		t.Errorf("already there: %s", out)
	}
	out, _ = p.expect(7, "close", "Left door", "--wait", "--timeout", "100ms", "--json")
	if !strings.Contains(out, `"value":"open","seen":false,"exit_code":7`) {
		t.Errorf("not there in time: %s", out)
	}
	// What was heard of too long ago is not seen.
	p.expect(7, "open", "Left shed", "--wait", "--timeout", "100ms")
}

func TestLogout(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	p.expect(0, "logout")
	a.set(func() {
		if !a.ended[0] {
			t.Error("the grant was not revoked")
		}
	})
	if text, err := os.ReadFile(p.file()); err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), a.URL) {
		t.Errorf("left behind: %s (%v)", text, err)
	}
	p.expect(3, "logout", "--server", a.URL)
	p.expect(3, "doors")
	// A server that cannot be told: forgotten all the same, and said so.
	p.expect(0, "login", "--server", a.URL)
	a.Close()
	if out, stderr := p.expect(1, "logout", "--json"); !strings.Contains(out, `"revoked":false`) || !strings.Contains(stderr, "forgotten here") {
		t.Errorf("got %s%s", out, stderr)
	}
	p.expect(3, "doors", "--server", a.URL)
}

func TestSeveralServers(t *testing.T) {
	t.Parallel()
	p, first := signedIn(t)
	second := startAuthority(t, httptest.NewServer)
	second.set(func() {
		second.doors = []fakeDoor{{"33333333-7f19-4b46-9eac-05d4c61a0319", "Cabin", "closed", true}}
	})
	p.expect(0, "login", "--server", second.URL)
	if out, _ := p.expect(0, "doors"); !strings.Contains(out, "Cabin") {
		t.Errorf("not the last login's: %s", out)
	}
	if out, _ := p.expect(0, "doors", "--server", first.URL+"/"); !strings.Contains(out, "Barn") {
		t.Errorf("not the one asked for: %s", out)
	}
	p.expect(0, "logout")
	if out, _ := p.expect(0, "doors"); !strings.Contains(out, "Barn") {
		t.Errorf("not the one that is left: %s", out)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	p, a := signedIn(t)
	out, _ := p.expect(0, "__complete", "open", "left")
	if out != "Left door\nLeft shed\n:4\n" {
		t.Errorf("offered %q", out)
	}
	a.set(func() { a.doors[1].name = "Left door" }) // two of one name
	if out, _ = p.expect(0, "__complete", "close", "7"); out != "75d7b309-7f19-4b46-9eac-05d4c61a0319\tLeft door\n:4\n" {
		t.Errorf("offered %q", out)
	}
	a.Close()
	began := time.Now()
	if out, _ = p.expect(0, "__complete", "open", ""); out != ":4\n" || time.Since(began) > 10*time.Second {
		t.Errorf("without a server: %q", out)
	}
	if out, _ = p.expect(0, "__complete", "doors", "--server", "http"); out != a.URL+"\n:4\n" {
		t.Errorf("servers: %q", out)
	}
}
