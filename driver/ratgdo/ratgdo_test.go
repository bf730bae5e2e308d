package ratgdo

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/door"
	"lintel/driver"
)

var garage = driver.Settings{Base: "home/garage/ratgdo", Travel: 15 * time.Second}

func TestCheck(t *testing.T) {
	for _, base := range []string{"home/garage/GlassDoor", "/ratgdo/Garage_Door", "ratgdo-x-ratgdo-x", "Tor links", strings.Repeat("a", 200)} {
		if err := New().Check(driver.Settings{Base: base}); err != nil {
			t.Errorf("%q is refused: %v", base, err)
		}
	}
	for base, reason := range map[string]string{
		"":                       "enter the base topic",
		"home/ratgdo/":           "ends with a slash",
		"/":                      "ends with a slash",
		"home/+/ratgdo":          "must not contain + or #",
		"home/#":                 "must not contain + or #",
		"$SYS/ratgdo":            "must not begin with $",
		"rat\x00gdo":             "control characters",
		"rat\ngdo":               "control characters",
		"rat\xffgdo":             "control characters",
		strings.Repeat("a", 201): "longer than 200 bytes",
	} {
		refused(t, driver.Settings{Base: base}, reason)
	}
	refused(t, driver.Settings{Base: "ratgdo", Entity: "door"}, "one door")
}

func refused(t *testing.T, s driver.Settings, reason string) {
	t.Helper()
	err := New().Check(s)
	if lintel.CodeOf(err) != lintel.CodeInvalid || !strings.Contains(err.Error(), reason) {
		t.Errorf("%+v: %v; want a refusal that says %q", s, err, reason)
	}
}

