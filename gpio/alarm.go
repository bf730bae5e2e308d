package gpio

import (
	"errors"
	"fmt"
	"time"

	"lintel/door"
)

// alarm is a door's light and buzzer; nil where they are not fitted. Hardware.mu
// guards it.
type alarm struct {
	light, buzzer Output
	on            bool
	lit           bool
	failed        error       // why it does not warn although it is on
	flash, end    *time.Timer // nil while it is quiet; end only once the door was moved
	again         *time.Timer // tries to be quiet; nil where that did not fail
}

// How it warns.
const (
	halfFlash   = 250 * time.Millisecond // the light is on and off for so long: 2 Hz
	afterMoving = 3 * time.Second        // for which the warning goes on once the door moves
	quietAgain  = time.Second            // until it is tried once more to be quiet
)

var errNoAlarm = errors.New("the door has neither a light nor a buzzer")

func (a *alarm) outputs() []Output {
	var fitted []Output
	for _, o := range []Output{a.light, a.buzzer} {
		if o != nil {
			fitted = append(fitted, o)
		}
	}
	return fitted
}

func (a *alarm) fitted() bool { return len(a.outputs()) > 0 }

// warn begins to warn, or begins anew. h.mu is held.
func (h *Hardware) warn(a *alarm) error {
	if err := h.quiet(a); err != nil {
		return err
	}
	a.on, a.lit = true, true
	if err := a.sound(); err != nil {
		return errors.Join(err, h.quiet(a))
	}
	h.flash(a)
	return nil
}

// sound sets every output as a warning has it now. One that cannot be set fails the
// whole warning: who set light and buzzer is to have both.
func (a *alarm) sound() error {
	var faults []error
	if a.light != nil {
		faults = append(faults, a.light.Set(a.lit))
	}
	if a.buzzer != nil {
		faults = append(faults, a.buzzer.Set(true))
	}
	return errors.Join(faults...)
}

// flash turns the light over every halfFlash until the alarm is quiet.
func (h *Hardware) flash(a *alarm) {
	var mine *time.Timer
	mine = time.AfterFunc(halfFlash, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.closed || a.flash != mine {
			return
		}
		a.lit = !a.lit
		if err := a.sound(); err != nil && a.failed == nil {
			a.failed = err
			h.log.Error("the warning has failed", "error", err)
		}
		h.flash(a)
	})
	a.flash = mine
}

// warned returns why a movement that was warned of must not begin, nil if it may. Only a
// close is warned of, and a pulse during a warning is a close; what ends a close may come
// at any time. The warning ends with its movement. h.mu is held.
func (h *Hardware) warned(a *alarm, e door.Effect) error {
	if !a.on || a.end != nil || e != door.Pulse && e != door.DriveClose {
		return nil
	}
	if a.failed == nil {
		a.failed = a.sound()
	}
	if a.failed == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("the warning has failed, and the door is not closed without it: %w", a.failed), h.quiet(a))
}

// moved lets a warning end once the door has begun to move.
func (h *Hardware) moved(a *alarm) {
	if !a.on {
		return
	}
	if a.end != nil {
		a.end.Stop()
	}
	var mine *time.Timer
	mine = time.AfterFunc(afterMoving, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.closed || a.end != mine {
			return
		}
		if err := h.quiet(a); err != nil {
			h.log.Error("the warning cannot be ended", "error", err)
		}
	})
	a.end = mine
}

// quiet stops warning. An output that cannot be made inactive is tried again until it
// is: nobody else would end it. h.mu is held.
func (h *Hardware) quiet(a *alarm) error {
	err := a.rest()
	if err == nil {
		return nil
	}
	var mine *time.Timer
	mine = time.AfterFunc(quietAgain, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.closed && a.again == mine {
			_ = h.quiet(a) // the first failure was reported
		}
	})
	a.again = mine
	return err
}

// rest ends everything, and makes every output inactive that can be.
func (a *alarm) rest() error {
	for _, timer := range []*time.Timer{a.flash, a.end, a.again} {
		if timer != nil {
			timer.Stop()
		}
	}
	a.flash, a.end, a.again, a.on, a.lit, a.failed = nil, nil, nil, false, false, nil
	var faults []error
	for _, o := range a.outputs() {
		faults = append(faults, o.Set(false))
	}
	return errors.Join(faults...)
}
