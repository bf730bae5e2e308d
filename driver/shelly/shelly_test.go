package shelly

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/driver"
)

const id = "shellyplus1-a8032ab12345"

var settings = driver.Settings{Base: id, Travel: 15 * time.Second, Sensor: true}

var (
	at   = []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.At}}
	away = []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.Away}}
	lost = []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.Lost}}
)

var effects = []door.Effect{door.NoEffect, door.Pulse, door.DriveOpen, door.DriveClose, door.DriveStop}

func TestReceive(t *testing.T) {
	const events, answers = id + "/events/rpc", id + "/lintel/rpc"
	for _, c := range []struct {
		quirk, topic, payload string
		want                  []door.Input
	}{
		{"an input changed", events, `{"src":"` + id + `","dst":"` + id + `/events","method":"NotifyStatus","params":{"ts":1736603810.49,"input:0":{"id":0,"state":true}}}`, at},
		{"an input changed", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"id":0,"state":false}}}`, away},
		{"a delta without the input", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"switch:0":{"id":0,"output":true}}}`, nil},
		{"a delta without its state", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"id":0}}}`, nil},
		{"the full status", events, `{"src":"` + id + `","method":"NotifyFullStatus","params":{"input:0":{"id":0,"state":true},"switch:0":{"id":0,"output":false}}}`, at},
		{"the full status without the input", events, `{"src":"` + id + `","method":"NotifyFullStatus","params":{"switch:0":{"id":0}}}`, lost},
		{"an input set up as a button", events, `{"src":"` + id + `","method":"NotifyFullStatus","params":{"input:0":{"id":0,"state":null}}}`, lost},
		{"an event is not a level", events, `{"src":"` + id + `","method":"NotifyEvent","params":{"events":[{"component":"input:0","event":"single_push"}]}}`, nil},
		{"a wrong src", events, `{"src":"shellyplus1-000000000000","method":"NotifyStatus","params":{"input:0":{"id":0,"state":true}}}`, nil},
		{"no src", events, `{"method":"NotifyStatus","params":{"input:0":{"id":0,"state":true}}}`, nil},
		{"another input", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:1":{"id":1,"state":true}}}`, nil},
		{"an input of another id", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"id":1,"state":true}}}`, nil},
		{"an input without an id", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"state":true}}}`, nil},
		{"a wrong type", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"id":0,"state":"true"}}}`, nil},
		{"a wrong type", events, `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":true}}`, nil},
		{"not JSON", events, `{"src":`, nil},
		{"the answer to what was asked", answers, `{"id":1,"src":"` + id + `","dst":"` + id + `/lintel","result":{"id":0,"state":true}}`, at},
		{"an answer to somebody else", answers, `{"id":1,"src":"` + id + `","dst":"user_1","result":{"id":0,"state":true}}`, nil},
		{"an answer of somebody else", answers, `{"id":1,"src":"other","dst":"` + id + `/lintel","result":{"id":0,"state":true}}`, nil},
		{"the answer to a pulse", answers, `{"id":2,"src":"` + id + `","dst":"` + id + `/lintel","result":{"was_on":false}}`, nil},
		{"an answer with another id", answers, `{"id":2,"src":"` + id + `","dst":"` + id + `/lintel","result":{"id":0,"state":true}}`, nil},
		{"an error", answers, `{"id":1,"src":"` + id + `","dst":"` + id + `/lintel","error":{"code":-105,"message":"x"},"result":{"id":0,"state":true}}`, nil},
		{"generic status updates", id + "/status/input:0", `{"id":0,"state":false}`, away},
		{"the relay is not the door", id + "/status/switch:0", `{"id":0,"output":true,"state":true}`, nil},
		{"the will", id + "/online", "false", lost},
		{"online is not news", id + "/online", "true", nil},
		{"a command", id + "/rpc", `{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"id":0,"state":true}}}`, nil},
		{"too long", id + "/status/input:0", `{"id":0,"state":false}` + strings.Repeat(" ", maxPayload), nil},
	} {
		got := New().Device(settings).Receive(driver.Message{Topic: c.topic, Payload: []byte(c.payload)})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %s %.120s: %v, want %v", c.quirk, c.topic, c.payload, got, c.want)
		}
	}
}

