package tasmota

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/driver"
)

var settings = driver.Settings{Base: "tasmota_A1B2C3", Travel: 15 * time.Second, Sensor: true}

var (
	at   = []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.At}}
	away = []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.Away}}
	lost = []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.Lost}}
)

func TestReceive(t *testing.T) {
	for _, c := range []struct {
		quirk, topic, payload string
		want                  []door.Input
	}{
		{"the sensor's telemetry", "tele/tasmota_A1B2C3/SENSOR", `{"Time":"2026-01-02T03:04:05","Switch1":"ON"}`, at},
		{"the sensor's telemetry", "tele/tasmota_A1B2C3/SENSOR", `{"Time":"2026-01-02T03:04:05","Switch1":"OFF"}`, away},
		{"a detached switch (SetOption114)", "stat/tasmota_A1B2C3/RESULT", `{"Switch1":{"Action":"ON"}}`, at},
		{"a detached switch (SetOption114)", "stat/tasmota_A1B2C3/RESULT", `{"Switch1":{"Action":"OFF"}}`, away},
		{"SetOption4 moves RESULT", "stat/tasmota_A1B2C3/SWITCH1", `{"Switch1":{"Action":"OFF"}}`, away},
		{"the answer to STATUS 10", "stat/tasmota_A1B2C3/STATUS10", `{"StatusSNS":{"Time":"2026-01-02T03:04:05","Switch1":"ON"}}`, at},
		{"the same of older firmware", "stat/tasmota_A1B2C3/STATUS8", `{"StatusSNS":{"Switch1":"OFF"}}`, away},
		{"the will has a capital", "tele/tasmota_A1B2C3/LWT", "Offline", lost},
		{"the will has a capital", "tele/tasmota_A1B2C3/LWT", "offline", nil},
		{"online is not news", "tele/tasmota_A1B2C3/LWT", "Online", nil},
		{"states have capitals", "tele/tasmota_A1B2C3/SENSOR", `{"Switch1":"on"}`, nil},
		{"the relay is not the door", "stat/tasmota_A1B2C3/RESULT", `{"POWER":"ON"}`, nil},
		{"the relay is not the door", "stat/tasmota_A1B2C3/POWER", "ON", nil},
		{"the relay is not the door", "tele/tasmota_A1B2C3/STATE", `{"POWER":"ON","Switch1":"ON"}`, nil},
		{"an empty echo of its own query", "cmnd/tasmota_A1B2C3/POWER", "", nil},
		{"another switch", "tele/tasmota_A1B2C3/SENSOR", `{"Switch2":"ON"}`, nil},
		{"actions that say no position", "stat/tasmota_A1B2C3/RESULT", `{"Switch1":{"Action":"TOGGLE"}}`, nil},
		{"a wrong type", "tele/tasmota_A1B2C3/SENSOR", `{"Switch1":1}`, nil},
		{"a wrong type", "tele/tasmota_A1B2C3/SENSOR", `{"Switch1":{"Action":"ON"}}`, nil},
		{"a wrong type", "stat/tasmota_A1B2C3/RESULT", `{"Switch1":"ON"}`, nil},
		{"null", "tele/tasmota_A1B2C3/SENSOR", `{"Switch1":null}`, nil},
		{"not JSON", "tele/tasmota_A1B2C3/SENSOR", `{"Switch1":"ON"} x`, nil},
		{"somebody else's", "tele/tasmota_A1B2C4/SENSOR", `{"Switch1":"ON"}`, nil},
		{"another FullTopic", "tasmota_A1B2C3/tele/SENSOR", `{"Switch1":"ON"}`, nil},
		{"too long", "tele/tasmota_A1B2C3/SENSOR", `{"Switch1":"ON"}` + strings.Repeat(" ", maxPayload), nil},
	} {
		got := New().Device(settings).Receive(driver.Message{Topic: c.topic, Payload: []byte(c.payload)})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %s %.80s: %v, want %v", c.quirk, c.topic, c.payload, got, c.want)
		}
	}
}

func TestPublishesExactlyThis(t *testing.T) {
	d := New().Device(settings)
	want := []driver.Message{{Topic: "cmnd/tasmota_A1B2C3/STATUS", Payload: []byte("10")}}
	if got := d.Connected(); !reflect.DeepEqual(got, want) {
		t.Errorf("connected: %s", got)
	}
	want = []driver.Message{{Topic: "cmnd/tasmota_A1B2C3/POWER", Payload: []byte("ON")}}
	for _, e := range []door.Effect{door.NoEffect, door.Pulse, door.DriveOpen, door.DriveClose, door.DriveStop} {
		got, ok := d.Actuate(e)
		if ok != (e == door.Pulse) || ok && !reflect.DeepEqual(got, want) || !ok && got != nil {
			t.Errorf("%s: %s, %v", e, got, ok)
		}
	}
}

