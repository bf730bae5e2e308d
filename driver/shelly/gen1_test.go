package shelly

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/driver"
)

func TestGen1Receive(t *testing.T) {
	const base = "shellies/shelly1-68C63AFA0C2B"
	d := NewGen1().Device(driver.Settings{Base: "shelly1-68C63AFA0C2B", Travel: 15 * time.Second, Sensor: true})
	for _, c := range []struct {
		quirk, topic, payload string
		want                  []door.Input
	}{
		{"a closed contact is 1", base + "/input/0", "1", at},
		{"an open contact is 0", base + "/input/0", "0", away},
		{"nothing else is a contact", base + "/input/0", "on", nil},
		{"nothing else is a contact", base + "/input/0", "", nil},
		{"nothing else is a contact", base + "/input/0", "1\n", nil},
		{"another input", base + "/input/1", "1", nil},
		{"an event is not a level", base + "/input_event/0", `{"event":"S","event_cnt":1}`, nil},
		{"the relay is not the door", base + "/relay/0", "on", nil},
		{"the will", base + "/online", "false", lost},
		{"online is not news", base + "/online", "true", nil},
		{"somebody else's", "shellies/shelly1-000000000000/input/0", "1", nil},
	} {
		if got := d.Receive(driver.Message{Topic: c.topic, Payload: []byte(c.payload)}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %s %q: %v, want %v", c.quirk, c.topic, c.payload, got, c.want)
		}
	}
}

func TestGen1PublishesExactlyThis(t *testing.T) {
	d := NewGen1().Device(driver.Settings{Base: "shelly1-68C63AFA0C2B", Sensor: true})
	want := []driver.Message{{Topic: "shellies/shelly1-68C63AFA0C2B/command", Payload: []byte("update")}}
	if got := d.Connected(); !reflect.DeepEqual(got, want) {
		t.Errorf("connected: %s", got)
	}
	want = []driver.Message{{Topic: "shellies/shelly1-68C63AFA0C2B/relay/0/command", Payload: []byte("on")}}
	for _, e := range effects {
		got, ok := d.Actuate(e)
		if ok != (e == door.Pulse) || ok && !reflect.DeepEqual(got, want) || !ok && got != nil {
			t.Errorf("%s: %s, %v", e, got, ok)
		}
	}
}

// TestGen1AtTheOwnersBrokerItKeepsItsLogin: what it is told to enter is not about a broker.
func TestGen1AtTheOwnersBrokerItKeepsItsLogin(t *testing.T) {
	s := settings
	s.Upstream = true
	got := NewGen1().Setup(s, driver.Login{Host: "login-host", Username: "login-user", Password: "login-password"})
	if strings.Contains(got, "login-") || strings.Contains(strings.ToLower(got), "password") || !strings.Contains(got, "Auto OFF") {
		t.Errorf("%s", got)
	}
}
