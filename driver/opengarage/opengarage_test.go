package opengarage

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/driver"
)

var (
	secplus = driver.Settings{Base: "My OpenGarage", Travel: 15 * time.Second}
	wired   = driver.Settings{Base: "My OpenGarage", Travel: 15 * time.Second, Sensor: true}
)

const (
	jsonTopic  = "My OpenGarage/OUT/JSON"
	stateTopic = "My OpenGarage/OUT/STATE"
)

// status is a report as the firmware writes it.
func status(secv, state int, name string) string {
	return fmt.Sprintf(`{"dist":45,"secv":%d,"door":%d,"vehicle":2,"rcnt":48,"fwv":124,"has_swrx":0,"name":"%s","mac":"AA:BB:CC:DD:EE:FF","cid":123,"rssi":-60,"cld":0}`, secv, state, name)
}

func reported(v door.Value) []door.Input { return []door.Input{door.Reported{Value: v}} }

func sensed(r door.Reading) []door.Input {
	return []door.Input{door.Sensed{End: door.ClosedEnd, Reading: r}}
}

func TestReceive(t *testing.T) {
	for _, c := range []struct {
		quirk, topic, payload string
		secplus, wired        []door.Input
	}{
		{"closed", jsonTopic, status(2, 0, "x"), reported(door.Closed), sensed(door.At)},
		{"open", jsonTopic, status(2, 1, "x"), reported(door.Open), sensed(door.Away)},
		{"stopped", jsonTopic, status(2, 2, "x"), reported(door.Stopped), sensed(door.Away)},
		{"closing", jsonTopic, status(2, 3, "x"), reported(door.Closing), sensed(door.Away)},
		{"opening", jsonTopic, status(2, 4, "x"), reported(door.Opening), sensed(door.Away)},
		{"unknown", jsonTopic, status(2, 5, "x"), reported(door.Unknown), sensed(door.Lost)},
		{"no Security+", jsonTopic, status(0, 0, "x"), reported(door.Unknown), sensed(door.At)},
		{"no Security+", jsonTopic, status(0, 1, "x"), reported(door.Unknown), sensed(door.Away)},
		{"a state of later firmware", jsonTopic, status(2, 6, "x"), nil, nil},
		{"a negative state", jsonTopic, status(2, -1, "x"), nil, nil},
		{"a name that breaks the JSON", jsonTopic, status(2, 0, `Bob's "big" \ garage`), reported(door.Closed), sensed(door.At)},
		{"a name that says where the door is", jsonTopic, status(2, 0, `","door":1,"x":"`), reported(door.Closed), sensed(door.At)},
		{"a name that says its own name", jsonTopic, status(2, 0, `","name":"x","door":1,"y":"`), reported(door.Closed), sensed(door.At)},
		{"a name that is no UTF-8", jsonTopic, status(2, 1, "\xff\x00"), reported(door.Open), sensed(door.Away)},
		{"a report without a name", jsonTopic, `{"secv":2,"door":0}`, reported(door.Closed), sensed(door.At)},
		{"the state after the name is not read", jsonTopic, `{"name":"x","door":0}`, nil, nil},
		{"a wrong type", jsonTopic, `{"door":"0","name":"x"}`, nil, nil},
		{"a wrong type", jsonTopic, `{"door":0.5,"name":"x"}`, nil, nil},
		{"no state", jsonTopic, `{"dist":45,"name":"x"}`, nil, nil},
		{"null", jsonTopic, `{"door":null,"name":"x"}`, nil, nil},
		{"cut off", jsonTopic, `{"dist":45,"door":0`, nil, nil},
		{"not JSON", jsonTopic, `OPEN`, nil, nil},
		{"empty", jsonTopic, ``, nil, nil},
		{"the state at rest", stateTopic, "CLOSED", reported(door.Closed), sensed(door.At)},
		{"the state at rest", stateTopic, "OPEN", reported(door.Open), sensed(door.Away)},
		{"the state at rest", stateTopic, "STOPPED", reported(door.Stopped), sensed(door.Away)},
		{"states have capitals", stateTopic, "Closed", nil, nil},
		{"the will", "My OpenGarage/OUT/STATUS", "offline", reported(door.Unknown), sensed(door.Lost)},
		{"online is not news", "My OpenGarage/OUT/STATUS", "online", nil, nil},
		{"the legacy topic", "My OpenGarage", "Closed", nil, nil},
		{"words for people", "My OpenGarage/OUT/NOTIFY", "My OpenGarage just CLOSED!", nil, nil},
		{"somebody else's", "OpenGarage/OUT/STATE", "CLOSED", nil, nil},
		{"too long", jsonTopic, status(2, 0, strings.Repeat("x", maxPayload)), nil, nil},
	} {
		for _, s := range []driver.Settings{secplus, wired} {
			want := c.secplus
			if s.Sensor {
				want = c.wired
			}
			got := New().Device(s).Receive(driver.Message{Topic: c.topic, Payload: []byte(c.payload)})
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s %.200q with sensor %v: %v, want %v", c.quirk, c.topic, c.payload, s.Sensor, got, want)
			}
		}
	}
}

