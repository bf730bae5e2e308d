package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"lintel/controller"
	"lintel/door"
)

// Door describes one simulated door.
type Door struct {
	Opener     door.Opener
	Sensors    int           // 1: at the closed end only; 2: at both ends
	Travel     time.Duration // for the whole way
	StartsOpen bool
	SensorLost bool // the sensors cannot be reached
	EveryInput bool // it has a button and discrete inputs, whatever Opener says
}

// Actuation is one entry of the hardware's own log.
type Actuation struct {
	At     time.Time
	Door   int
	Effect door.Effect
}

// Hardware is the simulated hardware of one controller. It implements
// controller.Hardware.
type Hardware struct {
	now    func() time.Time
	inputs chan controller.Input
	kick   chan struct{}
	record func(Actuation) error // before each actuation; nil for nobody

	mu      sync.Mutex // guards what follows
	doors   map[int]*simulated
	log     []Actuation
	stopped bool
}

type simulated struct {
	Door
	motor motor
	shown [2]door.Reading
}

// NewHardware returns hardware with the doors, numbered from 1. It moves while Run runs.
func NewHardware(doors []Door, now func() time.Time) *Hardware {
	h := &Hardware{
		now: now, doors: map[int]*simulated{},
		inputs: make(chan controller.Input, 4*len(doors)), kick: make(chan struct{}, 1),
	}
	for i, d := range doors {
		m := motor{travel: d.Travel, at: now()}
		if d.StartsOpen {
			m.position = 1
		}
		h.doors[i+1] = &simulated{Door: d, motor: m}
	}
	return h
}

// RecordTo has every actuation written to w as one line of JSON, in one write that
// comes before the effect is carried out: what ends the process cannot hide one. An
// actuation that cannot be written is not carried out. It is called before anything
// else, and w must be safe for concurrent use where hardware shares it, as files are.
func (h *Hardware) RecordTo(w io.Writer, controller string) {
	h.record = func(a Actuation) error {
		line, err := json.Marshal(Recorded{Time: a.At, Controller: controller, Door: a.Door, Effect: a.Effect.String()})
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	}
}

// Recorded is a line of the hardware's own log, as RecordTo writes it.
type Recorded struct {
	Time       time.Time `json:"time"` // by the hardware's clock
	Controller string    `json:"controller"`
	Door       int       `json:"door"`
	Effect     string    `json:"effect"`
}

// Config returns how a controller must be set up for the doors.
func (h *Hardware) Config() map[int]door.Config {
	configs := map[int]door.Config{}
	for n, d := range h.doors {
		configs[n] = door.Config{Opener: d.Opener, ClosedSensor: d.Sensors >= 1, OpenSensor: d.Sensors >= 2, Travel: d.Travel}
	}
	return configs
}

// Inputs implements controller.Hardware.
func (h *Hardware) Inputs() <-chan controller.Input { return h.inputs }

// Actuate implements controller.Hardware.
func (h *Hardware) Actuate(number int, e door.Effect) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, ok := h.doors[number]
	switch {
	case h.stopped:
		return errors.New("the hardware has stopped")
	case !ok:
		return errors.New("no such door")
	case !d.EveryInput && !has(d.Opener, e):
		return fmt.Errorf("a %s opener cannot %s", d.Opener, e)
	}
	a := Actuation{h.now(), number, e}
	if h.record != nil {
		if err := h.record(a); err != nil {
			return fmt.Errorf("the actuation could not be recorded: %w", err)
		}
	}
	h.log = append(h.log, a)
	if len(h.log) > maxLog {
		h.log = h.log[1:]
	}
	d.motor.actuate(h.now(), e)
	h.wake()
	return nil
}

// has reports whether an opener can do something. Light and buzzer are beside each.
func has(o door.Opener, e door.Effect) bool {
	switch e {
	case door.Pulse:
		return o == door.OneButton
	case door.DriveOpen, door.DriveClose, door.DriveStop:
		return o == door.Discrete
	}
	return o != door.Monitor && (e == door.Warn || e == door.Quiet)
}

// maxLog bounds the log of a long-running simulator.
const maxLog = 10_000

// Press is a person at the wall button: it acts like a pulse, but nobody is told.
func (h *Hardware) Press(number int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doors[number].motor.actuate(h.now(), door.Pulse)
	h.wake()
}

// Log returns what the hardware was made to do, oldest first.
func (h *Hardware) Log() []Actuation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Actuation(nil), h.log...)
}

func (h *Hardware) wake() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// Run moves the doors and reports their sensors until ctx ends. From then on Actuate is
// an error.
func (h *Hardware) Run(ctx context.Context) {
	defer h.stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-h.kick:
		}
		changes, next := h.advance()
		for _, in := range changes {
			select {
			case h.inputs <- in:
			case <-ctx.Done():
				return
			}
		}
		timer.Reset(next)
	}
}

func (h *Hardware) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

// idle is how long to wait while nothing moves; a kick ends it.
const idle = time.Hour

func (h *Hardware) advance() (changes []controller.Input, next time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next = idle
	for n, d := range h.doors {
		d.motor.advance(h.now())
		for end, reading := range d.motor.readings() {
			if end >= d.Sensors {
				continue
			}
			if d.SensorLost {
				reading = door.Lost
			}
			if reading != d.shown[end] {
				d.shown[end] = reading
				changes = append(changes, controller.Input{Door: n, In: door.Sensed{End: door.End(end), Reading: reading}})
			}
		}
		if wait, moving := d.motor.next(); moving {
			next = min(next, wait)
		}
	}
	return changes, next
}
