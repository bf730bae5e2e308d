package esphome

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/door"
	"lintel/driver"
)

var garage = driver.Settings{Base: "doors/garage", Entity: "garage_door", Travel: 15 * time.Second}

func TestCheck(t *testing.T) {
	for _, s := range []driver.Settings{
		{Base: "garage", Entity: "door"}, {Base: "doors/garage/2", Entity: "door_2-left"},
		{Base: "/leading", Entity: "1"}, {Base: "with space", Entity: "door"},
	} {
		if err := New().Check(s); err != nil {
			t.Errorf("%+v is refused: %v", s, err)
		}
	}
	for base, reason := range map[string]string{
		"":                       "enter the topic_prefix",
		"garage/":                "must not end with a slash",
		"gar+age":                "must not contain + or #",
		"garage/#":               "must not contain + or #",
		"$garage":                "must not begin with $",
		"gar\x00age":             "control characters",
		"gar\xffage":             "control characters",
		strings.Repeat("a", 201): "longer than 200 bytes",
	} {
		refused(t, driver.Settings{Base: base, Entity: "door"}, reason)
	}
	for entity, reason := range map[string]string{
		"":                       "enter the object id",
		"Garage Door":            "lower case",
		"Door":                   "lower case",
		"tür":                    "lower case",
		"door/state":             "lower case",
		"+":                      "lower case",
		"#":                      "lower case",
		strings.Repeat("a", 121): "longer than 120 bytes",
	} {
		refused(t, driver.Settings{Base: "garage", Entity: entity}, reason)
	}
}

func refused(t *testing.T, s driver.Settings, reason string) {
	t.Helper()
	err := New().Check(s)
	if lintel.CodeOf(err) != lintel.CodeInvalid || !strings.Contains(err.Error(), reason) {
		t.Errorf("%+v: %v; want a refusal that says %q", s, err, reason)
	}
}

