package opengarage

import (
	"bytes"
	"encoding/json"

	"lintel/door"
	"lintel/driver"
)

// maxPayload is the longest message that is read.
const maxPayload = 4096

// Receive implements driver.Device. OUT/JSON comes at each change and every 15 s,
// unless it is longer than the firmware's buffer. OUT/STATE always comes, but only
// while the door rests, and up to 15 s late.
func (d *device) Receive(m driver.Message) []door.Input {
	if len(m.Payload) > maxPayload {
		return nil
	}
	switch m.Topic {
	case d.base + "/OUT/STATUS":
		if string(m.Payload) == "offline" {
			return d.became(unknown)
		}
	case d.base + "/OUT/STATE":
		if state, ok := map[string]int{"CLOSED": closed, "OPEN": open, "STOPPED": stopped}[string(m.Payload)]; ok {
			return d.became(state)
		}
	case d.base + "/OUT/JSON":
		return d.report(m.Payload)
	}
	return nil
}

type report struct {
	Door     *int `json:"door"`
	Secv     *int `json:"secv"`
	Obstruct *int `json:"obstruct"`
}

func (d *device) report(payload []byte) []door.Input {
	var r report
	if json.Unmarshal(upToName(payload), &r) != nil || !within(r.Door, unknown) {
		return nil
	}
	if within(r.Secv, 2) {
		d.secv = *r.Secv
	}
	inputs := d.became(*r.Door)
	if within(r.Obstruct, 1) {
		inputs = append([]door.Input{door.Obstruction{Present: *r.Obstruct == 1}}, inputs...)
	}
	return inputs
}

// within reports whether a number is there and from 0 to the last one allowed.
func within(n *int, last int) bool { return n != nil && *n >= 0 && *n <= last }

// upToName cuts a report before the device's name, which the firmware writes
// without escaping: it can break the JSON, or say "door":1 of its own. All that
// is read stands before it, where the firmware writes numbers only.
func upToName(payload []byte) []byte {
	head, _, found := bytes.Cut(payload, []byte(`"name"`))
	if !found {
		return payload
	}
	head = bytes.TrimSuffix(bytes.TrimSpace(head), []byte(","))
	return append(bytes.Clone(head), '}')
}

// became is the door in a state. An opener without Security+ knows neither its
// movements nor which way it goes next, so its word is not taken where Security+
// was promised.
func (d *device) became(state int) []door.Input {
	if d.secv == 0 && !d.sensor {
		state = unknown
	}
	d.last = state
	if !d.sensor {
		values := [...]door.Value{door.Closed, door.Open, door.Stopped, door.Closing, door.Opening, door.Unknown}
		return []door.Input{door.Reported{Value: values[state]}}
	}
	reading := door.Away
	switch state {
	case closed:
		reading = door.At
	case unknown:
		reading = door.Lost
	}
	return []door.Input{door.Sensed{End: door.ClosedEnd, Reading: reading}}
}