// TestAnotherPrefix: the device calls itself by its id whatever its prefix.
func TestAnotherPrefix(t *testing.T) {
	s := settings
	s.Base, s.Entity = "house/garage", id
	d := New().Device(s)
	got := d.Receive(driver.Message{Topic: "house/garage/events/rpc",
		Payload: []byte(`{"src":"` + id + `","method":"NotifyStatus","params":{"input:0":{"id":0,"state":true}}}`)})
	if !reflect.DeepEqual(got, at) {
		t.Errorf("by its id: %v", got)
	}
	got = d.Receive(driver.Message{Topic: "house/garage/events/rpc",
		Payload: []byte(`{"src":"house/garage","method":"NotifyStatus","params":{"input:0":{"id":0,"state":true}}}`)})
	if got != nil {
		t.Errorf("by its prefix: %v", got)
	}
}

func TestPublishesExactlyThis(t *testing.T) {
	d := New().Device(settings)
	connected := d.Connected()
	want := `{"id":1,"src":"` + id + `/lintel","method":"Input.GetStatus","params":{"id":0}}`
	if len(connected) != 1 || connected[0].Topic != id+"/rpc" || string(connected[0].Payload) != want {
		t.Errorf("connected: %s", connected)
	}
	want = `{"id":2,"src":"` + id + `/lintel","method":"Switch.Set","params":{"id":0,"on":true,"toggle_after":1}}`
	for _, e := range effects {
		got, ok := d.Actuate(e)
		if e != door.Pulse {
			if ok || got != nil {
				t.Errorf("%s: %s", e, got)
			}
			continue
		}
		if !ok || len(got) != 1 || got[0].Topic != id+"/rpc" || string(got[0].Payload) != want {
			t.Errorf("%s: %s, %v", e, got, ok)
		}
	}
}

// step is a message of the device or a request, and what follows from it.
type step struct {
	seconds        float64
	topic, payload string
	ask            door.Action // where topic is empty
	value          door.Value
	pulses         int
	refusal        door.Refusal
}

// play runs a device with the real door machine.
func play(t *testing.T, d driver.Device, sole bool, steps []step) {
	t.Helper()
	c := d.Door()
	c.SoleControl = c.SoleControl || sole // the driver never claims it by itself
	var state door.State
	for i, p := range steps {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(p.seconds * float64(time.Second)))
		var decided door.Decision
		pulses := 0
		if p.topic == "" {
			state, decided = c.Step(now, state, door.Asked{Action: p.ask})
			messages, _ := d.Actuate(decided.Effect)
			pulses = len(messages)
		}
		for _, in := range d.Receive(driver.Message{Topic: p.topic, Payload: []byte(p.payload)}) {
			state, _ = c.Step(now, state, in)
		}
		if state.Value != p.value || pulses != p.pulses || decided.Refusal != p.refusal {
			t.Fatalf("step %d: %s, %d pulses, refused %q; want %s, %d, %q", i, state.Value, pulses, decided.Refusal, p.value, p.pulses, p.refusal)
		}
	}
}

