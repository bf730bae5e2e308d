package firmware

import (
	"path"
	"time"

	"lintel/door"
)

// ratgdo is the MQTT firmware 2.58 at a Security+ opener.
type ratgdo struct {
	*Device
	opener
	began   time.Time // when it first connected
	listens bool      // it has been told something after the guard's time: from then on it obeys all
}

// Ratgdo returns a device. Base is its prefix and its name, joined.
func Ratgdo(c Config) *Device {
	d := newDevice(c, profile{
		clientID: path.Base(c.Base), keepAlive: 15 * time.Second,
		will:       message{c.Base + "/status/availability", "offline", 1, false},
		subscribes: []string{c.Base + "/command/#"},
		retry:      2 * time.Second, retryMost: time.Minute, sensors: 2,
	})
	r := &ratgdo{Device: d, opener: opener{device: d}}
	r.changed = d.unasked(r.report)
	d.does = r
	return d
}

// connected says that it is there, and nothing of the door.
func (r *ratgdo) connected() {
	r.retain(r.Base+"/status/availability", "online")
	switch {
	case r.began.IsZero():
		r.began = r.Now()
	case r.Faults.LateWill:
		r.say(r.Base+"/status/availability", "offline")
	}
}

// guards reports whether the firmware ignores what it is told now.
func (r *ratgdo) guards() bool {
	r.listens = r.listens || !r.began.IsZero() && r.Now().Sub(r.began) >= r.Faults.Guard
	return r.Faults.Guard > 0 && !r.listens
}

func (r *ratgdo) report() { r.retain(r.Base+"/status/door", r.value.String()) }

func (r *ratgdo) told(topic, payload string) {
	switch {
	case r.guards():
	case payload == "query", payload == "sync":
		r.retain(r.Base+"/status/door", "unknown")
		r.report()
		r.retain(r.Base+"/status/obstruction", "clear")
		r.retain(r.Base+"/status/light", "off")
		r.retain(r.Base+"/status/lock", "unlocked")
	case topic == r.Base+"/command/door" && r.presses(payload):
		r.press()
	}
}

// presses reports whether a command makes the firmware press the button: it only
// leaves out a press where the door is on its way or there.
func (r *ratgdo) presses(command string) bool {
	switch command {
	case "toggle":
		return true
	case "stop":
		return r.moves()
	case "open":
		return r.value != door.Open && r.value != door.Opening
	case "close":
		return r.value != door.Closed && r.value != door.Closing
	}
	return false
}
