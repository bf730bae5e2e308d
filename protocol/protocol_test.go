package protocol

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

const (
	testSession = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	testID      = "0b0c0d0e-1111-4222-8333-444455556666"
)

// valid is one valid message of each kind.
func valid() []Message {
	return []Message{
		&Hello{Version: 1, Session: testSession, Firmware: "agent 1.2", Doors: []int{1, 32}},
		&Command{Version: 1, ID: testID, Session: testSession, Sequence: 1, Door: 1, Action: "open", Deadline: 1},
		&Ack{Version: 1, ID: testID, Session: testSession, Code: CodePrecondition, Reason: "sensor_lost"},
		&State{Version: 1, Session: testSession, Sequence: 7, Door: 2, Value: "closed", Source: "sensor", Sensor: "ok", Since: 1,
			Event: testSession, Cause: "command", Command: testID},
		&TimeRequest{Version: 1, Session: testSession, Nonce: -4},
		&Time{Version: 1, Session: testSession, Nonce: 9, Now: 1},
		&Will{Version: 1, Session: testSession},
	}
}

// decodeLike decodes as the type of m.
func decodeLike(m Message, payload []byte) (Message, error) {
	switch m.(type) {
	case *Hello:
		v, err := Decode[Hello](payload)
		return &v, err
	case *Command:
		v, err := Decode[Command](payload)
		return &v, err
	case *Ack:
		v, err := Decode[Ack](payload)
		return &v, err
	case *State:
		v, err := Decode[State](payload)
		return &v, err
	case *TimeRequest:
		v, err := Decode[TimeRequest](payload)
		return &v, err
	case *Time:
		v, err := Decode[Time](payload)
		return &v, err
	}
	v, err := Decode[Will](payload)
	return &v, err
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	for _, m := range valid() {
		back, err := decodeLike(m, Encode(m))
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v came back as %+v, %v", m, back, err)
		}
	}
}

// TestStrictJSON: what one reader takes and another does not is how attackers
// get past checks, so there is one reading only.
func TestStrictJSON(t *testing.T) {
	for _, m := range valid() {
		good := string(Encode(m))
		for name, bad := range map[string]string{
			"duplicate name":  `{"v":1,` + good[1:],
			"trailing data":   good + `{}`,
			"an array":        `[` + good + `]`,
			"not UTF-8":       strings.Replace(good, testSession, "ABCDEFGHIJKLMNOP\xff", 1),
			"a null":          strings.Replace(good, `"v":1`, `"v":null`, 1),
			"a string":        strings.Replace(good, `"v":1`, `"v":"1"`, 1),
			"a fraction":      strings.Replace(good, `"v":1`, `"v":1.5`, 1),
			"another case":    strings.Replace(good, `"session"`, `"Session"`, 1),
			"cut off":         good[:len(good)-1],
			"empty":           ``,
			"another version": strings.Replace(good, `"v":1`, `"v":2`, 1),
			"a short session": strings.Replace(good, testSession, "short", 1),
			"too large":       good[:len(good)-1] + `,"x":"` + strings.Repeat("x", MaxPayload) + `"}`,
		} {
			if _, err := decodeLike(m, []byte(bad)); err == nil {
				t.Errorf("%T accepts %s: %s", m, name, bad)
			}
		}
		if _, err := decodeLike(m, []byte(good[:len(good)-1]+`,"later":{"a":1}}`)); err != nil {
			t.Errorf("%T refuses a field of a later version: %v", m, err)
		}
	}
}

func TestLimits(t *testing.T) {
	command := func(change func(*Command)) Message {
		m := *valid()[1].(*Command)
		change(&m)
		return &m
	}
	state := func(change func(*State)) Message {
		m := *valid()[3].(*State)
		change(&m)
		return &m
	}
	bad := []Message{
		command(func(m *Command) { m.Door = 0 }),
		command(func(m *Command) { m.Door = MaxDoors + 1 }),
		command(func(m *Command) { m.Action = "toggle" }),
		command(func(m *Command) { m.Sequence = 0 }),
		command(func(m *Command) { m.Deadline = 0 }),
		command(func(m *Command) { m.ID = strings.ToUpper(testID) }),
		state(func(m *State) { m.Value = "ajar" }),
		state(func(m *State) { m.Source = "" }),
		state(func(m *State) { m.Sensor = "maybe" }),
		state(func(m *State) { m.Cause = "" }),
		state(func(m *State) { m.Command = "" }),
		state(func(m *State) { m.Since = 0 }),
		state(func(m *State) { m.Since = 1<<63 - 1 }),
		&Hello{Version: 1, Session: testSession},
		&Hello{Version: 1, Session: testSession, Doors: make([]int, MaxDoors+1)},
		&Hello{Version: 1, Session: testSession, Doors: []int{1}, Firmware: strings.Repeat("x", 65)},
		&Hello{Version: 1, Session: testSession, Doors: []int{1}, Firmware: "a\x00b"},
		&Ack{Version: 1, ID: testID, Session: testSession, Code: 418},
		&Ack{Version: 1, ID: testID, Session: testSession, Code: 200, Reason: "Not A Word"},
	}
	for _, m := range bad {
		if err := m.validate(); err == nil {
			t.Errorf("%T %+v is accepted", m, m)
		}
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an invalid message was encoded")
		}
	}()
	Encode(&Will{Version: 1})
}

func FuzzDecode(f *testing.F) {
	for _, m := range valid() {
		f.Add(Encode(m))
	}
	f.Add([]byte(`{"v":1,"session":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","seq":1e3}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		CommandID(payload)
		for _, m := range valid() {
			got, err := decodeLike(m, payload)
			if err != nil {
				continue
			}
			again, err := decodeLike(m, Encode(got))
			if err != nil || !reflect.DeepEqual(again, got) {
				t.Fatalf("%q was read as %+v and then as %+v, %v", payload, got, again, err)
			}
		}
	})
}

func TestCommandIDNamesABrokenCommand(t *testing.T) {
	whole := Encode(valid()[1])
	if got := CommandID(bytes.Replace(whole, []byte(`"open"`), []byte(`"explode"`), 1)); got != testID {
		t.Errorf("got %q", got)
	}
	for _, payload := range []string{``, `{`, `{"id":"x"}`, `{"id":5}`, `[]`} {
		if got := CommandID([]byte(payload)); got != "" {
			t.Errorf("%s names %q", payload, got)
		}
	}
}