func TestAPulseOnlyWhereItIsCertainWhichWayTheDoorGoes(t *testing.T) {
	for name, g := range map[string]struct {
		d                         driver.Device
		topic, closed, away, will string
	}{
		"shelly": {New().Device(settings), id + "/status/input:0", `{"id":0,"state":true}`, `{"id":0,"state":false}`, id + "/online"},
		"shelly1": {NewGen1().Device(driver.Settings{Base: "shelly1-68C63AFA0C2B", Travel: 15 * time.Second, Sensor: true}),
			"shellies/shelly1-68C63AFA0C2B/input/0", "1", "0", "shellies/shelly1-68C63AFA0C2B/online"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, g.d, false, []step{
				{seconds: 0, ask: door.DoOpen, refusal: door.RefuseSensor},
				{seconds: 1, topic: g.topic, payload: g.closed, value: door.Closed},
				{seconds: 2, ask: door.DoOpen, value: door.Opening, pulses: 1},
				{seconds: 2.2, ask: door.DoClose, value: door.Opening, refusal: door.RefuseMoving},
				{seconds: 3, topic: g.topic, payload: g.away, value: door.Opening},
				{seconds: 60, ask: door.DoClose, value: door.Open, refusal: door.RefuseWrongWay},
				{seconds: 61, ask: door.DoStop, value: door.Open, refusal: door.RefuseUnsupported},
				{seconds: 90, topic: g.topic, payload: g.closed, value: door.Closed},
				{seconds: 91, topic: g.will, payload: "false"},
				{seconds: 92, ask: door.DoOpen, refusal: door.RefuseSensor},
			})
			play(t, g.d, true, []step{
				{seconds: 1, topic: g.topic, payload: g.closed, value: door.Closed},
				{seconds: 2, ask: door.DoOpen, value: door.Opening, pulses: 1},
				{seconds: 3, topic: g.topic, payload: g.away, value: door.Opening},
				{seconds: 60, ask: door.DoClose, value: door.Closing, pulses: 1},
				{seconds: 75, topic: g.topic, payload: g.closed, value: door.Closed},
			})
		})
	}
}

// TestADeltaIsLaidOverWhatIsKnown: what a change leaves out stays as it was.
func TestADeltaIsLaidOverWhatIsKnown(t *testing.T) {
	const events, head = id + "/events/rpc", `{"src":"` + id + `","method":"NotifyStatus","params":`
	play(t, New().Device(settings), false, []step{
		{seconds: 1, topic: events, payload: head + `{"input:0":{"id":0,"state":true}}}`, value: door.Closed},
		{seconds: 2, topic: events, payload: head + `{"switch:0":{"id":0,"output":false}}}`, value: door.Closed},
		{seconds: 3, topic: events, payload: head + `{"input:0":{"id":0}}}`, value: door.Closed},
		{seconds: 4, ask: door.DoOpen, value: door.Opening, pulses: 1},
		{seconds: 5, topic: events, payload: head + `{"switch:0":{"id":0,"output":true}}}`, value: door.Opening},
	})
}

func TestWithoutASensorItNeverMoves(t *testing.T) {
	blind := settings
	blind.Sensor = false
	for _, d := range []driver.Driver{New(), NewGen1()} {
		if d.Check(blind) == nil {
			t.Errorf("%s is enrolled without a sensor", d.Name())
		}
		for _, m := range []driver.Message{
			{Topic: id + "/status/input:0", Payload: []byte(`{"id":0,"state":true}`)},
			{Topic: "shellies/" + id + "/input/0", Payload: []byte("1")},
		} {
			if got := d.Device(blind).Receive(m); got != nil {
				t.Errorf("%s: what is not wired says %v", d.Name(), got)
			}
		}
		play(t, d.Device(blind), true, []step{
			{seconds: 1, topic: id + "/status/input:0", payload: `{"id":0,"state":true}`},
			{seconds: 1, topic: "shellies/" + id + "/input/0", payload: "1"},
			{seconds: 2, topic: "shellies/" + id + "/relay/0", payload: "on"},
			{seconds: 3, ask: door.DoOpen, refusal: door.RefuseSensor},
			{seconds: 4, ask: door.DoClose, refusal: door.RefuseSensor},
		})
	}
}

// TestNothingItMayPublishMovesIt: what it publishes with is known to whoever listens
// to its network.
func TestNothingItMayPublishMovesIt(t *testing.T) {
	for _, d := range []driver.Driver{New(), NewGen1()} {
		topics := d.Topics(settings)
		for _, command := range topics.Subscribe {
			for _, own := range topics.Publish {
				below, wild := strings.CutSuffix(own, "#")
				if own == command || wild && strings.HasPrefix(command, below) {
					t.Errorf("%s may publish %s, which covers %s", d.Name(), own, command)
				}
			}
		}
		for _, m := range mustActuate(t, d.Device(settings)) {
			if !reflect.DeepEqual(topics.Commands, []string{m.Topic}) {
				t.Errorf("%s is moved by %s and needs %s", d.Name(), m.Topic, topics.Commands)
			}
		}
	}
}

