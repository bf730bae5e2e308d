package gpio

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"lintel/controller"
	"lintel/door"
)

const (
	// lookEvery is how often each sensor is read although it showed no change: an edge
	// may be lost, and a line may fail.
	lookEvery = time.Second
	// lookWithin is how old the last look at all sensors may be. To read a line behind a
	// bus may hang in the kernel, and then nobody hears of edges either.
	lookWithin = 3 * time.Second
	// releaseWithin is how long the end waits for sensors to be let go.
	releaseWithin = 2 * time.Second
)

// watched is how the watching of all sensors goes.
type watched struct {
	looking chan struct{} // holds a value while sensors are read, or released
	blind   atomic.Bool   // the last look is too old: every sensor is lost

	mu    sync.Mutex  // guards what follows, and that inputs are delivered in order. Held until they are taken
	count int         // of looks, those that came to nothing too
	late  *time.Timer // the present look's end, if it does not complete before
}

// Alive reports whether the sensors are watched and every output answers. While they are
// not, a controller knows nothing of its doors, or cannot end what it began, and only a
// new start may help.
func (h *Hardware) Alive() bool { return !h.watched.blind.Load() && h.hanging.Load() == 0 }

// watch looks at the sensors, and hears their edges, until the hardware is closed.
func (h *Hardware) watch() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	h.watched.mu.Lock()
	h.expect()
	h.watched.mu.Unlock()
	h.look()
	for {
		select {
		case <-h.closing:
			return
		case c := <-h.changes:
			h.hear(c)
		case <-ticker.C:
			h.look()
		}
	}
}

// expect gives the next look its time. watched.mu is held.
func (h *Hardware) expect() {
	w := &h.watched
	if w.late != nil {
		w.late.Stop()
	}
	w.count++
	mine := w.count
	w.late = time.AfterFunc(lookWithin, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.count == mine {
			h.lose()
		}
	})
}

// lose is called in place of a look that hangs, from another goroutine than it hangs in.
// watched.mu is held.
func (h *Hardware) lose() {
	h.watched.count++ // what the look may yet come to is from before
	if h.isClosing() {
		return
	}
	if !h.watched.blind.Swap(true) {
		h.log.Error("the sensors do not answer; all of them count as lost", "for", lookWithin)
	}
	for _, s := range h.sensors {
		h.show(change{sensor: s, reading: door.Lost})
	}
}

// look reads every sensor, and shows what they say. What a look that took too long has
// read is not shown, and neither is what was heard meanwhile: it may have been so long ago.
func (h *Hardware) look() {
	w := &h.watched
	w.mu.Lock()
	mine := w.count
	w.mu.Unlock()
	seen := h.read()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count != mine {
		h.forget()
		h.expect()
		return
	}
	h.expect()
	if w.blind.Swap(false) {
		h.log.Info("the sensors answer again")
	}
	for _, c := range seen {
		h.show(c)
	}
}

// read reads every sensor. One that cannot be read is lost.
func (h *Hardware) read() (seen []change) {
	h.watched.looking <- struct{}{}
	defer func() { <-h.watched.looking }()
	if h.isClosing() {
		return nil
	}
	for _, s := range h.sensors {
		active, err := s.line.Active()
		c := change{s, reading(active), err}
		if err != nil {
			c.reading = door.Lost
		}
		seen = append(seen, c)
	}
	return seen
}

func (h *Hardware) forget() {
	for {
		select {
		case <-h.changes:
		default:
			return
		}
	}
}

// hear shows what a line called, unless no sensor is believed before the next look.
func (h *Hardware) hear(c change) {
	h.watched.mu.Lock()
	defer h.watched.mu.Unlock()
	if !h.watched.blind.Load() {
		h.show(c)
	}
}

// show delivers what a sensor shows, if that is new. watched.mu is held.
func (h *Hardware) show(c change) {
	s := c.sensor
	if c.reading == s.reading {
		return
	}
	if c.err != nil {
		h.log.Error("a sensor cannot be read", "door", s.door, "sensor", s.name, "error", c.err)
	}
	s.reading = c.reading
	select {
	case h.inputs <- controller.Input{Door: s.door, In: s.input(c.reading)}:
	case <-h.closing:
	}
}

func (h *Hardware) isClosing() bool {
	select {
	case <-h.closing:
		return true
	default:
		return false
	}
}

var errStuck = errors.New("a sensor does not answer; its line is not released before the program ends")

// releaseSensors releases the sensors' lines once nobody reads them. It does not wait
// for one that hangs.
func (h *Hardware) releaseSensors() error {
	done := make(chan error, 1)
	go func() {
		h.watched.looking <- struct{}{}
		defer func() { <-h.watched.looking }()
		var faults []error
		for _, s := range h.sensors {
			if s.line != nil {
				faults = append(faults, s.line.Close())
			}
		}
		done <- errors.Join(faults...)
	}()
	timeout := time.NewTimer(releaseWithin)
	defer timeout.Stop()
	select {
	case err := <-done:
		return err
	case <-timeout.C:
		return errStuck
	}
}
