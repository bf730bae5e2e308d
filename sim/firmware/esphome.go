package firmware

import (
	"strconv"
	"strings"
	"time"

	"lintel/door"
)

// esphome is a cover of ESPHome 2024.11 with positions, as esphome-ratgdo makes it
// at a Security+ 2.0 opener.
type esphome struct {
	*Device
	opener
	position float64 // 0 closed, 1 open; reckoned from time between the ends
	at       time.Time
	ticking  bool
	warning  *time.Timer // of Konnected, before it closes; nil for none
}

// ESPHome returns a device. Base is its topic_prefix, Entity the cover's object id.
func ESPHome(c Config) *Device {
	cover := c.Base + "/cover/" + c.Entity
	d := newDevice(c, profile{
		clientID: c.Base + "-" + strings.ToLower(c.number()), keepsSession: true, keepAlive: 15 * time.Second,
		will:       message{c.Base + "/status", "offline", 0, true},
		subscribes: []string{cover + "/command", cover + "/position/command"},
		retry:      time.Second, retryMost: time.Minute, sensors: 2,
	})
	e := &esphome{Device: d, opener: opener{device: d}, at: c.Now()}
	e.changed = d.unasked(e.follow)
	d.does = e
	return d
}

func (e *esphome) connected() {
	e.retain(e.Base+"/status", "online")
	e.report()
}

// follow says where the door is, now and each half second while it moves.
func (e *esphome) follow() {
	e.report()
	if e.moves() && !e.ticking {
		e.ticking = true
		e.after(time.Second/2, func() {
			e.ticking = false
			if e.moves() {
				e.follow()
			}
		})
	}
}

// report has no word for a door that rests between its ends: that is open.
func (e *esphome) report() {
	if e.value == door.Unknown {
		return
	}
	e.reckon()
	word := e.value.String()
	if e.value == door.Stopped {
		word = "open"
	}
	cover := e.Base + "/cover/" + e.Entity
	e.retain(cover+"/position/state", strconv.Itoa(int(100*e.position+0.5)))
	e.retain(cover+"/state", word)
}

func (e *esphome) reckon() {
	now := e.Now()
	part := float64(now.Sub(e.at)) / float64(e.Travel)
	e.at = now
	switch e.value {
	case door.Closed:
		e.position = 0
	case door.Open:
		e.position = 1
	case door.Opening:
		e.position = min(e.position+part, 0.99)
	case door.Closing:
		e.position = max(e.position-part, 0.01)
	}
}

func (e *esphome) told(topic, payload string) {
	if topic != e.Base+"/cover/"+e.Entity+"/command" {
		return // a position of its own choice is nothing that Lintel asks for
	}
	e.reckon()
	if e.warning != nil {
		e.warning.Stop()
	}
	switch strings.ToUpper(payload) {
	case "OPEN":
		e.drive(door.DriveOpen)
	case "CLOSE":
		e.close()
	case "STOP":
		e.drive(door.DriveStop)
	case "TOGGLE":
		e.press()
	}
}

// close warns first, if it does, and takes the warning for a part of the movement.
func (e *esphome) close() {
	if e.Faults.Alarm == 0 || e.Faults.Ignores {
		e.drive(door.DriveClose)
		return
	}
	e.is(door.Closing, door.Down)
	e.warning = e.after(e.Faults.Alarm, func() { e.drive(door.DriveClose) })
}