func TestObstructionsComeBeforeTheState(t *testing.T) {
	for payload, want := range map[string][]door.Input{
		`{"secv":2,"door":1,"light":0,"lock":0,"obstruct":1,"name":"x"}`: {door.Obstruction{Present: true}, door.Reported{Value: door.Open}},
		`{"secv":2,"door":1,"light":0,"lock":0,"obstruct":0,"name":"x"}`: {door.Obstruction{}, door.Reported{Value: door.Open}},
		`{"secv":2,"door":1,"obstruct":7,"name":"x"}`:                    {door.Reported{Value: door.Open}},
	} {
		got := New().Device(secplus).Receive(driver.Message{Topic: jsonTopic, Payload: []byte(payload)})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", payload, got, want)
		}
	}
}

// TestCommands: what is said for each effect after each state, by wiring. A dash
// is nothing: the firmware would ignore it, or press without knowing the way.
func TestCommands(t *testing.T) {
	effects := []door.Effect{door.Pulse, door.DriveOpen, door.DriveClose, door.DriveStop, door.NoEffect}
	for _, c := range []struct {
		wiring   string
		settings driver.Settings
		topic    string
		payload  string
		want     string // for each of the effects
	}{
		{"sensor, nothing heard", wired, "", "", "- - - - -"},
		{"sensor, closed", wired, jsonTopic, status(0, 0, "x"), "open - - - -"},
		{"sensor, not closed", wired, jsonTopic, status(0, 1, "x"), "close - - - -"},
		{"sensor, unknown", wired, jsonTopic, status(0, 5, "x"), "- - - - -"},
		{"Security+ 1.0, closed", secplus, jsonTopic, status(1, 0, "x"), "- open - - -"},
		{"Security+ 1.0, open", secplus, jsonTopic, status(1, 1, "x"), "- - close - -"},
		{"Security+ 1.0, stopped", secplus, jsonTopic, status(1, 2, "x"), "- - - - -"},
		{"Security+ 1.0, closing", secplus, jsonTopic, status(1, 3, "x"), "- open - - -"},
		{"Security+ 1.0, opening", secplus, jsonTopic, status(1, 4, "x"), "- - - - -"},
		{"Security+ 2.0, closed", secplus, jsonTopic, status(2, 0, "x"), "- open close - -"},
		{"Security+ 2.0, stopped", secplus, jsonTopic, status(2, 2, "x"), "- open close - -"},
		{"Security+ 2.0, opening", secplus, jsonTopic, status(2, 4, "x"), "- open close - -"},
		{"Security+ promised, and not so", secplus, jsonTopic, status(0, 1, "x"), "- - - - -"},
		{"Security+ not yet heard of, closed", secplus, stateTopic, "CLOSED", "- open - - -"},
		{"Security+ not yet heard of, open", secplus, stateTopic, "OPEN", "- - - - -"},
	} {
		d := New().Device(c.settings)
		d.Receive(driver.Message{Topic: c.topic, Payload: []byte(c.payload)})
		var said []string
		for _, e := range effects {
			messages, ok := d.Actuate(e)
			switch {
			case !ok && messages == nil:
				said = append(said, "-")
			case ok && len(messages) == 1 && messages[0].Topic == "My OpenGarage/IN/STATE":
				said = append(said, string(messages[0].Payload))
			default:
				t.Errorf("%s: %s: %s, %v", c.wiring, e, messages, ok)
			}
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.wiring, got, c.want)
		}
	}
}

// TestPromisesAreTakenBack: a device that says later that it has no Security+ is
// no longer believed, whatever else it says.
func TestPromisesAreTakenBack(t *testing.T) {
	d := New().Device(secplus)
	d.Receive(driver.Message{Topic: jsonTopic, Payload: []byte(status(1, 1, "x"))})
	d.Receive(driver.Message{Topic: jsonTopic, Payload: []byte(status(0, 1, "x"))})
	got := d.Receive(driver.Message{Topic: stateTopic, Payload: []byte("OPEN")})
	if !reflect.DeepEqual(got, reported(door.Unknown)) {
		t.Errorf("%v", got)
	}
	if messages, ok := d.Actuate(door.DriveClose); ok {
		t.Errorf("%s", messages)
	}
}