// TestNothingItMayPublishMovesIt: what it publishes with is known to whoever listens
// to its network.
func TestNothingItMayPublishMovesIt(t *testing.T) {
	topics := New().Topics(settings)
	want := driver.Topics{
		Publish:   []string{"stat/tasmota_A1B2C3/#", "tele/tasmota_A1B2C3/#"},
		Subscribe: []string{"cmnd/tasmota_A1B2C3/#"},
		Commands:  []string{"cmnd/tasmota_A1B2C3/#"},
		Presence:  "tele/tasmota_A1B2C3/LWT",
		Gone:      "Offline",
	}
	if !reflect.DeepEqual(topics, want) {
		t.Errorf("%+v", topics)
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

// play runs the device with the real door machine.
func play(t *testing.T, s driver.Settings, sole bool, steps []step) {
	t.Helper()
	d := New().Device(s)
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

const (
	sensor = "tele/tasmota_A1B2C3/SENSOR"
	status = "stat/tasmota_A1B2C3/STATUS10"
)

func TestAPulseOnlyWhereItIsCertainWhichWayTheDoorGoes(t *testing.T) {
	play(t, settings, false, []step{
		{seconds: 0, ask: door.DoOpen, refusal: door.RefuseSensor},
		{seconds: 1, topic: status, payload: `{"StatusSNS":{"Switch1":"ON"}}`, value: door.Closed},
		{seconds: 2, ask: door.DoClose, value: door.Closed},
		{seconds: 3, ask: door.DoOpen, value: door.Opening, pulses: 1},
		{seconds: 3.2, ask: door.DoOpen, value: door.Opening},
		{seconds: 3.4, ask: door.DoClose, value: door.Opening, refusal: door.RefuseMoving},
		{seconds: 4, topic: sensor, payload: `{"Switch1":"OFF"}`, value: door.Opening},
		{seconds: 60, ask: door.DoClose, value: door.Open, refusal: door.RefuseWrongWay},
		{seconds: 61, ask: door.DoStop, value: door.Open, refusal: door.RefuseUnsupported},
		{seconds: 90, topic: sensor, payload: `{"Switch1":"ON"}`, value: door.Closed},
		{seconds: 91, topic: "tele/tasmota_A1B2C3/LWT", payload: "Offline"},
		{seconds: 92, ask: door.DoOpen, refusal: door.RefuseSensor},
	})
}

func TestUnderSoleControlItClosesToo(t *testing.T) {
	play(t, settings, true, []step{
		{seconds: 1, topic: status, payload: `{"StatusSNS":{"Switch1":"ON"}}`, value: door.Closed},
		{seconds: 3, ask: door.DoOpen, value: door.Opening, pulses: 1},
		{seconds: 4, topic: sensor, payload: `{"Switch1":"OFF"}`, value: door.Opening},
		{seconds: 60, ask: door.DoClose, value: door.Closing, pulses: 1},
		{seconds: 75, topic: sensor, payload: `{"Switch1":"ON"}`, value: door.Closed},
	})
}

func TestWithoutASensorItNeverMoves(t *testing.T) {
	blind := settings
	blind.Sensor = false
	if New().Check(blind) == nil {
		t.Error("enrolled without a sensor")
	}
	if got := New().Device(blind).Receive(driver.Message{Topic: sensor, Payload: []byte(`{"Switch1":"ON"}`)}); got != nil {
		t.Errorf("what is not wired says %v", got)
	}
	play(t, blind, true, []step{
		{seconds: 1, topic: sensor, payload: `{"Switch1":"ON"}`},
		{seconds: 2, topic: "stat/tasmota_A1B2C3/POWER", payload: "ON"},
		{seconds: 3, ask: door.DoOpen, refusal: door.RefuseSensor},
		{seconds: 4, ask: door.DoClose, refusal: door.RefuseSensor},
	})
}

func TestCheckRefuses(t *testing.T) {
	if err := New().Check(settings); err != nil {
		t.Errorf("refused: %v", err)
	}
	for _, base := range []string{
		"", "a#", "+", "$SYS", "a b", "a\x00", "a\n", "a\xff", "/a", "a/", "a//b", "a;b", "a%b", `a"b`, "tasmotas", strings.Repeat("a", maxTopic+1),
	} {
		s := settings
		s.Base = base
		if New().Check(s) == nil {
			t.Errorf("topic %q is accepted", base)
		}
	}
	s := settings
	s.Entity = "2"
	if New().Check(s) == nil {
		t.Error("an entity is accepted")
	}
}

func TestSetupKeepsTheRelayFromMovingByItself(t *testing.T) {
	text := New().Setup(settings, driver.Login{Host: "garage.example", Port: 8883, TLS: true, ClientID: "c1", Username: "u1", Password: "p1"})
	for _, want := range []string{
		"PulseTime1 10;", "PowerOnState 0;", "PowerRetain 0;", "SwitchRetain 0;", "SetOption114 1;", "SwitchMode1 15;",
		"MqttHost garage.example;", "MqttPort 8883;", "MqttUser u1;", "MqttPassword p1;", "MqttClient c1;", "SetOption103 1;",
		"FullTopic %prefix%/%topic%/;", "Topic tasmota_A1B2C3\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := New().Setup(settings, driver.Login{}); strings.Contains(text, "MqttClient") || strings.Contains(text, "SetOption103") {
		t.Errorf("what was not chosen is in\n%s", text)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("stat/tasmota_A1B2C3/RESULT", []byte(`{"Switch1":{"Action":"ON"}}`))
	f.Add("stat/tasmota_A1B2C3/STATUS10", []byte(`{"StatusSNS":{"Switch1":"ON"}}`))
	f.Add("tele/tasmota_A1B2C3/SENSOR", []byte(`{"Switch1":"OFF"}`))
	f.Add("tele/tasmota_A1B2C3/LWT", []byte("Offline"))
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		for _, in := range New().Device(settings).Receive(driver.Message{Topic: topic, Payload: payload}) {
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
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, "SetOption114 1") {
		t.Errorf("%s", got)
	}
}