func mustActuate(t *testing.T, d driver.Device) []driver.Message {
	t.Helper()
	messages, ok := d.Actuate(door.Pulse)
	if !ok || len(messages) != 1 {
		t.Fatalf("%s, %v", messages, ok)
	}
	return messages
}

func TestCheckRefuses(t *testing.T) {
	for _, d := range []driver.Driver{New(), NewGen1()} {
		if err := d.Check(settings); err != nil {
			t.Errorf("%s: refused: %v", d.Name(), err)
		}
		for _, base := range []string{
			"", "a#", "+", "$SYS", "a b", "a\x00", "a\n", "a\xff", "/a", "a/", "a//b", "a%b", "a?b", `a"b`, strings.Repeat("a", maxTopic+1),
		} {
			s := settings
			s.Base = base
			if d.Check(s) == nil {
				t.Errorf("%s: %q is accepted", d.Name(), base)
			}
		}
	}
	for _, s := range []driver.Settings{
		{Base: "shellies/shelly1-68C63AFA0C2B", Sensor: true}, {Base: "command", Sensor: true}, {Base: "announce", Sensor: true}, {Base: id, Entity: "0", Sensor: true},
	} {
		if NewGen1().Check(s) == nil {
			t.Errorf("shelly1: %+v is accepted", s)
		}
	}
	if New().Check(driver.Settings{Base: id, Entity: "#", Sensor: true}) == nil {
		t.Error("shelly: a wrong device id is accepted")
	}
}

func TestSetupKeepsTheRelayFromMovingByItself(t *testing.T) {
	login := driver.Login{Host: "garage.example", Port: 1883, Username: "u1", Password: "p1"}
	for _, d := range []driver.Driver{New(), NewGen1()} {
		text := d.Setup(settings, login)
		for _, want := range []string{"Detached", "Auto OFF", "1 second", "garage.example:1883", "u1", "p1", id} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", d.Name(), want, text)
			}
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("/events/rpc", []byte(`{"src":"`+id+`","method":"NotifyStatus","params":{"input:0":{"id":0,"state":true}}}`))
	f.Add("/lintel/rpc", []byte(`{"id":1,"src":"`+id+`","dst":"`+id+`/lintel","result":{"id":0,"state":true}}`))
	f.Add("/status/input:0", []byte(`{"id":0,"state":null}`))
	f.Add("/online", []byte("false"))
	f.Add("/input/0", []byte("1"))
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		inputs := New().Device(settings).Receive(driver.Message{Topic: id + topic, Payload: payload})
		inputs = append(inputs, NewGen1().Device(settings).Receive(driver.Message{Topic: "shellies/" + id + topic, Payload: payload})...)
		for _, in := range inputs {
			if sensed, ok := in.(door.Sensed); !ok || sensed.End != door.ClosedEnd {
				t.Fatalf("%T%+v", in, in)
			}
		}
	})
}

// TestAtTheOwnersBrokerItKeepsItsLogin: what it is told to enter is not about a broker.
func TestAtTheOwnersBrokerItKeepsItsLogin(t *testing.T) {
	s := settings
	s.Upstream = true
	got := New().Setup(s, driver.Login{Host: "login-host", Username: "login-user", Password: "login-password"})
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, s.Base) {
		t.Errorf("%s", got)
	}
}

// TestPresence is where both generations say that they are there, and their will.
func TestPresence(t *testing.T) {
	if got := New().Topics(settings); got.Presence != id+"/online" || got.Gone != "false" {
		t.Errorf("%+v", got)
	}
	if got := NewGen1().Topics(driver.Settings{Base: "a"}); got.Presence != "shellies/a/online" || got.Gone != "false" {
		t.Errorf("%+v", got)
	}
}
