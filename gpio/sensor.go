package gpio

import (
	"context"
	"fmt"

	"lintel/controller"
	"lintel/door"
)

// sensor is one input and what it last showed.
type sensor struct {
	name    string // for the log
	door    int
	input   func(r door.Reading) door.Input
	line    Input
	reading door.Reading // Unheard at first; of the goroutine in Run
}

// change is what a line called.
type change struct {
	sensor  *sensor
	reading door.Reading
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
			case h.changes <- change{s, reading(active)}:
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

// look reads every sensor. One that cannot be read is lost.
func (h *Hardware) look(ctx context.Context) {
	for _, s := range h.sensors {
		active, err := s.line.Active()
		r := reading(active)
		if err != nil {
			r = door.Lost
		}
		if err != nil && s.reading != door.Lost {
			h.log.Error("a sensor cannot be read", "door", s.door, "sensor", s.name, "error", err)
		}
		h.show(ctx, s, r)
	}
}

// show delivers what a sensor shows, if that is new.
func (h *Hardware) show(ctx context.Context, s *sensor, r door.Reading) {
	if r == s.reading {
		return
	}
	s.reading = r
	select {
	case h.inputs <- controller.Input{Door: s.door, In: s.input(r)}:
	case <-h.closing:
	case <-ctx.Done():
	}
}