// TestNothingItMayPublishMovesIt: what it publishes with is known to whoever listens
// to its network, and the payload Button on its base topic is a press.
func TestNothingItMayPublishMovesIt(t *testing.T) {
	want := driver.Topics{
		Publish:   []string{"My OpenGarage/OUT/#"},
		Subscribe: []string{"My OpenGarage", "My OpenGarage/IN/#"},
		Commands:  []string{"My OpenGarage/IN/#"},
		Presence:  "My OpenGarage/OUT/STATUS",
		Gone:      "offline",
	}
	if got := New().Topics(secplus); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := New().Device(secplus).Connected(); got != nil {
		t.Errorf("connected: %s", got)
	}
}

// step is a message of the device or a request, and what follows from it.
type step struct {
	seconds        float64
	topic, payload string
	ask            door.Action // where topic is empty
	value          door.Value
	said           string
	refusal        door.Refusal
}

// play runs the device with the real door machine. What the driver cannot do is
// taken back, as nothing happened.
func play(t *testing.T, s driver.Settings, sole bool, steps []step) {
	t.Helper()
	d := New().Device(s)
	c := d.Door()
	c.SoleControl = c.SoleControl || sole // the driver never claims it by itself
	var state door.State
	for i, p := range steps {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(p.seconds * float64(time.Second)))
		var decided door.Decision
		said := ""
		if p.topic == "" {
			before := state
			state, decided = c.Step(now, state, door.Asked{Action: p.ask})
			if messages, ok := d.Actuate(decided.Effect); ok {
				said = string(messages[0].Payload)
			} else if decided.Effect != door.NoEffect {
				state, _ = c.Step(now, before, door.Tick{})
			}
		}
		for _, in := range d.Receive(driver.Message{Topic: p.topic, Payload: []byte(p.payload)}) {
			state, _ = c.Step(now, state, in)
		}
		if state.Value != p.value || said != p.said || decided.Refusal != p.refusal {
			t.Fatalf("step %d: %s, said %q, refused %q; want %s, %q, %q", i, state.Value, said, decided.Refusal, p.value, p.said, p.refusal)
		}
	}
}

func TestSecurityPlusGoesThereAndBack(t *testing.T) {
	play(t, secplus, false, []step{
		{seconds: 0, ask: door.DoOpen, refusal: door.RefuseSensor},
		{seconds: 1, topic: jsonTopic, payload: status(1, 0, "x"), value: door.Closed},
		{seconds: 2, ask: door.DoClose, value: door.Closed},
		{seconds: 3, ask: door.DoOpen, value: door.Opening, said: "open"},
		{seconds: 4, ask: door.DoStop, value: door.Opening}, // there is no stop
		{seconds: 8, topic: jsonTopic, payload: status(1, 4, "x"), value: door.Opening},
		{seconds: 9, ask: door.DoClose, value: door.Opening}, // it would be ignored
		{seconds: 20, topic: jsonTopic, payload: status(1, 1, "x"), value: door.Open},
		{seconds: 21, ask: door.DoClose, value: door.Closing, said: "close"},
		{seconds: 27, topic: jsonTopic, payload: status(1, 3, "x"), value: door.Closing},
		{seconds: 30, topic: jsonTopic, payload: status(1, 2, "x"), value: door.Stopped},
		{seconds: 31, ask: door.DoClose, value: door.Stopped}, // one press would move it up
		{seconds: 32, topic: stateTopic, payload: "CLOSED", value: door.Closed},
		{seconds: 92, ask: door.DoOpen, refusal: door.RefuseSensor}, // not heard for a minute
	})
}

// TestACloseNeverReversesAClosingDoor: without Security+ the firmware says "open"
// until the door is closed, and takes a second close for a press.
func TestACloseNeverReversesAClosingDoor(t *testing.T) {
	play(t, wired, true, []step{
		{seconds: 1, topic: jsonTopic, payload: status(0, 0, "x"), value: door.Closed},
		{seconds: 2, ask: door.DoOpen, value: door.Opening, said: "open"},
		{seconds: 8, topic: jsonTopic, payload: status(0, 1, "x"), value: door.Opening},
		{seconds: 40, topic: jsonTopic, payload: status(0, 1, "x"), value: door.Open},
		{seconds: 41, ask: door.DoClose, value: door.Closing, said: "close"},
		{seconds: 45, topic: stateTopic, payload: "OPEN", value: door.Closing},
		{seconds: 46, ask: door.DoClose, value: door.Closing},
		{seconds: 47, ask: door.DoOpen, value: door.Closing, refusal: door.RefuseMoving},
		{seconds: 60, topic: jsonTopic, payload: status(0, 0, "x"), value: door.Closed},
	})
}

