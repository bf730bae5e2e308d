package firmware

import (
	"fmt"
	"time"

	"lintel/door"
)

// shelly1 is the first generation: a relay at the opener's button with the timer Auto
// OFF, and a reed sensor at input 0, which is 1 at the closed door. The commands to all
// devices at once, at shellies/command, are left out: no other may give them.
type shelly1 struct {
	*Device
	base   string
	closed bool
	on     bool
	pulse  *time.Timer
}

const (
	shelly1AutoOff = time.Second
	shelly1Updates = 30 * time.Second // update_period
)

// Shelly1 returns a device. Base is its id.
func Shelly1(c Config) *Device {
	base := "shellies/" + c.Base
	d := newDevice(c, profile{
		clientID: c.Base, keepAlive: time.Minute,
		will:       message{base + "/online", "false", 0, true},
		subscribes: []string{base + "/command", base + "/relay/0/command"},
		retry:      2 * time.Second, retryMost: time.Minute, sensors: 1,
	})
	s := &shelly1{Device: d, base: base}
	d.does = s
	d.starts = func() { d.every(shelly1Updates, s.update) }
	return d
}

func (s *shelly1) connected() {
	s.retain(s.base+"/online", "true")
	s.announce()
	if !s.Faults.LosesReports {
		s.update()
	}
}

func (s *shelly1) announce() {
	s.say(s.base+"/announce", fmt.Sprintf(`{"id":"%s","model":"SHSW-1","mac":"%s","ip":"192.0.2.7","new_fw":false,"fw_ver":"1.14.0"}`, s.Base, s.number()))
}

// update publishes every value.
func (s *shelly1) update() {
	s.relay()
	s.input()
}

func (s *shelly1) relay() {
	s.say(s.base+"/relay/0", map[bool]string{true: "on", false: "off"}[s.on])
}

func (s *shelly1) input() {
	s.say(s.base+"/input/0", map[bool]string{true: "1", false: "0"}[s.closed])
}

func (s *shelly1) sensed(_ door.End, there bool) {
	s.closed = there
	s.unasked(s.input)()
}

func (s *shelly1) told(topic, payload string) {
	switch topic + " " + payload {
	case s.base + "/command update":
		s.update()
	case s.base + "/command announce":
		s.announce()
	case s.base + "/relay/0/command on":
		s.turn(true)
	case s.base + "/relay/0/command off":
		s.turn(false)
	case s.base + "/relay/0/command toggle":
		s.turn(!s.on)
	}
}

// turn presses the button when the relay closes; it opens by itself.
func (s *shelly1) turn(on bool) {
	if on && !s.on {
		s.actuate(door.Pulse)
	}
	if s.pulse != nil {
		s.pulse.Stop()
	}
	s.on = on
	s.relay()
	if on {
		s.pulse = s.after(shelly1AutoOff, func() { s.turn(false) })
	}
}
