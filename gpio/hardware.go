package gpio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"lintel/controller"
	"lintel/door"
)

// Hardware is the wired doors of one controller. It implements controller.Hardware.
type Hardware struct {
	inputs  chan controller.Input
	changes chan change
	sensors []*sensor
	watched watched
	failed  chan error    // why an output could not be made inactive
	closing chan struct{} // closed by Close, before any line is released
	hanging atomic.Int32  // outputs that do not answer
	log     *slog.Logger

	mu     sync.Mutex // guards what follows, and every output
	doors  map[int]*outputs
	closed bool
}

// Open takes all lines, every output inactive. Where one cannot be had, all are
// released again. The wiring must have passed Check. Close it, or Run it to its end.
func Open(c Config, lines Lines, log *slog.Logger) (*Hardware, error) {
	h := &Hardware{
		inputs: make(chan controller.Input, 4*len(c.Doors)), changes: make(chan change, 64), watched: watched{looking: make(chan struct{}, 1)},
		failed: make(chan error, 1), closing: make(chan struct{}), log: log, doors: map[int]*outputs{},
	}
	var faults []error
	for _, d := range c.Doors { // outputs first: they are what can do harm
		out, err := openOutputs(d, lines, &h.hanging)
		h.doors[d.Number] = out
		faults = append(faults, err)
	}
	for _, d := range c.Doors {
		faults = append(faults, h.openSensors(d, lines))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Inputs implements controller.Hardware.
func (h *Hardware) Inputs() <-chan controller.Input { return h.inputs }

// Why an effect is not carried out.
var (
	errNoDoor = errors.New("there is no such door")
	errClosed = errors.New("the hardware has been closed")
	errBusy   = fmt.Errorf("an earlier pulse is not over: %w", controller.ErrUncertain)
)

// Actuate implements controller.Hardware. A movement closes one contact for the
// door's pulse length. Another during a pulse, or right after it, is refused and changes
// nothing; only a stop cuts a pulse short, and then stops. A close whose warning has
// failed is refused, and the warning ended.
func (h *Hardware) Actuate(number int, e door.Effect) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, ok := h.doors[number]
	switch {
	case h.closed:
		return errClosed
	case !ok:
		return errNoDoor
	case (e == door.Warn || e == door.Quiet) && !d.alarm.fitted():
		return errNoAlarm
	case e == door.Warn:
		return h.warn(&d.alarm)
	case e == door.Quiet:
		return h.quiet(&d.alarm)
	}
	if err := h.warned(&d.alarm, e); err != nil {
		return err
	}
	if err := h.pulse(d, e); err != nil {
		return err
	}
	h.moved(&d.alarm)
	return nil
}

// Run watches the sensors until ctx ends, or until an output cannot be made inactive,
// which it returns. It has done what Close does when it returns.
func (h *Hardware) Run(ctx context.Context) error {
	go h.watch() // by itself: whatever it hangs in, the outputs are made inactive
	var err error
	select {
	case <-ctx.Done():
	case <-h.closing:
	case err = <-h.failed:
	}
	return errors.Join(err, h.Close())
}

// Close makes every output inactive, then releases all lines; those of sensors that do
// not answer are left to the end of the process. From then on Actuate is an error.
// Closing again does nothing.
func (h *Hardware) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	close(h.closing) // lets go a sensor whose change nobody takes
	var faults []error
	for _, d := range h.doors {
		faults = append(faults, d.rest())
	}
	for _, d := range h.doors {
		faults = append(faults, d.release())
	}
	return errors.Join(append(faults, h.releaseSensors())...)
}
