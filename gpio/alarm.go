package gpio

import (
	"errors"
	"time"
)

// alarm is a door's light and buzzer; nil where they are not fitted. Hardware.mu
// guards it.
type alarm struct {
	light, buzzer Output
	on            bool
	lit           bool
	flash, end    *time.Timer // nil while it is quiet; end only once the door was moved
}

// How it warns.
const (
	halfFlash   = 250 * time.Millisecond // the light is on and off for so long: 2 Hz
	afterMoving = 3 * time.Second        // for which the warning goes on once the door moves
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

// warn begins to warn, or goes on. h.mu is held.
func (h *Hardware) warn(a *alarm) error {
	if err := a.quiet(); err != nil {
		return err
	}
	for _, o := range a.outputs() {
		if err := o.Set(true); err != nil {
			return errors.Join(err, a.quiet())
		}
	}
	a.on, a.lit = true, true
	if a.light != nil {
		h.flash(a)
	}
	return nil
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
		if err := a.light.Set(a.lit); err != nil {
			h.log.Error("the warning light cannot be set", "error", err)
		}
		h.flash(a)
	})
	a.flash = mine
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
		if err := a.quiet(); err != nil {
			h.log.Error("the warning cannot be ended", "error", err)
		}
	})
	a.end = mine
}

// quiet stops warning.
func (a *alarm) quiet() error {
	for _, timer := range []*time.Timer{a.flash, a.end} {
		if timer != nil {
			timer.Stop()
		}
	}
	a.flash, a.end, a.on, a.lit = nil, nil, false, false
	var faults []error
	for _, o := range a.outputs() {
		faults = append(faults, o.Set(false))
	}
	return errors.Join(faults...)
}
