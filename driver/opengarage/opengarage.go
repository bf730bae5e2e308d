// Package opengarage drives OpenGarage, firmware 1.2.4 (fwv 124). It comes in two
// wirings, and Settings.Sensor says which:
//
// With Sensor, it presses a plain opener's button and a sensor at the closed end
// shows the door (its option Security+ is None). The firmware then reports every
// door that is not closed as open, also one that is on its way down, and takes a
// close for a press of the button. So it is a one-button opener to the door
// machine, and its "open" is no more than "not closed".
//
// Without Sensor, it speaks Security+ 1.0 or 2.0 with the opener, which reports
// each movement itself.
package opengarage

import (
	"time"

	"lintel/door"
	"lintel/driver"
)

const (
	// warns is how long the firmware beeps before it moves a door (option Sound Alarm).
	warns = 5 * time.Second
	// freshFor is four times the period of its reports.
	freshFor = time.Minute
)

// Driver is the firmware. Settings.Base is the MQTT topic, or the device's name
// where its option MQTT Topic is empty; both may have spaces.
type Driver struct{}

// New returns the driver named opengarage.
func New() Driver { return Driver{} }

// Name implements driver.Driver.
func (Driver) Name() string { return "opengarage" }

// Capabilities implements driver.Driver. Obstructions come from Security+ only.
// Light and lock can only be toggled, which nobody can ask for safely.
func (Driver) Capabilities() driver.Capabilities {
	return driver.Capabilities{Obstruction: true, Warns: warns}
}

// Topics implements driver.Driver. The firmware also publishes to the base topic
// itself, where it takes the payload Button for a press: that is left out, so that
// its credentials alone do not move a door.
func (Driver) Topics(s driver.Settings) driver.Topics {
	return driver.Topics{
		Publish:   []string{s.Base + "/OUT/#"},
		Subscribe: []string{s.Base, s.Base + "/IN/#"},
		Commands:  []string{s.Base + "/IN/#"},
		Presence:  s.Base + "/OUT/STATUS",
		Gone:      "offline",
	}
}

// Device implements driver.Driver.
func (Driver) Device(s driver.Settings) driver.Device {
	return &device{base: s.Base, sensor: s.Sensor, travel: s.Travel, last: unknown, secv: unsaid}
}

type device struct {
	base   string
	sensor bool
	travel time.Duration

	last int // the state that was reported last
	secv int // the version of Security+ that it said it speaks, 0 for none; unsaid before
}

const unsaid = -1

// The values of door in OUT/JSON.
const (
	closed = iota
	open
	stopped
	closing
	opening
	unknown
)

// Door implements driver.Device. A movement begins after the warning.
func (d *device) Door() door.Config {
	c := door.Config{Opener: door.Discrete, Reports: true, Travel: d.travel + warns, FreshFor: freshFor}
	if d.sensor {
		c.Opener, c.Reports, c.ClosedSensor = door.OneButton, false, true
	}
	return c
}

// Connected implements driver.Device. There is nothing to ask with: the firmware
// reports every 15 s.
func (d *device) Connected() []driver.Message { return nil }

// Actuate implements driver.Device.
func (d *device) Actuate(e door.Effect) ([]driver.Message, bool) {
	command := d.command(e)
	if command == "" {
		return nil, false
	}
	return []driver.Message{{Topic: d.base + "/IN/STATE", Payload: []byte(command)}}, true
}

// command returns what to say for an effect, or nothing where the firmware would
// ignore it or press a button without knowing which way the door goes: only
// Security+ 2.0 has a command for each way, and until the device has said that it
// speaks Security+, its "open" may be a door on its way down. It never says click,
// which moves a door whatever its state.
func (d *device) command(e door.Effect) string {
	switch {
	case d.sensor != (e == door.Pulse):
		return "" // not of this wiring
	case (e == door.Pulse || e == door.DriveOpen) && d.last == closed:
		return "open"
	case e == door.Pulse && d.last == open:
		return "close"
	case e == door.DriveOpen && (d.secv == 2 || d.last == closing):
		return "open"
	case e == door.DriveClose && (d.secv == 2 || d.secv == 1 && d.last == open):
		return "close"
	}
	return "" // stopped: one press, and nobody knows which way
}