func TestWithoutSecurityPlusAnOpenDoorMayBeGoingAnyWay(t *testing.T) {
	play(t, wired, false, []step{
		{seconds: 0, ask: door.DoOpen, refusal: door.RefuseSensor},
		{seconds: 1, topic: jsonTopic, payload: status(0, 1, "x"), value: door.Open},
		{seconds: 2, ask: door.DoClose, value: door.Open, refusal: door.RefuseWrongWay},
		{seconds: 3, topic: jsonTopic, payload: status(0, 0, "x"), value: door.Closed},
		{seconds: 4, ask: door.DoOpen, value: door.Opening, said: "open"},
		{seconds: 10, topic: jsonTopic, payload: status(0, 1, "x"), value: door.Opening},
		{seconds: 60, topic: jsonTopic, payload: status(0, 1, "x"), value: door.Open},
		{seconds: 61, ask: door.DoClose, value: door.Open, refusal: door.RefuseWrongWay},
	})
	play(t, secplus, false, []step{
		{seconds: 1, topic: jsonTopic, payload: status(0, 1, "x")},
		{seconds: 2, ask: door.DoClose, refusal: door.RefuseSensor},
	})
}

func TestTheWarningBelongsToTheMovement(t *testing.T) {
	if warns := New().Capabilities().Warns; warns != 5*time.Second || New().Capabilities().Stop {
		t.Errorf("%+v", New().Capabilities())
	}
	for _, s := range []driver.Settings{secplus, wired} {
		if travel := New().Device(s).Door().Travel; travel != 20*time.Second {
			t.Errorf("travel %s", travel)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, base := range []string{"My OpenGarage", "Garage/Links", "Tür"} {
		if err := New().Check(driver.Settings{Base: base}); err != nil {
			t.Errorf("%q is refused: %v", base, err)
		}
	}
	for _, base := range []string{
		"", " ", " a", "a ", "a#", "+", "$SYS", "a\x00", "a\n", "a\xff", "/a", "a/", "a//b", `a"b`, `a\b`, strings.Repeat("a", maxTopic+1),
	} {
		if New().Check(driver.Settings{Base: base}) == nil {
			t.Errorf("%q is accepted", base)
		}
	}
	if New().Check(driver.Settings{Base: "a", Entity: "b"}) == nil {
		t.Error("an entity is accepted")
	}
}

func TestSetupFollowsTheWiring(t *testing.T) {
	login := driver.Login{Host: "garage.example", Port: 1883, Username: "u1", Password: "p1"}
	for _, c := range []struct {
		settings driver.Settings
		want     []string
	}{
		{wired, []string{"Switch Sensor", "None"}},
		{secplus, []string{"1.0 or 2.0"}},
	} {
		text := New().Setup(c.settings, login)
		for _, want := range append(c.want, "garage.example", "1883", "u1", "p1", "My OpenGarage", "5 Seconds", "Alarm on Open") {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	if text := New().Setup(wired, driver.Login{Host: "garage", TLS: true}); !strings.Contains(text, "dot") || !strings.Contains(text, "no TLS") {
		t.Errorf("what the firmware cannot do is not in\n%s", text)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("/OUT/JSON", []byte(status(2, 0, "x")))
	f.Add("/OUT/JSON", []byte(`{"secv":1,"door":1,"obstruct":1,"name":"","door":0}`))
	f.Add("/OUT/STATE", []byte("STOPPED"))
	f.Add("/OUT/STATUS", []byte("offline"))
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		for _, s := range []driver.Settings{secplus, wired} {
			d := New().Device(s)
			for _, in := range d.Receive(driver.Message{Topic: s.Base + topic, Payload: payload}) {
				switch in := in.(type) {
				case door.Obstruction:
				case door.Sensed:
					if !s.Sensor || in.End != door.ClosedEnd {
						t.Fatalf("%+v", in)
					}
				case door.Reported:
					if s.Sensor || in.Value > door.Stopped {
						t.Fatalf("%+v", in)
					}
				default:
					t.Fatalf("%T", in)
				}
			}
			d.Actuate(door.Pulse)
			d.Actuate(door.DriveClose)
		}
	})
}

// TestAtTheOwnersBrokerItKeepsItsLogin: what it is told to enter is not about a broker.
func TestAtTheOwnersBrokerItKeepsItsLogin(t *testing.T) {
	s := secplus
	s.Upstream = true
	got := New().Setup(s, driver.Login{Host: "login-host", Username: "login-user", Password: "login-password"})
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, s.Base) {
		t.Errorf("%s", got)
	}
}
