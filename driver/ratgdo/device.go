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
}

// Door is a one-button opener that reports.
func (d *device) Door() door.Config {
	return door.Config{Opener: door.OneButton, Reports: true, Travel: d.travel}
}

// Connected asks for everything: the firmware publishes changes only, also to a
// new connection. It answers "unknown" first. It ignores what comes in the first
// ten seconds after it has connected, until it has once heard something later.
func (d *device) Connected() []driver.Message {
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

func (d *device) hear(v door.Value) {
	d.said = v
	switch v {
	case door.Unknown:
		d.last = door.NoDirection
	case door.Opening, door.Open:
		d.last = door.Up
	case door.Closing, door.Closed:
		d.last = door.Down
	}
}

// Actuate sends the command that says which way the press is to go, and never
// "toggle": the firmware leaves the press out where the door is there by now.
func (d *device) Actuate(e door.Effect) ([]driver.Message, bool) {
	if e != door.Pulse {
		return nil, false
	}
	switch {
	case d.said == door.Closed, d.said == door.Stopped && d.last == door.Down:
		d.last = door.Up
		return d.command("open"), true
	case d.said == door.Open, d.said == door.Stopped && d.last == door.Up:
		d.last = door.Down
		return d.command("close"), true
	}
	return nil, false
}

func (d *device) command(payload string) []driver.Message {
	return []driver.Message{{Topic: d.base + "/command/door", Payload: []byte(payload)}}
}
