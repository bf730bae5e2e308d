// Package driver describes door hardware that people own: what it publishes and
// understands over MQTT, in terms of the door machine. A driver is a pure
// translation. It does no I/O and reads no clock; the one thing that it keeps is
// what a device said before, where the device says only what changed.
package driver

import (
	"time"

	"lintel/door"
)

// Driver is one vendor's firmware.
type Driver interface {
	// Name is how it is chosen: ratgdo, esphome and so on.
	Name() string
	// Capabilities says what Lintel can do with its hardware.
	Capabilities() Capabilities
	// Check refuses settings that the firmware cannot have, with a sentence for
	// the person who enrols it.
	Check(s Settings) error
	// Topics are the device's own, in full.
	Topics(s Settings) Topics
	// Setup is what to enter on the firmware's own pages, field by field, or a
	// file for it. login are the credentials made for the device; for one that stays
	// at the owner's broker there are none, and its own are left alone.
	Setup(s Settings, login Login) string
	// Device returns the translation for one new connection of a device.
	Device(s Settings) Device
}

// Settings are what is chosen at enrolment.
type Settings struct {
	Base   string        // the device's base topic, or its name; each driver says which
	Entity string        // the door's own part of a topic, where a driver needs one
	Travel time.Duration // longest time that a full movement takes, 1 s to 2 min
	Sensor bool          // a reed sensor at the closed end is wired, where that is a choice
	Sole   bool          // nothing else moves the door: no wall button, no remote control

	Upstream bool // it stays at the owner's own broker, and is reached through that
}

// Capabilities says what hardware can do, at the best opener that the firmware can have.
// Every one can open and close.
type Capabilities struct {
	Stop        bool          // the driver takes a stop and knows what comes of it
	Light       bool          // the firmware has a light; Lintel has no command for it
	Lock        bool          // the firmware has a lock; Lintel has no command for it
	Obstruction bool          // it reports obstructions, where its opener tells it of them
	Position    bool          // it reports positions between the ends; Lintel shows none, and tells the ends apart by them
	Warns       time.Duration // how long it warns by itself before it moves; 0 for not, or where that cannot be told
}

// Usable lists what Lintel can do with the hardware, as people and programs read it: light,
// lock and position are not among it.
func (c Capabilities) Usable() []string {
	names := []string{"open", "close"}
	if c.Stop {
		names = append(names, "stop")
	}
	if c.Obstruction {
		names = append(names, "obstruction")
	}
	return names
}

// Topics are the rules for one device: it may publish and subscribe to these, and
// nothing else.
type Topics struct {
	Publish   []string // exact, or ending in /# for all below
	Subscribe []string // exactly as the firmware subscribes, wildcards included
	Commands  []string // of Subscribe: without these the device cannot be moved

	Presence string // of Publish: where the device says that it is there, and its will that it is gone
	Gone     string // the payload of Presence that says gone; any other says that it has just connected
}

// Login is what a device authenticates with.
type Login struct {
	Host     string // of the MQTT endpoint, without the port
	Port     int
	TLS      bool
	ClientID string // empty: the firmware chooses its own
	Username string
	Password string
}

// Message is one MQTT message.
type Message struct {
	Topic   string
	Payload []byte
}

// Device translates for one connection. It is used by one goroutine.
type Device interface {
	// Door is how the door machine treats the hardware.
	Door() door.Config
	// Connected returns what to publish to a device that has just subscribed, to
	// learn where its door is.
	Connected() []Message
	// Receive takes what the device published. The inputs go to the door machine in
	// this order. What means nothing gives none.
	Receive(m Message) []door.Input
	// Actuate returns what to publish for an effect, or false where the hardware
	// cannot do it. Nothing is ever published as retained.
	Actuate(e door.Effect) ([]Message, bool)
}
