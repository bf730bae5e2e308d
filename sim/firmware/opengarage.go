package firmware

import (
	"fmt"
	"time"

	"lintel/door"
)

// opengarage is firmware 1.2.4 at a Security+ 2.0 opener.
type opengarage struct {
	*Device
	opener
	reports int
	alarm   *time.Timer // before the next movement; nil for none
}

// The period of its reports, and how soon after a lost connection it tries again.
const (
	opengarageReports = 15 * time.Second
	opengarageRetry   = 5 * time.Second
)

// OpenGarage returns a device. Base is its MQTT topic.
func OpenGarage(c Config) *Device {
	d := newDevice(c, profile{
		clientID: "OG_" + c.number(), keepAlive: 15 * time.Second,
		will:       message{c.Base + "/OUT/STATUS", "offline", 1, true},
		subscribes: []string{c.Base, c.Base + "/IN/#"},
		retry:      opengarageRetry, retryMost: time.Minute, sensors: 2,
	})
	o := &opengarage{Device: d, opener: opener{device: d}}
	o.changed = o.report
	d.does = o
	d.starts = func() { d.every(opengarageReports, o.periodic) }
	return d
}

func (o *opengarage) connected() {
	o.retain(o.Base+"/OUT/STATUS", "online")
	if !o.Faults.Waits {
		o.report()
	}
}

// numbers are the values of door in a report.
var numbers = map[door.Value]int{door.Closed: 0, door.Open: 1, door.Stopped: 2, door.Closing: 3, door.Opening: 4, door.Unknown: 5}

// report is lost where it is longer than the firmware's buffer.
func (o *opengarage) report() {
	o.reports++
	if o.Faults.LosesReports {
		return
	}
	o.say(o.Base+"/OUT/JSON", fmt.Sprintf(
		`{"dist":%d,"secv":2,"door":%d,"vehicle":2,"rcnt":%d,"fwv":124,"light":0,"lock":0,"obstruct":0,"name":"%s","rssi":-60}`,
		map[bool]int{true: 20, false: 210}[o.value == door.Open], numbers[o.value], o.reports%100, o.Base))
}

// periodic also has the plain state, of a door at rest.
func (o *opengarage) periodic() {
	o.report()
	if state, ok := map[door.Value]string{door.Closed: "CLOSED", door.Open: "OPEN", door.Stopped: "STOPPED"}[o.value]; ok {
		o.say(o.Base+"/OUT/STATE", state)
	}
}

func (o *opengarage) told(topic, payload string) {
	switch {
	case payload == "Button", topic == o.Base+"/IN/STATE" && payload == "click":
		o.warn(o.press)
	case topic == o.Base+"/IN/STATE" && payload == "open":
		o.warn(func() { o.drive(door.DriveOpen) })
	case topic == o.Base+"/IN/STATE" && payload == "close":
		o.warn(func() { o.drive(door.DriveClose) })
	}
}

// warn beeps before a movement. A command in the meantime begins it anew, and nothing
// ends it.
func (o *opengarage) warn(move func()) {
	if o.alarm != nil {
		o.alarm.Stop()
	}
	if o.Faults.Alarm == 0 {
		move()
		return
	}
	o.alarm = o.after(o.Faults.Alarm, move)
}
