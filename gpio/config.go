package gpio

import (
	"time"

	"lintel/door"
)

// Config is the wiring of one controller.
type Config struct {
	Doors []Door
}

// Door is the wiring of one door. A nil line is not wired.
type Door struct {
	Number       int // 1 to protocol.MaxDoors
	Opener       door.Opener
	Relay        *Line         // of a one-button opener
	Open         *Line         // of a discrete opener
	Close        *Line         // of a discrete opener
	Stop         *Line         // of a discrete opener that has such an input
	Pulse        time.Duration // how long a contact is closed
	Travel       time.Duration // longest time that a whole movement takes
	Warning      time.Duration // for which to warn before a close; 0 for none
	SoleControl  bool          // see door.Config
	ClosedSensor *Contact      // active while the door is closed
	OpenSensor   *Contact      // active while the door is open
	Obstruction  *Contact      // active while something is in the way
	Light        *Line         // flashes as a warning
	Buzzer       *Line         // sounds as a warning
}

// Contact is an input with a switch.
type Contact struct {
	Line
	Bias     Bias
	Debounce time.Duration
}

// The limits of a door's values.
const (
	MinPulse    = 50 * time.Millisecond
	MaxPulse    = 5 * time.Second
	MinTravel   = time.Second
	MaxTravel   = 5 * time.Minute
	MaxWarning  = time.Minute
	MaxDebounce = time.Second
)

// The values of what is left out.
const (
	DefaultPulse    = 500 * time.Millisecond
	DefaultTravel   = 30 * time.Second
	DefaultDebounce = 20 * time.Millisecond
)

// Machines returns how a controller must be set up for the doors.
func (c Config) Machines() map[int]door.Config {
	machines := map[int]door.Config{}
	for _, d := range c.Doors {
		machines[d.Number] = d.machine()
	}
	return machines
}

// machine returns what the door machine must know of a door. It is the one place
// where wiring becomes a door.Config.
func (d Door) machine() door.Config {
	return door.Config{
		Opener: d.Opener, ClosedSensor: d.ClosedSensor != nil, OpenSensor: d.OpenSensor != nil,
		SoleControl: d.SoleControl, Travel: d.Travel, Warning: d.Warning,
	}
}

// named is an output with its name in the configuration, and the effect that it is
// for; light and buzzer have none.
type named struct {
	name   string
	effect door.Effect
	line   *Line
}

// outputs returns all outputs, wired or not.
func (d Door) outputs() []named {
	return []named{
		{"relay", door.Pulse, d.Relay}, {"open", door.DriveOpen, d.Open}, {"close", door.DriveClose, d.Close}, {"stop", door.DriveStop, d.Stop},
		{"light", door.NoEffect, d.Light}, {"buzzer", door.NoEffect, d.Buzzer},
	}
}

// lines returns every wired line.
func (d Door) lines() []named {
	var wired []named
	for _, o := range d.outputs() {
		if o.line != nil {
			wired = append(wired, o)
		}
	}
	for _, in := range d.inputs() {
		if in.contact != nil {
			wired = append(wired, named{name: in.name, line: &in.contact.Line})
		}
	}
	return wired
}

// fitted is an input with its name in the configuration.
type fitted struct {
	name    string
	contact *Contact
}

func (d Door) inputs() []fitted {
	return []fitted{{"closed_sensor", d.ClosedSensor}, {"open_sensor", d.OpenSensor}, {"obstruction", d.Obstruction}}
}