func TestTopicsAreTheBaseAndNothingBetween(t *testing.T) {
	want := driver.Topics{
		Publish:   []string{"/x/Door/status/#"},
		Subscribe: []string{"/x/Door/command/#"},
		Commands:  []string{"/x/Door/command/#"},
		Presence:  "/x/Door/status/availability",
		Gone:      "offline",
	}
	if got := New().Topics(driver.Settings{Base: "/x/Door"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestSetupSplitsTheBaseAtItsLastSlash(t *testing.T) {
	login := driver.Login{Host: "192.0.2.7", Port: 1883, Username: "the-user", Password: "the-password"}
	for base, want := range map[string][]string{
		"home/garage/Door": {"deviceName:       Door\n", "mqttTopicPrefix:  home/garage/\n", "192.0.2.7\n", "1883\n", "the-user\n", "the-password\n"},
		"Door":             {"deviceName:       Door\n", "mqttTopicPrefix:  \n"},
	} {
		text := New().Setup(driver.Settings{Base: base}, login)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", base, w, text)
			}
		}
		if strings.Contains(text, "TLS") || strings.Contains(text, "IPv4") {
			t.Errorf("advice that is not needed in\n%s", text)
		}
	}
	text := New().Setup(garage, driver.Login{Host: "lintel.example", Port: 8883, TLS: true})
	if !strings.Contains(text, "IPv4") || !strings.Contains(text, "no TLS") {
		t.Errorf("a name and a port with TLS need advice:\n%s", text)
	}
}

func TestStatesAreTheOpenersOwnWord(t *testing.T) {
	for payload, want := range map[string][]door.Input{
		"closed":  {door.Reported{Value: door.Closed}},
		"opening": {door.Reported{Value: door.Opening}},
		"open":    {door.Reported{Value: door.Open}},
		"closing": {door.Reported{Value: door.Closing}},
		"stopped": {door.Reported{Value: door.Stopped}},
		"unknown": {door.Reported{Value: door.Unknown}},
		"syncing": {door.Reported{Value: door.Unknown}},
		"Closed":  nil, "closed ": nil, "": nil, "ajar": nil, "\"closed\"": nil,
	} {
		hears(t, New().Device(garage), "status/door", payload, want)
	}
}

func TestObstructions(t *testing.T) {
	for payload, want := range map[string][]door.Input{
		"obstructed": {door.Obstruction{Present: true}},
		"clear":      {door.Obstruction{}},
		"unknown":    nil, "": nil, "ON": nil,
	} {
		hears(t, New().Device(garage), "status/obstruction", payload, want)
	}
}

func TestOtherTopicsSayNothingOfTheDoor(t *testing.T) {
	for topic, payload := range map[string]string{
		"status/availability": "offline", "status/motion": "detected", "status/light": "on",
		"status/lock": "locked", "command/door": "closed", "status/door/": "closed", "status": "closed",
	} {
		hears(t, New().Device(garage), topic, payload, nil)
	}
}

func hears(t *testing.T, d driver.Device, topic, payload string, want []door.Input) {
	t.Helper()
	got := d.Receive(driver.Message{Topic: garage.Base + "/" + topic, Payload: []byte(payload)})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s %q gives %+v, want %+v", topic, payload, got, want)
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

// says is what the device publishes, a second after the last.
func (h *house) says(words ...string) {
	for _, w := range words {
		h.now = h.now.Add(time.Second)
		for _, in := range h.device.Receive(driver.Message{Topic: garage.Base + "/status/door", Payload: []byte(w)}) {
			h.state, _ = h.device.Door().Step(h.now, h.state, in)
		}
	}
}

// asks wants a refusal, or else one publish; an empty payload is none.
func (h *house) asks(a door.Action, refusal door.Refusal, payload string) {
	h.t.Helper()
	var d door.Decision
	h.state, d = h.device.Door().Step(h.now, h.state, door.Asked{Action: a})
	if d.Refusal != refusal {
		h.t.Errorf("%s: refused for %q, want %q", a, d.Refusal, refusal)
	}
	var got []driver.Message
	if d.Effect != door.NoEffect {
		got, _ = h.device.Actuate(d.Effect)
	}
	var want []driver.Message
	if payload != "" {
		want = []driver.Message{{Topic: garage.Base + "/command/door", Payload: []byte(payload)}}
	}
	if !reflect.DeepEqual(got, want) {
		h.t.Errorf("%s publishes %s, want %s", a, got, want)
	}
}

func TestWhatIsAskedAfterWhatWasSaid(t *testing.T) {
	for _, c := range []struct {
		said          string
		open, close   door.Refusal
		opens, closes string
	}{
		{"", door.RefuseSensor, door.RefuseSensor, "", ""},
		{"unknown", door.RefuseSensor, door.RefuseSensor, "", ""},
		{"closed syncing", door.RefuseSensor, door.RefuseSensor, "", ""},
		{"closed", "", "", "open", ""},
		{"open", "", "", "", "close"},
		{"opening", "", door.RefuseMoving, "", ""},
		{"closing", door.RefuseMoving, "", "", ""},
		{"stopped", door.RefuseWrongWay, door.RefuseWrongWay, "", ""},
		{"opening unknown stopped", door.RefuseWrongWay, door.RefuseWrongWay, "", ""},
		{"closed opening stopped", door.RefuseWrongWay, "", "", "close"},
		{"open closing stopped", "", door.RefuseWrongWay, "open", ""},
		{"open closing opening stopped", door.RefuseWrongWay, "", "", "close"},
	} {
		t.Run(c.said, func(t *testing.T) {
			h := connected(t)
			h.says(strings.Fields(c.said)...)
			h.asks(door.DoOpen, c.open, c.opens)
			h = connected(t)
			h.says(strings.Fields(c.said)...)
			h.asks(door.DoClose, c.close, c.closes)
			h.asks(door.DoStop, door.RefuseUnsupported, "")
		})
	}
}

// TestADoorThatWeStoppedOnItsWayIsSentBack: the machine and the driver agree on
// the last movement also where the opener said nothing of it.
func TestADoorThatWeStoppedOnItsWayIsSentBack(t *testing.T) {
	h := connected(t)
	h.says("closed")
	h.asks(door.DoOpen, "", "open")
	h.says("stopped")
	h.asks(door.DoOpen, door.RefuseWrongWay, "")
	h.asks(door.DoClose, "", "close")
}

func TestAReconnectedDeviceIsAskedAndUnknownUntilItAnswers(t *testing.T) {
	h := connected(t)
	want := []driver.Message{{Topic: garage.Base + "/command/query", Payload: []byte("query")}}
	if got := h.device.Connected(); !reflect.DeepEqual(got, want) {
		t.Errorf("asked with %s", got)
	}
	h.device.Receive(driver.Message{Topic: garage.Base + "/status/availability", Payload: []byte("online")})
	h.asks(door.DoOpen, door.RefuseSensor, "")
	h.says("unknown")
	h.asks(door.DoOpen, door.RefuseSensor, "")
	h.says("closed")
	h.device.Receive(driver.Message{Topic: garage.Base + "/status/availability", Payload: []byte("offline")})
	h.asks(door.DoOpen, "", "open")
}

// TestAskedForItsSilence: a door that stands where it stood when it was asked went there
// the same way. After a command, or after another movement, nobody knows.
func TestAskedForItsSilence(t *testing.T) {
	for _, c := range []struct {
		before, after string
		close         string // what a close publishes, or nothing
	}{
		{"closed opening stopped", "unknown stopped", "close"},
		{"closed opening stopped", "stopped", "close"},
		{"closed opening", "unknown stopped", ""},
		{"closed opening stopped", "unknown unknown stopped", ""},
		{"closed opening stopped", "opening unknown stopped", ""},
		{"open", "unknown open", "close"},
	} {
		d := New().Device(garage)
		says := func(words string) {
			for _, w := range strings.Fields(words) {
				d.Receive(driver.Message{Topic: garage.Base + "/status/door", Payload: []byte(w)})
			}
		}
		says(c.before)
		d.Connected()
		says(c.after)
		got := ""
		if m, ok := d.Actuate(door.Pulse); ok {
			got = string(m[0].Payload)
		}
		if got != c.close {
			t.Errorf("%s, asked, %s: %q, want %q", c.before, c.after, got, c.close)
		}
	}
	h := connected(t)
	h.says("closed", "opening", "stopped")
	h.asks(door.DoClose, "", "close")
	h.device.Connected()
	h.device.Receive(driver.Message{Topic: garage.Base + "/status/door", Payload: []byte("unknown")})
	h.device.Receive(driver.Message{Topic: garage.Base + "/status/door", Payload: []byte("stopped")})
	if m, ok := h.device.Actuate(door.Pulse); ok {
		t.Errorf("after a command that may have been ignored, a pulse publishes %s", m)
	}
}

func TestADoorIsNotClosedOntoAnObstruction(t *testing.T) {
	h := connected(t)
	h.says("open")
	for _, in := range h.device.Receive(driver.Message{Topic: garage.Base + "/status/obstruction", Payload: []byte("obstructed")}) {
		h.state, _ = h.device.Door().Step(h.now, h.state, in)
	}
	h.asks(door.DoClose, door.RefuseObstructed, "")
}

func TestOnlyAPulseDoesAnything(t *testing.T) {
	for _, e := range []door.Effect{door.NoEffect, door.DriveOpen, door.DriveClose, door.DriveStop} {
		h := connected(t)
		h.says("closed")
		if m, ok := h.device.Actuate(e); ok || m != nil {
			t.Errorf("%s publishes %s", e, m)
		}
	}
	for _, said := range []string{"", "unknown", "syncing", "opening", "closing", "stopped", "opening unknown stopped"} {
		h := connected(t)
		h.says(strings.Fields(said)...)
		if m, ok := h.device.Actuate(door.Pulse); ok || m != nil {
			t.Errorf("after %q a pulse publishes %s", said, m)
		}
	}
}

func FuzzReceive(f *testing.F) {
	for _, topic := range []string{"status/door", "status/obstruction", "status/availability"} {
		f.Add(garage.Base+"/"+topic, []byte("closed"))
		f.Add(garage.Base+"/"+topic, []byte("obstructed"))
	}
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		for _, in := range New().Device(garage).Receive(driver.Message{Topic: topic, Payload: payload}) {
			switch in := in.(type) {
			case door.Reported:
				if in.Value == door.Closed && string(payload) != "closed" {
					t.Errorf("%s %q says closed", topic, payload)
				}
			case door.Obstruction:
			default:
				t.Errorf("%s %q gives %T", topic, payload, in)
			}
		}
	})
}

// TestAtTheOwnersBrokerItKeepsItsLogin: what it is told to enter is not about a broker.
func TestAtTheOwnersBrokerItKeepsItsLogin(t *testing.T) {
	s := garage
	s.Upstream = true
	got := New().Setup(s, driver.Login{Host: "login-host", Username: "login-user", Password: "login-password"})
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, "home/garage/") {
		t.Errorf("%s", got)
	}
}
