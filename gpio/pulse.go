package gpio

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"lintel/door"
)

// outputs are the driven lines of one door.
type outputs struct {
	contacts map[door.Effect]Output
	length   time.Duration // of a pulse
	alarm    alarm

	busy   bool        // a pulse, or the rest after it
	effect door.Effect // of the present pulse; NoEffect when none
	timer  *time.Timer // ends the pulse or the rest
	count  int         // of pulses and rests: the timer of an earlier one ends nothing
}

// gap is the rest after a pulse. Contacts that had just opened would else be closed
// again before the opener, or a relay beside it, has noticed.
const gap = 100 * time.Millisecond

// openOutputs takes a door's outputs, and goes on after a fault: each that is taken is
// inactive from then on. What it returns can be released, also beside an error.
func openOutputs(d Door, lines Lines, hanging *atomic.Int32) (*outputs, error) {
	out := &outputs{contacts: map[door.Effect]Output{}, length: d.Pulse}
	var faults []error
	for _, o := range d.outputs() {
		if o.line == nil {
			continue
		}
		taken, err := lines.Output(*o.line)
		if err != nil {
			faults = append(faults, fmt.Errorf("door %d, %s: %w", d.Number, o.name, err))
			continue
		}
		output := &bounded{Output: taken, hanging: hanging}
		switch o.name {
		case "light":
			out.alarm.light = output
		case "buzzer":
			out.alarm.buzzer = output
		default:
			out.contacts[o.effect] = output
		}
	}
	return out, errors.Join(faults...)
}

// pulse closes one contact and sees to its end first: the timer runs before the
// contact is closed, so that nothing that goes wrong in between leaves it closed.
// h.mu is held.
func (h *Hardware) pulse(d *outputs, e door.Effect) error {
	contact, ok := d.contacts[e]
	if !ok {
		return fmt.Errorf("the door has no output to %s with", e)
	}
	if d.busy {
		if e != door.DriveStop || d.effect == door.DriveStop {
			return errBusy
		}
		if err := h.open(d); err != nil {
			return err
		}
	}
	d.busy, d.effect = true, e
	h.after(d, d.length, h.endPulse)
	if err := contact.Set(true); err != nil {
		return errors.Join(fmt.Errorf("cannot set the output: %w", err), h.open(d))
	}
	return nil
}

// after calls next with h.mu held, unless the door has gone on to something else.
func (h *Hardware) after(d *outputs, wait time.Duration, next func(d *outputs)) {
	d.count++
	mine := d.count
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = time.AfterFunc(wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if d.count == mine && !h.closed {
			next(d)
		}
	})
}

func (h *Hardware) endPulse(d *outputs) {
	if err := h.open(d); err != nil {
		h.log.Error("a contact cannot be opened", "error", err)
	}
}

// open ends the present pulse. A contact that cannot be opened ends the whole program's
// work: the end of the process is the last thing that may open it.
func (h *Hardware) open(d *outputs) error {
	contact := d.contacts[d.effect]
	if contact == nil {
		return nil // in the rest after a pulse
	}
	if err := contact.Set(false); err != nil {
		err = fmt.Errorf("an output cannot be made inactive: %w", err)
		select {
		case h.failed <- err:
		default:
		}
		return err
	}
	d.effect = door.NoEffect
	h.after(d, gap, func(d *outputs) { d.busy = false })
	return nil
}

// rest ends everything at once, without the door being free afterwards.
func (d *outputs) rest() error {
	if d.timer != nil {
		d.timer.Stop()
	}
	var faults []error
	for _, contact := range d.contacts {
		faults = append(faults, contact.Set(false))
	}
	return errors.Join(append(faults, d.alarm.rest())...)
}

func (d *outputs) release() error {
	var faults []error
	for _, contact := range d.contacts {
		faults = append(faults, contact.Close())
	}
	for _, output := range d.alarm.outputs() {
		faults = append(faults, output.Close())
	}
	return errors.Join(faults...)
}