func TestTopics(t *testing.T) {
	want := driver.Topics{
		Publish:   []string{"doors/garage/#"},
		Subscribe: []string{"doors/garage/cover/garage_door/command", "doors/garage/cover/garage_door/position/command"},
		Commands:  []string{"doors/garage/cover/garage_door/command"},
		Presence:  "doors/garage/status",
		Gone:      "offline",
	}
	if got := New().Topics(garage); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestSetupIsTheMQTTBlock(t *testing.T) {
	login := driver.Login{Host: "192.0.2.7", Port: 1883, ClientID: "the-client", Username: "the-user", Password: `p"\ #:`}
	text := New().Setup(garage, login)
	want := `mqtt:
  broker: "192.0.2.7"
  port: 1883
  client_id: "the-client"
  username: "the-user"
  password: "p\"\\ #:"
  topic_prefix: "doors/garage"
  discovery: false
  discover_ip: false
  clean_session: true
  log_topic: null
`
	if !strings.HasSuffix(text, want) {
		t.Errorf("got\n%s\nwant it to end with\n%s", text, want)
	}
	login.ClientID, login.TLS = "", true
	text = New().Setup(garage, login)
	if strings.Contains(text, "client_id") || !strings.Contains(text, "certificate_authority") {
		t.Errorf("without a client id and with TLS:\n%s", text)
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

// message is one that the cover publishes: a number to position/state, else a word to state.
func message(payload string) driver.Message {
	name := "state"
	if strings.ContainsAny(payload, "0123456789") {
		name = "position/state"
	}
	return driver.Message{Topic: cover(garage, name), Payload: []byte(payload)}
}

// says is what the cover publishes, a second after the last.
func (h *house) says(words string) {
	for _, w := range strings.Fields(words) {
		h.hears(message(w))
	}
}

func (h *house) hears(m driver.Message) {
	h.now = h.now.Add(time.Second)
	for _, in := range h.device.Receive(m) {
		h.state, _ = h.device.Door().Step(h.now, h.state, in)
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
		want = []driver.Message{{Topic: "doors/garage/cover/garage_door/command", Payload: []byte(payload)}}
	}
	if !reflect.DeepEqual(got, want) {
		h.t.Errorf("%s publishes %s, want %s", a, got, want)
	}
}

func TestWhereTheDoorIs(t *testing.T) {
	for _, c := range []struct {
		rule, said string
		value      door.Value
	}{
		{"nothing was said", "", door.Unknown},
		{"without positions", "closed", door.Closed},
		{"without positions", "open", door.Open},
		{"without positions, between the ends", "open closing unknown", door.Unknown},
		{"with positions", "0 closed", door.Closed},
		{"with positions", "100 open", door.Open},
		{"with positions", "0 opening", door.Opening},
		{"with positions", "60 closing", door.Closing},
		{"0 while closing is not closed", "100 open 50 closing 0 closing", door.Closing},
		{"0 while closing is not closed", "100 open 50 closing 0", door.Closing},
		{"closed after closing is", "100 open 50 closing 0 closing 0 closed", door.Closed},
		{"0 is rounded: it may be open", "60 closing 0 open", door.Unknown},
		{"100 is rounded: it may be closing", "100 closing", door.Closing},
		{"closed and a position that is not 0 contradict", "0 closed 5 closed", door.Unknown},
		{"closed and a position that is not 0 contradict", "3 closed", door.Unknown},
		{"and are resolved by either", "3 closed 0", door.Closed},
		{"between the ends it says open: after going up", "0 opening 40 opening 40 open", door.Open},
		{"between the ends it says open: after going down", "100 closing 40 closing 40 open", door.Unknown},
		{"between the ends it says open: after reversing", "100 closing 40 opening 60 open", door.Open},
		{"between the ends it says open: never seen moving", "40 open", door.Unknown},
		{"between the ends it says open: moved without a word", "100 open 40 open", door.Unknown},
		{"between the ends it says open: moved without a word", "0 opening 40 open 60 open", door.Unknown},
		{"older versions have positions only", "100", door.Open},
		{"older versions have positions only", "100 40", door.Unknown},
		{"older versions have positions only: 0 may still be closing", "100 40 0", door.Unknown},
		{"a position comes just before its word: closed until then", "0 closed 2", door.Closed},
		{"a position comes just before its word: open until then", "100 open 98", door.Open},
		{"what is no word is not heard", "closed OPEN Closed stopped ajar", door.Closed},
		{"what is no position is not heard", "0 closed 101 -1 1.5 5% 0x5 1_0 99999999999999999999", door.Closed},
	} {
		h := connected(t)
		h.says(c.said)
		if h.state.Value != c.value {
			t.Errorf("%s: after %q the door is %s, want %s", c.rule, c.said, h.state.Value, c.value)
		}
		if c.value != door.Unknown && h.state.Source != door.FromOpener {
			t.Errorf("%s: after %q it is known by %s", c.rule, c.said, h.state.Source)
		}
	}
}

func TestNothingIsAskedForBecauseAllIsPublishedAtOnce(t *testing.T) {
	if m := New().Device(garage).Connected(); m != nil {
		t.Errorf("asked with %s", m)
	}
}

func TestOtherTopicsSayNothingOfTheDoor(t *testing.T) {
	for topic, payload := range map[string]string{
		"status": "offline", "debug": "closed", "cover/other/state": "closed", "cover/garage_door/command": "closed",
		"cover/garage_door": "closed", "lock/lock/state": "LOCKED", "binary_sensor/motion/state": "ON",
	} {
		if got := New().Device(garage).Receive(driver.Message{Topic: garage.Base + "/" + topic, Payload: []byte(payload)}); got != nil {
			t.Errorf("%s %s gives %+v", topic, payload, got)
		}
	}
}

func TestADoorIsNotClosedOntoAnObstruction(t *testing.T) {
	h := connected(t)
	h.says("100 open")
	obstruction := func(payload string) {
		h.hears(driver.Message{Topic: "doors/garage/binary_sensor/obstruction/state", Payload: []byte(payload)})
	}
	obstruction("ON")
	h.asks(door.DoClose, door.RefuseObstructed, "")
	obstruction("on")
	h.asks(door.DoClose, door.RefuseObstructed, "")
	obstruction("OFF")
	h.asks(door.DoClose, "", "CLOSE")
}

func TestWhatIsAskedAfterWhatWasSaid(t *testing.T) {
	for _, c := range []struct {
		said          string
		refusal       door.Refusal // of open and close alike
		opens, closes string
	}{
		{"", door.RefuseSensor, "", ""},
		{"unknown", door.RefuseSensor, "", ""},
		{"40 open", door.RefuseSensor, "", ""},
		{"100 closing 40 open", door.RefuseSensor, "", ""},
		{"0", door.RefuseSensor, "", ""},
		{"0 closed", "", "OPEN", ""},
		{"100 open", "", "", "CLOSE"},
		{"0 opening 40 open", "", "", "CLOSE"},
		{"20 opening", "", "", "CLOSE"},
		{"20 closing", "", "OPEN", ""},
		{"50 closing 0 closing", "", "OPEN", ""},
	} {
		t.Run(c.said, func(t *testing.T) {
			for a, publishes := range map[door.Action]string{door.DoOpen: c.opens, door.DoClose: c.closes} {
				h := connected(t)
				h.says(c.said)
				h.asks(a, c.refusal, publishes)
			}
			h := connected(t)
			h.says(c.said)
			h.asks(door.DoStop, "", "STOP")
		})
	}
}

// TestKonnectedWarnsWhileItSaysClosing: the door may still be stopped then, and is
// where it was.
func TestKonnectedWarnsWhileItSaysClosing(t *testing.T) {
	h := connected(t)
	h.says("100 open")
	h.asks(door.DoClose, "", "CLOSE")
	h.says("100 closing")
	h.is(door.Closing, door.FromOpener)
	h.asks(door.DoStop, "", "STOP")
	h.says("100 open")
	h.is(door.Open, door.FromOpener)
	h.asks(door.DoClose, "", "CLOSE")
}

// TestAStoppedDoorGoesBackOnlyUntilItSaysWhereItIs: one button may be behind the
// cover, and brings a stopped door back whatever it is told.
func TestAStoppedDoorGoesBackOnlyUntilItSaysWhereItIs(t *testing.T) {
	h := connected(t)
	h.says("0 closed")
	h.asks(door.DoOpen, "", "OPEN")
	h.asks(door.DoStop, "", "STOP")
	h.asks(door.DoStop, "", "STOP")
	h.asks(door.DoOpen, "", "") // the machine would, the driver does not
	h.asks(door.DoClose, "", "CLOSE")

	h = connected(t)
	h.says("100 open 100 closing")
	h.asks(door.DoStop, "", "STOP")
	h.asks(door.DoOpen, "", "OPEN")

	h = connected(t)
	h.says("100 open 100 closing")
	h.asks(door.DoStop, "", "STOP")
	h.asks(door.DoClose, "", "")
	h.says("0 closed")
	h.asks(door.DoOpen, "", "OPEN")
}

func TestCommands(t *testing.T) {
	for e, want := range map[door.Effect]string{
		door.DriveOpen: "OPEN", door.DriveClose: "CLOSE", door.DriveStop: "STOP", door.NoEffect: "", door.Pulse: "",
	} {
		m, ok := New().Device(garage).Actuate(e)
		if ok != (want != "") || ok && (len(m) != 1 || string(m[0].Payload) != want) {
			t.Errorf("%s publishes %s, %t; want %q", e, m, ok, want)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("100 open 50 closing 0 closing 0 closed")
	f.Add("0 opening 40 open unknown")
	f.Add("-1 1e9 \x00")
	f.Fuzz(func(t *testing.T, said string) {
		d := New().Device(garage)
		word, position := "", 0
		for _, w := range strings.Split(said, " ") {
			if p, err := strconv.Atoi(w); err == nil && w[0] != '+' && p >= 0 && p <= 100 {
				position = p
			} else if slices.Contains([]string{"open", "opening", "closed", "closing", "unknown"}, w) {
				word = w
			}
			for _, in := range d.Receive(message(w)) {
				r, ok := in.(door.Reported)
				if !ok {
					t.Fatalf("%q gives %T", w, in)
				}
				if r.Value == door.Closed && (word != "closed" || position != 0) {
					t.Fatalf("%q: closed after the word %q and the position %d", said, word, position)
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
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, s.Base+"/lintel/ask") {
		t.Errorf("%s", got)
	}
}

// TestAtTheOwnersBroker what the cover does not say is not listened to, and the device
// is asked, because what it said when it connected may be long ago.
func TestAtTheOwnersBroker(t *testing.T) {
	s := garage
	s.Upstream = true
	want := driver.Topics{
		Publish: []string{"doors/garage/status", "doors/garage/cover/garage_door/state",
			"doors/garage/cover/garage_door/position/state", "doors/garage/binary_sensor/obstruction/state"},
		Subscribe: []string{"doors/garage/cover/garage_door/command", "doors/garage/cover/garage_door/position/command", "doors/garage/lintel/ask"},
		Commands:  []string{"doors/garage/cover/garage_door/command"},
		Presence:  "doors/garage/status",
		Gone:      "offline",
	}
	if got := New().Topics(s); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := New().Device(s).Connected(); len(got) != 1 || got[0].Topic != "doors/garage/lintel/ask" {
		t.Errorf("asked %v", got)
	}
}
