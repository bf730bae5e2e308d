package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const claimsPath = "/api/v2/claims"

// happened is what lintel controller events --json prints.
type happened struct {
	ControllerID string `json:"controller_id"`
	Kind         string
	Detail       string
}

// happenings lists what happened to an account's controllers, oldest first, without the details.
func (s *site) happenings(email string) (kinds []string) {
	s.t.Helper()
	for line := range strings.Lines(lintel(s.t, "controller", "events", "--data", s.Data, "--json", "--user", email)) {
		kinds = append([]string{parsed[happened](s.t, line).Kind}, kinds...)
	}
	return kinds
}

// madeCode is a one-time code as --json prints it.
type madeCode struct {
	ControllerID string `json:"controller_id"`
	Code         string
}

func (s *site) controllerCode(args ...string) madeCode {
	s.t.Helper()
	return parsed[madeCode](s.t, lintel(s.t, append(append([]string{"controller"}, args...), "--data", s.Data, "--json")...))
}

func (s *site) claim(code string) response {
	s.t.Helper()
	return do(s.t, "POST", s.BaseURL+claimsPath, "", fmt.Sprintf(`{"code":%q}`, code))
}

// TestClaimedHardwareConnects: a one-time code is all that hardware is given by hand.
// It works once, and takes the credentials from whatever had them.
func TestClaimedHardwareConnects(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.controllerCode("add", "--user", h.Email, "--name", "Garage", "--claim")
	first := h.claim(made.Code)
	if first.Status != http.StatusCreated {
		t.Fatalf("claim: %d %s", first.Status, first.Body)
	}
	claimed := parsed[credentials](t, string(first.Body))
	claimed.line = string(first.Body)
	if claimed.ID != made.ControllerID || !strings.Contains(string(first.Body), `"mqtt":{"port":`+h.MQTT[strings.LastIndex(h.MQTT, ":")+1:]+`,"tls":false}`) {
		t.Errorf("claimed %s", first.Body)
	}
	fleet := start(t, "sim", "--broker", h.MQTT, "--credentials", claimed.file(t), "--verbose")
	h.awaitDoor(claimed.door(), "closed/sensor/true/CLOSED")
	again, wrong := h.claim(made.Code), h.claim("BCDF-GHJK-LMNP")
	if again.Status != http.StatusNotFound || string(again.Body) != string(wrong.Body) {
		t.Errorf("a second time: %d %s; a wrong one: %d %s", again.Status, again.Body, wrong.Status, wrong.Body)
	}
	next := h.claim(h.controllerCode("code", made.ControllerID, "--user", h.Email).Code)
	if next.Status != http.StatusCreated || strings.Contains(string(next.Body), claimed.Secret) {
		t.Errorf("claimed anew: %d", next.Status)
	}
	eventually(t, "the old hardware to be shut out", func() bool { return strings.Contains(fleet.stderr.String(), "cannot connect") })
	if got := strings.Join(h.happenings(h.Email), " "); got != "claimed claimed" {
		t.Errorf("the owner is told %s", got)
	}
	for range 20 {
		if h.claim("BCDF-GHJK-LMNP").Status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("guessing is not limited")
}

// TestEveryTakeoverIsTold: each controller's owner, also where the MQTT server has ended
// the older connection before the newer one is announced.
func TestEveryTakeoverIsTold(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	const controllers = 20
	for range controllers {
		made := h.addController(h.Email, "Garage")
		connect(t, h.MQTT, made).report("closed", "sensor", "ok")
		connect(t, h.MQTT, made).report("closed", "sensor", "ok")
	}
	eventually(t, "every takeover to be told", func() bool { return len(h.happenings(h.Email)) == controllers })
}

// TestRotatingEndsClaimCodes: whoever rotates because something leaked means the code, too.
func TestRotatingEndsClaimCodes(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.controllerCode("add", "--user", h.Email, "--name", "Garage", "--claim")
	lintel(t, "controller", "rotate", made.ControllerID, "--data", h.Data)
	if r := h.claim(made.Code); r.Status != http.StatusNotFound {
		t.Errorf("after the rotation: %d", r.Status)
	}
	made = h.controllerCode("code", made.ControllerID, "--user", h.Email)
	lintel(t, "user", "disable", h.Email, "--data", h.Data)
	if r := h.claim(made.Code); r.Status != http.StatusNotFound {
		t.Errorf("of a disabled account: %d", r.Status)
	}
}

// TestASecondConnectionIsToldTheOwner: the newer one wins, and the owner is told once,
// however often the two throw each other off.
func TestASecondConnectionIsToldTheOwner(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	for range 3 {
		older := connect(t, h.MQTT, made)
		older.report("closed", "sensor", "ok")
		newer := connect(t, h.MQTT, made)
		eventually(t, "the older connection to end", func() bool { return !older.client.IsConnectionOpen() })
		newer.report("open", "sensor", "ok")
		if got := h.listed(made.door()).String(); got != "open/sensor/true/OPEN" {
			t.Errorf("the newer connection does not count: %s", got)
		}
	}
	eventually(t, "the owner to be told", func() bool { return len(h.happenings(h.Email)) > 0 })
	if got := strings.Join(h.happenings(h.Email), " "); got != "second_connection" {
		t.Errorf("the owner is told %s", got)
	}
}

// TestATransferCutsTheOldOwner off everything at once, and shows the new one nothing of it.
func TestATransferCutsTheOldOwner(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	fleet := start(t, "sim", "--broker", h.MQTT, "--credentials", made.file(t), "--travel", "100ms", "--verbose")
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
	if r := h.toggle(made.door(), "OPEN"); r.Status != http.StatusOK {
		t.Fatalf("open: %d", r.Status)
	}
	h.awaitDoor(made.door(), "open/sensor/true/OPEN")
	const bob = "bob@house.example"
	h.addUser(bob)
	take := func(code string) (string, string, error) {
		return try("controller", "take", code, "--user", bob, "--data", h.Data, "--json")
	}
	for _, code := range []string{made.ID, "BCDF-GHJK-LMNP", h.controllerCode("code", made.ID, "--user", h.Email).Code} {
		if out, _, err := take(code); err == nil {
			t.Fatalf("taken without a release: %s", out)
		}
	}
	refused(t, invocation{args: []string{"controller", "release", made.ID, "--user", bob, "--data", h.Data}})
	if r := h.toggle(made.door(), "CLOSED"); r.Status != http.StatusOK {
		t.Errorf("before the release: %d", r.Status)
	}
	released := h.controllerCode("release", made.ID, "--user", h.Email)
	out, stderr, err := take(released.Code)
	if err != nil {
		t.Fatal(stderr)
	}
	taken := parsed[credentials](t, out)
	taken.line = out

	nowhere := h.toggle("0f8fad5b-d9cb-469f-a165-70867728950e", "OPEN")
	for what, door := range map[string]string{"the old door": made.door(), "the new door": taken.door()} {
		if r := h.toggle(door, "OPEN"); r.Status != http.StatusNotFound || timeless(r.Body) != timeless(nowhere.Body) {
			t.Errorf("the old owner moves %s: %d %s", what, r.Status, r.Body)
		}
	}
	if got := do(t, "POST", h.BaseURL+syncPath, h.Token, "").Body; strings.Contains(string(got), "Garage") {
		t.Errorf("the old owner still sees %s", got)
	}
	eventually(t, "the old hardware to be shut out", func() bool { return strings.Contains(fleet.stderr.String(), "cannot connect") })
	if _, _, err := take(released.Code); err == nil {
		t.Error("taken twice")
	}

	theirs := *h
	theirs.Email, theirs.Token = bob, h.createToken(bob, "OPENDOOR,CLOSEDOOR,READ").AccessToken
	start(t, "sim", "--broker", h.MQTT, "--credentials", taken.file(t), "--travel", "100ms")
	theirs.awaitDoor(taken.door(), "closed/sensor/true/CLOSED")
	if moved := theirs.events(taken.door()); len(moved) > 0 {
		t.Errorf("the new owner sees what happened before: %+v", moved)
	}
	if got := strings.Join(h.happenings(bob), " ") + "/" + strings.Join(h.happenings(h.Email), " "); got != "taken/gone" {
		t.Errorf("the owners are told %s", got)
	}
	if r := theirs.toggle(taken.door(), "OPEN"); r.Status != http.StatusOK {
		t.Errorf("the new owner opens: %d %s", r.Status, r.Body)
	}
}

// timeless is a body without its timestamp.
func timeless(body []byte) string {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return string(body)
	}
	delete(fields, "timestamp")
	text, _ := json.Marshal(fields) // of what was just read
	return string(text)
}
