package firmware

import (
	"path"
	"time"

	"lintel/door"
)

// ratgdo is the MQTT firmware 2.58 at a Security+ opener. Left out is that it
// ignores what comes in its first ten seconds: whoever tries it moves a door at once.
type ratgdo struct {
	*Device
	opener
}

// Ratgdo returns a device. Base is its prefix and its name, joined.
func Ratgdo(c Config) *Device {
	d := newDevice(c, profile{
		clientID: path.Base(c.Base), keepAlive: 15 * time.Second,
		will:       message{c.Base + "/status/availability", "offline", 1, false},
		subscribes: []string{c.Base + "/command/#"},
		retry:      2 * time.Second, retryMost: time.Minute, sensors: 2,
	})
	r := &ratgdo{Device: d, opener: opener{door: d.door}}
	r.changed = r.report
	d.does = r
	return d
}

// connected says that it is there, and nothing of the door.
func (r *ratgdo) connected() { r.retain(r.Base+"/status/availability", "online") }

func (r *ratgdo) report() { r.retain(r.Base+"/status/door", r.value.String()) }

func (r *ratgdo) told(topic, payload string) {
	switch {
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
