// Package tasmota drives a relay on Tasmota firmware, 9.2 and newer: a pulse for
// the opener's button, and a reed sensor on Switch1 that shows the closed door.
// The relay's own state says nothing about the door and is not read.
package tasmota

import (
	"time"

	"lintel/door"
	"lintel/driver"
)

// maxPayload is the longest message that is read.
const maxPayload = 4096

// Driver is the firmware. Settings.Base is the device's Topic; FullTopic is the
// firmware's default, %prefix%/%topic%/.
type Driver struct{}

// New returns the driver named tasmota.
func New() Driver { return Driver{} }

// Name implements driver.Driver.
func (Driver) Name() string { return "tasmota" }

// Capabilities implements driver.Driver. A relay opens and closes, and that is all.
func (Driver) Capabilities() driver.Capabilities { return driver.Capabilities{} }

// Topics implements driver.Driver. The device publishes an empty message to its
// own cmnd topic whenever it connects; it may not, and loses nothing by it. The
// group topic and the fallback topic are not its own either.
func (Driver) Topics(s driver.Settings) driver.Topics {
	commands := []string{"cmnd/" + s.Base + "/#"}
	return driver.Topics{
		Publish:   []string{"stat/" + s.Base + "/#", "tele/" + s.Base + "/#"},
		Subscribe: commands,
		Commands:  commands,
		Presence:  "tele/" + s.Base + "/LWT",
		Gone:      "Offline",
	}
}

// Device implements driver.Driver.
func (Driver) Device(s driver.Settings) driver.Device {
	return device{base: s.Base, sensor: s.Sensor, travel: s.Travel}
}

type device struct {
	base   string
	sensor bool
	travel time.Duration
}

// Door implements driver.Device: one button, known by its reed sensor only.
func (d device) Door() door.Config {
	return door.Config{Opener: door.OneButton, ClosedSensor: d.sensor, Travel: d.travel}
}

// Connected implements driver.Device. STATUS 10 is answered with the sensors.
func (d device) Connected() []driver.Message {
	return []driver.Message{{Topic: "cmnd/" + d.base + "/STATUS", Payload: []byte("10")}}
}

// Actuate implements driver.Device. The device ends the pulse by its PulseTime.
func (d device) Actuate(e door.Effect) ([]driver.Message, bool) {
	if e != door.Pulse {
		return nil, false
	}
	return []driver.Message{{Topic: "cmnd/" + d.base + "/POWER", Payload: []byte("ON")}}, true
}
