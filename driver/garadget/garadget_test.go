package garadget

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/door"
	"lintel/driver"
)

var garage = driver.Settings{Base: "My Garage", Travel: 15 * time.Second}

func TestCheck(t *testing.T) {
	for _, name := range []string{"My Garage", "Garage-2", "1f0024000b51343334363138", strings.Repeat("a", 30)} {
		if err := New().Check(driver.Settings{Base: name}); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	for name, reason := range map[string]string{
		"":                      "enter the name",
		strings.Repeat("a", 31): "longer than the 30",
		"My_Garage":             "turns into a space",
		"Garage/1":              "must not contain /",
		"Garage+":               "must not contain /",
		"#":                     "must not contain /",
		"$Garage":               "must not begin with $",
		`My "Garage"`:           `must not contain "`,
		`a\b`:                   `must not contain "`,
		"Gärage":                "drops",
		"Garage\n":              "drops",
		"Gar\x00age":            "drops",
		"Gar\xffage":            "drops",
	} {
		refused(t, driver.Settings{Base: name}, reason)
	}
	refused(t, driver.Settings{Base: "Garage", Entity: "door"}, "one door")
}

func refused(t *testing.T, s driver.Settings, reason string) {
	t.Helper()
	err := New().Check(s)
	if lintel.CodeOf(err) != lintel.CodeInvalid || !strings.Contains(err.Error(), reason) {
		t.Errorf("%+v: %v; want a refusal that says %q", s, err, reason)
	}
}

func TestTopicsKeepTheSpacesOfTheName(t *testing.T) {
	want := driver.Topics{
		Publish:   []string{"garadget/My Garage/status", "garadget/My Garage/config", "garadget/My Garage/LWT"},
		Subscribe: []string{"garadget/My Garage/command", "garadget/My Garage/set-config"},
		Commands:  []string{"garadget/My Garage/command"},
		Presence:  "garadget/My Garage/LWT",
		Gone:      "Offline",
	}
	if got := New().Topics(garage); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestSetupNamesTheSettings(t *testing.T) {
	text := New().Setup(garage, driver.Login{Host: "192.0.2.7", Port: 1883, Username: "the-user", Password: "the-password"})
	for _, want := range []string{"nme:   My Garage\n", "mqtt:  2 ", "mqip:  192.0.2.7\n", "mqpt:  1883\n", "mqus:  the-user\n", "mqpw:  the-password\n", "does not close"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "TLS") || strings.Contains(text, "IPv4") {
		t.Errorf("advice that is not needed in\n%s", text)
	}
	text = New().Setup(garage, driver.Login{Host: "lintel.example", Port: 8883, TLS: true})
	if !strings.Contains(text, "IPv4") || !strings.Contains(text, "no TLS") {
		t.Errorf("a name and a port with TLS need advice:\n%s", text)
	}
}

func status(word string) string {
	return fmt.Sprintf(`{"status":"%s","time":"10m","sensor":84,"bright":12,"signal":-61}`, word)
}

func say(topic, payload string) driver.Message {
	return driver.Message{Topic: "garadget/My Garage/" + topic, Payload: []byte(payload)}
}

func showing(r door.Reading) []door.Input {
	return []door.Input{door.Sensed{End: door.ClosedEnd, Reading: r}}
}

func TestOnlyTheDetectorIsEvidence(t *testing.T) {
	for payload, want := range map[string][]door.Input{
		status("closed"):               showing(door.At),
		status("opening"):              showing(door.Away),
		status("open"):                 showing(door.Away),
		status("closing"):              showing(door.Away),
		status("stopped"):              showing(door.Away),
		status("unknown"):              showing(door.Lost),
		status("initialized"):          showing(door.Lost),
		`{"status":"closed"}`:          showing(door.At),
		status("Closed"):               nil,
		status("ajar"):                 nil,
		status(""):                     nil,
		`{}`:                           nil,
		`{"status":1}`:                 nil,
		`{"status":["closed"]}`:        nil,
		`{"status":null}`:              nil,
		`"closed"`:                     nil,
		`closed`:                       nil,
		``:                             nil,
		`{"status":"closed"} trailing`: nil,
		`{"status":"closed","x":"` + strings.Repeat("a", maxStatus) + `"}`: nil,
	} {
		d := New().Device(garage)
		d.Receive(say("status", status("opening")))
		if got := d.Receive(say("status", payload)); !reflect.DeepEqual(got, want) {
			t.Errorf("%.80s gives %+v, want %+v", payload, got, want)
		}
	}
}

func TestOtherTopicsSayNothingOfTheDoor(t *testing.T) {
	for topic, payload := range map[string]string{
		"LWT": "Offline", "config": status("closed"), "command": "close", "status/x": status("closed"), "": status("closed"),
	} {
		if got := New().Device(garage).Receive(say(topic, payload)); got != nil {
			t.Errorf("%s %s gives %+v", topic, payload, got)
		}
	}
}

// house is a device and the door machine.
type house struct {
	t      *testing.T
	device driver.Device
	now    time.Time
	state  door.State
}

func connected(t *testing.T) *house {
	return &house{t: t, device: New().Device(garage), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (h *house) step(in door.Input) (d door.Decision) {
	h.state, d = h.device.Door().Step(h.now, h.state, in)
	return d
}

// says is what the device publishes, a second after the last.
func (h *house) says(words ...string) {
	for _, w := range words {
		h.now = h.now.Add(time.Second)
		for _, in := range h.device.Receive(say("status", status(w))) {
			h.step(in)
		}
	}
}

func (h *house) is(v door.Value, s door.Source) {
	h.t.Helper()
	if h.state.Value != v || h.state.Source != s {
		h.t.Errorf("the door is %s (%s), want %s (%s)", h.state.Value, h.state.Source, v, s)
	}
}

// asks wants a refusal, or else one publish; an empty payload is none.
func (h *house) asks(a door.Action, refusal door.Refusal, payload string) {
	h.t.Helper()
	d := h.step(door.Asked{Action: a})
	if d.Refusal != refusal {
		h.t.Errorf("%s: refused for %q, want %q", a, d.Refusal, refusal)
	}
	var got []driver.Message
	if d.Effect != door.NoEffect {
		got, _ = h.device.Actuate(d.Effect)
	}
	var want []driver.Message
	if payload != "" {
		want = []driver.Message{say("command", payload)}
	}
	if !reflect.DeepEqual(got, want) {
		h.t.Errorf("%s publishes %s, want %s", a, got, want)
	}
}

func TestADoorIsOpenedFromItsClosedEndOnly(t *testing.T) {
	for _, c := range []struct {
		said        string
		open, close door.Refusal
		opens       string
	}{
		{"", door.RefuseSensor, door.RefuseSensor, ""},
		{"open", door.RefuseSensor, door.RefuseSensor, ""},
		{"unknown", door.RefuseSensor, door.RefuseSensor, ""},
		{"closed initialized", door.RefuseSensor, door.RefuseSensor, ""},
		{"closed", "", "", "open"},
		{"closed opening", "", door.RefuseMoving, ""},
		{"closing", "", door.RefuseWrongWay, ""},
		{"stopped", "", door.RefuseWrongWay, ""},
		{"open open", "", door.RefuseWrongWay, ""},
	} {
		t.Run(c.said, func(t *testing.T) {
			h := connected(t)
			h.says(strings.Fields(c.said)...)
			h.asks(door.DoClose, c.close, "")
			h.asks(door.DoStop, door.RefuseUnsupported, "")
			h.asks(door.DoOpen, c.open, c.opens)
		})
	}
}

func TestTheBootsOpenIsNotBelievedUntilItIsRepeated(t *testing.T) {
	h := connected(t)
	if got, want := h.device.Connected(), []driver.Message{say("command", "get-status")}; !reflect.DeepEqual(got, want) {
		t.Errorf("asked with %s", got)
	}
	h.says("open")
	h.is(door.Unknown, door.Inferred)
	h.says("closed")
	h.is(door.Closed, door.FromSensor)

	h = connected(t)
	h.says("open", "open")
	h.is(door.Open, door.Inferred)
}

func TestAnOpenAfterItsTimeIsReckoned(t *testing.T) {
	h := connected(t)
	h.says("closed", "opening")
	h.is(door.Opening, door.FromSensor)
	h.now = h.now.Add(garage.Travel * 5 / 4)
	h.step(door.Tick{})
	h.says("open")
	h.is(door.Open, door.Inferred)
	h.asks(door.DoClose, door.RefuseWrongWay, "")
}

func TestStoppedSaysNothingOfTheWay(t *testing.T) {
	h := connected(t)
	h.says("closed", "opening", "open", "closing", "stopped")
	h.now = h.now.Add(time.Minute)
	h.step(door.Tick{})
	h.asks(door.DoClose, door.RefuseWrongWay, "")
	if m, ok := h.device.Actuate(door.Pulse); ok {
		t.Errorf("a pulse publishes %s", m)
	}
}

func TestOnlyAPulseDoesAnything(t *testing.T) {
	for _, e := range []door.Effect{door.NoEffect, door.DriveOpen, door.DriveClose, door.DriveStop} {
		h := connected(t)
		h.says("closed")
		if m, ok := h.device.Actuate(e); ok || m != nil {
			t.Errorf("%s publishes %s", e, m)
		}
	}
}

// TestSoleControlCloses: one press, and only from what the device takes for open.
func TestSoleControlCloses(t *testing.T) {
	s := garage
	s.Sole = true
	for word, want := range map[string]string{"closed": "open", "open": "close", "opening": "", "closing": "", "stopped": "", "unknown": ""} {
		d := New().Device(s)
		d.Receive(driver.Message{Topic: topic(s, "status"), Payload: []byte(status("closed"))})
		d.Receive(driver.Message{Topic: topic(s, "status"), Payload: []byte(status(word))})
		got := ""
		if m, ok := d.Actuate(door.Pulse); ok {
			got = string(m[0].Payload)
		}
		if got != want {
			t.Errorf("%s: told %q, want %q", word, got, want)
		}
	}
}

func FuzzReceive(f *testing.F) {
	for _, word := range []string{"closed", "open", "stopped", "unknown"} {
		f.Add([]byte(status(word)))
	}
	f.Add([]byte(`{"status":{}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		d := New().Device(garage)
		for range 2 {
			for _, in := range d.Receive(say("status", string(payload))) {
				if s, ok := in.(door.Sensed); !ok || s.End != door.ClosedEnd || s.Reading == door.Unheard {
					t.Errorf("%q gives %T%+v", payload, in, in)
				}
			}
		}
	})
}

// TestAtTheOwnersBrokerItKeepsItsLogin: what it is told to enter is not about a broker.
func TestAtTheOwnersBrokerItKeepsItsLogin(t *testing.T) {
	s := garage
	s.Upstream = true
	got := New().Setup(s, driver.Login{Host: "login-host", Username: "login-user", Password: "login-password"})
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, s.Base) {
		t.Errorf("%s", got)
	}
}
