package shelly

import (
	"time"

	"lintel/door"
	"lintel/driver"
)

// Gen1 is the first generation. Settings.Base is the device id, or the custom
// MQTT prefix: what its topics have after shellies/.
type Gen1 struct{}

// NewGen1 returns the driver of the first generation, named shelly1.
func NewGen1() Gen1 { return Gen1{} }

// Name implements driver.Driver.
func (Gen1) Name() string { return "shelly1" }

// Capabilities implements driver.Driver. A relay opens and closes, and that is all.
func (Gen1) Capabilities() driver.Capabilities { return driver.Capabilities{} }

// Topics implements driver.Driver. The values are named one by one because the
// commands are below the same topic. What the device publishes besides, such as
// shellies/announce, is dropped, which QoS 0 allows.
func (Gen1) Topics(s driver.Settings) driver.Topics {
	base := "shellies/" + s.Base
	return driver.Topics{
		Publish:   []string{base + "/online", base + "/announce", base + "/info", base + "/relay/0", base + "/input/0", base + "/input_event/0"},
		Subscribe: []string{base + "/command", base + "/relay/0/command"},
		Commands:  []string{base + "/relay/0/command"},
		Presence:  base + "/online",
		Gone:      "false",
	}
}

// Device implements driver.Driver.
func (Gen1) Device(s driver.Settings) driver.Device {
	return gen1{base: "shellies/" + s.Base, sensor: s.Sensor, travel: s.Travel}
}

type gen1 struct {
	base   string
	sensor bool
	travel time.Duration
}

// Door implements driver.Device: one button, known by its reed sensor only.
func (d gen1) Door() door.Config { return relay(d.sensor, d.travel) }

// Connected implements driver.Device. On update the device publishes every value.
func (d gen1) Connected() []driver.Message {
	return []driver.Message{{Topic: d.base + "/command", Payload: []byte("update")}}
}

// Receive implements driver.Device. An input is 1 while its contact is closed,
// which is the closed door.
func (d gen1) Receive(m driver.Message) []door.Input {
	if !d.sensor {
		return nil
	}
	switch m.Topic {
	case d.base + "/online":
		return offline(m.Payload)
	case d.base + "/input/0":
		switch string(m.Payload) {
		case "1":
			return sensed(door.At)
		case "0":
			return sensed(door.Away)
		}
	}
	return nil
}

// Actuate implements driver.Device. The device ends the pulse by its auto-off timer.
func (d gen1) Actuate(e door.Effect) ([]driver.Message, bool) {
	if e != door.Pulse {
		return nil, false
	}
	return []driver.Message{{Topic: d.base + "/relay/0/command", Payload: []byte("on")}}, true
}
