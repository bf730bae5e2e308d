// Package door is the door machine: pure decisions about one door. It holds no
// goroutine, no timer and no clock; time is an argument everywhere.
//
// It keeps one promise above all: a request to close never moves a door up, and
// a request to open never moves one down. Where the machine cannot know which
// way a pulse would go, it refuses.
package door

import "time"

// Value is where a door is, or is going.
type Value uint8

// The values. Unknown is the zero value: nothing is known until something is seen.
const (
	Unknown Value = iota
	Closed
	Opening
	Open
	Closing
	Stopped // between the ends, not moving
)

// Values lists every Value, for tables.
var Values = []Value{Unknown, Closed, Opening, Open, Closing, Stopped}

// String returns the value's name in the controller protocol.
func (v Value) String() string {
	return [...]string{"unknown", "closed", "opening", "open", "closing", "stopped"}[v]
}

// Source is how a Value is known.
type Source uint8

// The sources. Inferred is the zero value: reckoned from time and the last
// movement, and never evidence that a door is closed.
const (
	Inferred   Source = iota
	FromOpener        // the opener itself reported it
	FromSensor        // a door sensor showed it
)

// Sources lists every Source, for tables.
var Sources = []Source{Inferred, FromOpener, FromSensor}

// String returns the source's name in the controller protocol.
func (s Source) String() string { return [...]string{"inferred", "opener", "sensor"}[s] }

// Direction is the way a door last moved.
type Direction uint8

// The directions. NoDirection means that it is not known for certain.
const (
	NoDirection Direction = iota
	Up
	Down
)

// Directions lists every Direction, for tables.
var Directions = []Direction{NoDirection, Up, Down}

// String returns "none", "up" or "down".
func (d Direction) String() string { return [...]string{"none", "up", "down"}[d] }

func (d Direction) opposite() Direction { return [...]Direction{NoDirection, Down, Up}[d] }

// Opener is how the motor is operated.
type Opener uint8

// The kinds of opener. Monitor is the zero value: nothing is wired to move the door.
const (
	Monitor   Opener = iota
	OneButton        // one contact: each pulse starts, stops or reverses
	Discrete         // separate open, close and stop inputs
)

// Openers lists every Opener, for tables.
var Openers = []Opener{Monitor, OneButton, Discrete}

// String returns "monitor", "one-button" or "discrete".
func (o Opener) String() string { return [...]string{"monitor", "one-button", "discrete"}[o] }

// Action is what is asked of a door.
type Action uint8

// The actions.
const (
	DoOpen Action = iota
	DoClose
	DoStop
)

// Actions lists every Action, for tables.
var Actions = []Action{DoOpen, DoClose, DoStop}

// String returns "open", "close" or "stop".
func (a Action) String() string { return [...]string{"open", "close", "stop"}[a] }

// Effect is what the hardware is to do now.
type Effect uint8

// The effects. NoEffect means that the door already is, or is on its way, where
// it was asked to go.
const (
	NoEffect Effect = iota
	Pulse
	DriveOpen
	DriveClose
	DriveStop
	Warn  // begin to warn those near the door, by light and sound
	Quiet // stop warning
)

// String returns the effect's name in the published table.
func (e Effect) String() string {
	return [...]string{"nothing to do", "pulse", "drive open", "drive close", "drive stop", "warn", "quiet"}[e]
}

// Refusal is the rule by which a request is refused; empty when it is not. It is
// the reason a controller gives in its answer.
type Refusal string

// The refusals.
const (
	RefuseUnsupported Refusal = "unsupported"   // the opener cannot do this
	RefuseSensor      Refusal = "sensor_lost"   // a fitted sensor is out of reach, or none was ever paired
	RefuseStale       Refusal = "state_stale"   // the sensors were not heard for too long
	RefuseUnknown     Refusal = "state_unknown" // the state cannot be established
	RefuseMoving      Refusal = "moving"        // a pulse now would stop or reverse the door
	RefuseWrongWay    Refusal = "wrong_way"     // a pulse would, or might, go the other way
	RefuseObstructed  Refusal = "obstructed"    // closing onto an obstruction makes openers reverse
)

