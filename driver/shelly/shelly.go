// Package shelly drives relays by Shelly: a pulse for the opener's button, and a
// reed sensor on the first input that shows the closed door. Gen2 and newer (Plus,
// Pro, Mini, Gen3, Gen4; firmware 1.0 and newer) speak JSON RPC, Gen1 (Shelly 1, 1L,
// 1PM, Uni; firmware 1.11 to 1.14) has a topic for each value. The relay's own
// state says nothing about the door and is not read.
package shelly

import (
	"encoding/json"
	"time"

	"lintel/door"
	"lintel/driver"
)

// maxPayload is the longest message that is read.
const maxPayload = 4096

// Driver is Gen2 and newer. Settings.Base is the MQTT prefix, which is the device
// id unless it was changed; where it was, Settings.Entity is the device id.
type Driver struct{}

// New returns the driver of Gen2 and newer, named shelly.
func New() Driver { return Driver{} }

// Name implements driver.Driver.
func (Driver) Name() string { return "shelly" }

// Capabilities implements driver.Driver. A relay opens and closes, and that is all.
func (Driver) Capabilities() driver.Capabilities { return driver.Capabilities{} }

// Topics implements driver.Driver. Answers go to <src>/rpc, and src is below the
// device's own prefix.
func (Driver) Topics(s driver.Settings) driver.Topics {
	return driver.Topics{
		Publish:   []string{s.Base + "/online", s.Base + "/events/rpc", s.Base + "/status/#", source(s.Base) + "/rpc"},
		Subscribe: []string{s.Base + "/rpc", s.Base + "/rpc/#", s.Base + "/command", s.Base + "/command/#"},
		Commands:  []string{s.Base + "/rpc"},
		Presence:  s.Base + "/online",
		Gone:      "false",
	}
}

// source is how the service names itself to the device.
func source(base string) string { return base + "/lintel" }

// Device implements driver.Driver.
func (Driver) Device(s driver.Settings) driver.Device {
	d := device{base: s.Base, id: s.Base, sensor: s.Sensor, travel: s.Travel}
	if s.Entity != "" {
		d.id = s.Entity
	}
	return d
}

type device struct {
	base   string
	id     string // what it calls itself
	sensor bool
	travel time.Duration
}

// Door implements driver.Device: one button, known by its reed sensor only.
func (d device) Door() door.Config { return relay(d.sensor, d.travel) }

func relay(sensor bool, travel time.Duration) door.Config {
	return door.Config{Opener: door.OneButton, ClosedSensor: sensor, Travel: travel}
}

// The ids of requests, which come back in the answers.
const (
	askInput = 1
	pulse    = 2
)

type request struct {
	ID     int    `json:"id"`
	Src    string `json:"src"`
	Method string `json:"method"`
	Params params `json:"params"`
}

type params struct {
	ID          int  `json:"id"`
	On          bool `json:"on,omitempty"`
	ToggleAfter int  `json:"toggle_after,omitempty"` // seconds
}

// Connected implements driver.Device. One input's state is asked for rather than
// the whole device's, which can be longer than what is read.
func (d device) Connected() []driver.Message {
	return d.call(request{ID: askInput, Method: "Input.GetStatus"})
}

// Actuate implements driver.Device. The device itself ends the pulse.
func (d device) Actuate(e door.Effect) ([]driver.Message, bool) {
	if e != door.Pulse {
		return nil, false
	}
	return d.call(request{ID: pulse, Method: "Switch.Set", Params: params{On: true, ToggleAfter: 1}}), true
}

func (d device) call(r request) []driver.Message {
	r.Src = source(d.base)
	payload, err := json.Marshal(r)
	if err != nil {
		return nil // strings and numbers can always be written
	}
	return []driver.Message{{Topic: d.base + "/rpc", Payload: payload}}
}
