package ratgdo

import (
	"time"

	"lintel/door"
	"lintel/driver"
)

// values are the payloads of status/door (ratgdo MQTT firmware 2.58). Until it is
// in step with the opener it knows nothing.
var values = map[string]door.Value{
	"unknown": door.Unknown,
	"syncing": door.Unknown,
	"closed":  door.Closed,
	"opening": door.Opening,
	"open":    door.Open,
	"closing": door.Closing,
	"stopped": door.Stopped,
}

// obstructions are the payloads of status/obstruction; "unknown" says nothing.
var obstructions = map[string]bool{"obstructed": true, "clear": false}

type device struct {
	base   string
	travel time.Duration
	said   door.Value     // what the opener last said
	last   door.Direction // its last movement, by its own word or ours
	sent   bool           // a command since it last said where its door is
	before door.Value     // what it had said, without a command since, when it was asked
}

// Door is a one-button opener that reports.
func (d *device) Door() door.Config {
	return door.Config{Opener: door.OneButton, Reports: true, Travel: d.travel}
}

// Connected asks for everything: the firmware publishes changes only, also to a
// new connection. It answers "unknown" first. It ignores what comes in the first
// ten seconds after it has connected, until it has once heard something later.
func (d *device) Connected() []driver.Message {
	if d.before = d.said; d.sent {
		d.before = door.Unknown
	}
	return []driver.Message{{Topic: d.base + "/command/query", Payload: []byte("query")}}
}

// Receive takes the opener's word and obstructions. Availability is nobody's word
// on the door: the "offline" of an old connection may come after the new one's "online".
func (d *device) Receive(m driver.Message) []door.Input {
	switch m.Topic {
	case d.base + "/status/door":
		v, ok := values[string(m.Payload)]
		if !ok {
			return nil
		}
		d.hear(v)
		return []door.Input{door.Reported{Value: v}}
	case d.base + "/status/obstruction":
		if present, ok := obstructions[string(m.Payload)]; ok {
			return []door.Input{door.Obstruction{Present: present}}
		}
	}
	return nil
}

// hear keeps the last movement over the first "unknown" of an answer, for a door that
// then stands where it stood when it was asked.
func (d *device) hear(v door.Value) {
	forgot := d.said == door.Unknown
	d.said = v
	switch {
	case v == door.Unknown && (forgot || d.before == door.Unknown):
		d.last, d.before = door.NoDirection, door.Unknown
	case v == door.Unknown:
		return
	case v == door.Opening, v == door.Open:
		d.last = door.Up
	case v == door.Closing, v == door.Closed:
		d.last = door.Down
	case forgot && d.before != v:
		d.last = door.NoDirection
	}
	d.sent, d.before = false, door.Unknown
}

// Actuate sends the command that says which way the press is to go, and never
// "toggle": the firmware leaves the press out where the door is there by now.
func (d *device) Actuate(e door.Effect) ([]driver.Message, bool) {
	if e != door.Pulse {
		return nil, false
	}
	switch {
	case d.said == door.Closed, d.said == door.Stopped && d.last == door.Down:
		d.last, d.sent = door.Up, true
		return d.command("open"), true
	case d.said == door.Open, d.said == door.Stopped && d.last == door.Up:
		d.last, d.sent = door.Down, true
		return d.command("close"), true
	}
	return nil, false
}

func (d *device) command(payload string) []driver.Message {
	return []driver.Message{{Topic: d.base + "/command/door", Payload: []byte(payload)}}
}