// Decision is the machine's answer to a request: an effect, or a refusal.
type Decision struct {
	Effect  Effect
	Refusal Refusal
}

// Situation is everything that a decision depends on.
type Situation struct {
	Opener     Opener
	Value      Value
	Source     Source
	Fresh      bool // the evidence is recent enough to act on
	SensorLost bool
	Obstructed bool
	Last       Direction // the last movement
}

// Decide says what to do about a request in a situation. It is total: every
// combination has an answer, and docs/door-table.md lists them.
func Decide(s Situation, a Action) Decision {
	switch {
	case s.Opener == Monitor:
		return Decision{Refusal: RefuseUnsupported}
	case a == DoStop:
		return decideStop(s)
	case s.SensorLost:
		return Decision{Refusal: RefuseSensor}
	case !s.Fresh:
		return Decision{Refusal: RefuseStale}
	case s.Value == Unknown:
		return Decision{Refusal: RefuseUnknown}
	case settled(s, a):
		return Decision{Effect: NoEffect}
	case a == DoClose && s.Obstructed:
		return Decision{Refusal: RefuseObstructed}
	case s.Opener == Discrete && a == DoOpen:
		return Decision{Effect: DriveOpen}
	case s.Opener == Discrete:
		return Decision{Effect: DriveClose}
	}
	return decidePulse(s, a)
}

// decideStop: a discrete stop input is safe in every situation. With one button
// a pulse may reverse the door instead of stopping it, so there is no stop.
func decideStop(s Situation) Decision {
	if s.Opener == OneButton {
		return Decision{Refusal: RefuseUnsupported}
	}
	return Decision{Effect: DriveStop}
}

// settled reports whether the door is already there or on its way. An inferred
// "closed" does not count: nobody may be told a door is closed on a guess. An
// inferred "open" counts for one button only, where a pulse would do harm; a
// discrete opener can simply be told again.
func settled(s Situation, a Action) bool {
	if a == DoClose {
		return s.Value == Closing || s.Value == Closed && s.Source != Inferred
	}
	return s.Value == Opening || s.Value == Open && (s.Source != Inferred || s.Opener == OneButton)
}

func decidePulse(s Situation, a Action) Decision {
	if s.Value == Opening || s.Value == Closing {
		return Decision{Refusal: RefuseMoving}
	}
	wanted := Up
	if a == DoClose {
		wanted = Down
	}
	if pulseGoes(s) != wanted {
		return Decision{Refusal: RefuseWrongWay}
	}
	return Decision{Effect: Pulse}
}

// pulseGoes says which way a pulse moves a resting door: away from the end that
// it is seen at, else against its last movement. An end that is inferred against
// the last movement is a contradiction, and nothing is known.
func pulseGoes(s Situation) Direction {
	evidence := s.Source != Inferred
	switch {
	case s.Value == Closed && (evidence || s.Last == Down):
		return Up
	case s.Value == Open && (evidence || s.Last == Up):
		return Down
	case s.Value == Stopped:
		return s.Last.opposite()
	}
	return NoDirection
}

// Reading is what a sensor shows.
type Reading uint8

// The readings. Unheard is the zero value: the sensor has not been heard yet.
const (
	Unheard Reading = iota
	Away            // the door is not at this sensor
	At              // the door is at this sensor
	Lost            // the sensor is out of reach
)

// End names the place of a sensor.
type End uint8

// The ends.
const (
	ClosedEnd End = iota
	OpenEnd
)

// Config describes a door's fixed equipment.
type Config struct {
	Opener       Opener
	ClosedSensor bool          // a sensor at the closed end
	OpenSensor   bool          // a sensor at the open end
	Reports      bool          // the opener reports its own state
	SoleControl  bool          // nothing else moves the door: no wall button, no remote control. See arrive
	Travel       time.Duration // longest time a full movement takes; at least a second
	FreshFor     time.Duration // how long a reading stays fresh; 0 for wired sensors, whose level is always known
}

// departGrace is how long after an actuation a sensor may still show the end
// the door is leaving before the machine concludes that it did not move. It
// covers openers that warn for up to 10 s before they move.
const departGrace = 12 * time.Second
