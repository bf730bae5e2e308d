package gpio

import (
	"fmt"

	"lintel/door"
)

// sensor is one input and what it last showed.
type sensor struct {
	name    string // for the log
	door    int
	input   func(r door.Reading) door.Input
	line    Input
	reading door.Reading // Unheard at first; Hardware.watched.mu guards it
}

// change is what a line called, or what was read.
type change struct {
	sensor  *sensor
	reading door.Reading
	err     error // why it is Lost
}

func (h *Hardware) openSensors(d Door, lines Lines) error {
	kinds := []func(r door.Reading) door.Input{
		func(r door.Reading) door.Input { return door.Sensed{End: door.ClosedEnd, Reading: r} },
		func(r door.Reading) door.Input { return door.Sensed{End: door.OpenEnd, Reading: r} },
		// What cannot be seen to be clear is in the way.
		func(r door.Reading) door.Input { return door.Obstruction{Present: r != door.Away} },
	}
	for i, in := range d.inputs() {
		if in.contact == nil {
			continue
		}
		s := &sensor{name: in.name, door: d.Number, input: kinds[i]}
		line, err := lines.Input(in.contact.Line, in.contact.Bias, in.contact.Debounce, func(active bool) {
			select {
			case h.changes <- change{sensor: s, reading: reading(active)}:
			case <-h.closing:
			}
		})
		if err != nil {
			return fmt.Errorf("door %d, %s: %w", d.Number, in.name, err)
		}
		s.line = line
		h.sensors = append(h.sensors, s)
	}
	return nil
}

func reading(active bool) door.Reading {
	if active {
		return door.At
	}
	return door.Away
}
