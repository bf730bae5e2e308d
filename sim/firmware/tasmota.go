package firmware

import (
	"fmt"
	"strings"
	"time"

	"lintel/door"
)

// tasmota is a relay at the opener's button and a reed sensor on Switch1, set up
// with SetOption114 1, SwitchMode1 15 and PulseTime1 10.
type tasmota struct {
	*Device
	closed bool
	on     bool
	pulse  *time.Timer
}

const (
	tasmotaPulse  = time.Second     // PulseTime1 10
	tasmotaPeriod = 5 * time.Minute // TelePeriod
)

// Tasmota returns a device. Base is its topic.
func Tasmota(c Config) *Device {
	d := newDevice(c, profile{
		clientID: "DVES_" + c.number(), keepAlive: 30 * time.Second,
		will:       message{"tele/" + c.Base + "/LWT", "Offline", 1, true},
		subscribes: []string{"cmnd/" + c.Base + "/#"},
		retry:      10 * time.Second, retryMost: 2 * time.Minute, sensors: 1,
	})
	t := &tasmota{Device: d}
	d.does = t
	d.starts = func() { d.every(tasmotaPeriod, t.telemetry) }
	return d
}

// connected publishes an empty command to its own topic, as the firmware does.
func (t *tasmota) connected() {
	t.say("cmnd/"+t.Base+"/POWER", "")
	t.retain("tele/"+t.Base+"/LWT", "Online")
	t.power()
}

func (t *tasmota) telemetry() {
	t.say("tele/"+t.Base+"/STATE", fmt.Sprintf(`{"Time":"%s","POWER":"%s"}`, t.clock(), onOff(t.on)))
	t.say("tele/"+t.Base+"/SENSOR", fmt.Sprintf(`{"Time":"%s","Switch1":"%s"}`, t.clock(), onOff(t.closed)))
}

func (t *tasmota) power() {
	t.say("stat/"+t.Base+"/RESULT", fmt.Sprintf(`{"POWER":"%s"}`, onOff(t.on)))
	t.say("stat/"+t.Base+"/POWER", onOff(t.on))
}

func (t *tasmota) clock() string { return t.Now().UTC().Format("2006-01-02T15:04:05") }

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

func (t *tasmota) sensed(_ door.End, there bool) {
	t.closed = there
	if t.Faults.Deltas {
		t.say("tele/"+t.Base+"/SENSOR", fmt.Sprintf(`{"Time":"%s"}`, t.clock()))
		t.say("stat/"+t.Base+"/RESULT", `{"Switch2":{"Action":"ON"}}`)
	}
	t.unasked(func() { t.say("stat/"+t.Base+"/RESULT", fmt.Sprintf(`{"Switch1":{"Action":"%s"}}`, onOff(there))) })()
}

func (t *tasmota) told(topic, payload string) {
	command := strings.ToUpper(strings.TrimPrefix(topic, "cmnd/"+t.Base+"/"))
	switch {
	case command == "STATUS" && payload == "10":
		t.say("stat/"+t.Base+"/STATUS10", fmt.Sprintf(`{"StatusSNS":{"Time":"%s","Switch1":"%s"}}`, t.clock(), onOff(t.closed)))
	case command == "POWER", command == "POWER1":
		switch strings.ToUpper(payload) {
		case "ON", "1":
			t.turn(true)
		case "OFF", "0":
			t.turn(false)
		case "TOGGLE", "2":
			t.turn(!t.on)
		}
		t.power()
	}
}

// turn presses the button when the relay closes; it opens by itself.
func (t *tasmota) turn(on bool) {
	if on && !t.on {
		t.actuate(door.Pulse)
	}
	if t.pulse != nil {
		t.pulse.Stop()
	}
	t.on = on
	if on {
		t.pulse = t.after(tasmotaPulse, func() {
			t.on = false
			t.power()
		})
	}
}
