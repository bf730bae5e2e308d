package esphome

import (
	"strconv"

	"lintel/door"
	"lintel/driver"
)

// word is a payload of the cover's state topic (ESPHome 2024.11, mqtt_cover).
type word string

// The words. None has been heard while it is empty, and older versions, where the
// cover has positions, never say one.
const (
	closed  word = "closed"
	opening word = "opening"
	open    word = "open"
	closing word = "closing"
	unknown word = "unknown" // between the ends, without positions
)

// What position/state says. It is rounded: 0 may be a door that is not down yet.
const (
	unheard = -1
	down    = 0
	up      = 100
)

// commands are what effects are called, and where they send the door.
var commands = map[door.Effect]struct {
	payload string
	way     door.Direction
}{
	door.DriveOpen:  {"OPEN", door.Up},
	door.DriveClose: {"CLOSE", door.Down},
	door.DriveStop:  {"STOP", door.NoDirection},
}

type device struct {
	settings driver.Settings
	word     word
	position int
	last     door.Direction // the last movement, by the device's word
	toward   door.Direction // where the door last moved or was sent
	stopped  bool           // told to stop, and no word since
}

// Door has an open, a close and a stop, and reports.
func (d *device) Door() door.Config {
	return door.Config{Opener: door.Discrete, Reports: true, Travel: d.settings.Travel}
}

// Connected asks nothing at Lintel's own endpoint: ESPHome publishes all it knows on
// each connection, which another broker may have had long ago.
func (d *device) Connected() []driver.Message {
	if !d.settings.Upstream {
		return nil
	}
	return []driver.Message{{Topic: question(d.settings), Payload: []byte("state")}}
}

// Receive takes the cover's state and position, and the binary sensor that
// esphome-ratgdo and Konnected name Obstruction. Of status (online, offline)
// nothing is to be learned.
func (d *device) Receive(m driver.Message) []door.Input {
	switch m.Topic {
	case cover(d.settings, "state"):
		return d.receiveState(word(m.Payload))
	case cover(d.settings, "position/state"):
		return d.receivePosition(string(m.Payload))
	case obstruction(d.settings):
		if s := string(m.Payload); s == "ON" || s == "OFF" {
			return []door.Input{door.Obstruction{Present: s == "ON"}}
		}
	}
	return nil
}

func (d *device) receiveState(w word) []door.Input {
	switch w {
	case opening:
		d.last, d.toward = door.Up, door.Up
	case closing:
		d.last, d.toward = door.Down, door.Down
	case closed, open, unknown:
	default:
		return nil
	}
	d.word, d.stopped = w, false
	return []door.Input{door.Reported{Value: d.value()}}
}

// receivePosition mostly waits for the word, which ESPHome publishes right after
// the position, so that a door which begins to move is not unknown in between. It
// gives an input where there are no words, or where the last one now makes sense.
func (d *device) receivePosition(payload string) []door.Input {
	p, err := strconv.ParseUint(payload, 10, 8)
	if err != nil || p > up {
		return nil
	}
	before := d.value()
	if d.position != int(p) && d.word != opening && d.word != closing {
		d.last = door.NoDirection // it moved without saying so
	}
	d.position = int(p)
	if v := d.value(); v != before && (d.word == "" || before == door.Unknown) {
		return []door.Input{door.Reported{Value: v}}
	}
	return nil
}

// value is where the door is for certain. A position alone never says closed: it
// is 0 before the door is down.
func (d *device) value() door.Value {
	switch d.word {
	case opening:
		return door.Opening
	case closing:
		return door.Closing
	case closed:
		if d.position == unheard || d.position == down {
			return door.Closed
		}
	case open:
		if d.position == unheard || d.position == up || d.last == door.Up {
			return door.Open
		}
	case "":
		if d.position == up {
			return door.Open
		}
	}
	return door.Unknown
}

// Actuate sends a command. A door that was just told to stop may only go back
// until the cover has said where it is.
func (d *device) Actuate(e door.Effect) ([]driver.Message, bool) {
	c, ok := commands[e]
	switch {
	case !ok:
		return nil, false
	case e == door.DriveStop:
		d.stopped = true
	case d.stopped && d.toward == c.way:
		return nil, false
	default:
		d.toward = c.way
	}
	return []driver.Message{{Topic: cover(d.settings, "command"), Payload: []byte(c.payload)}}, true
}
