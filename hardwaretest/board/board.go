// Package board is GPIO lines made of nothing: levels, edges, and a record of what
// was driven. It stands in for a chip in tests.
package board

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"lintel/gpio"
)

// Board is the lines of one machine. It implements gpio.Lines. Every line that is
// named exists.
type Board struct {
	// Changed, if set, is called when an output becomes active or inactive.
	Changed func(line string, active bool)

	mu     sync.Mutex // guards what follows
	pins   map[string]*pin
	record []Change
}

// Change is an output becoming active or inactive, or the level that it was taken with.
type Change struct {
	Line   string
	Active bool
	At     time.Time
}

// pin is one line.
type pin struct {
	high     bool // its level
	output   bool
	taken    bool
	config   gpio.Line
	bias     gpio.Bias
	debounce time.Duration
	changed  func(active bool)
	fault    error         // of every use
	hang     chan struct{} // closed when reads of an input go on; nil if they do not hang

	edges sync.Mutex // one edge is dealt with at a time
}

func (p *pin) active() bool { return p.high != p.config.ActiveLow }

// New returns a board whose lines are low and that nobody has taken.
func New() *Board { return &Board{pins: map[string]*pin{}} }

// pin returns a line by its name. b.mu is held.
func (b *Board) pin(line string) *pin {
	if b.pins[line] == nil {
		b.pins[line] = &pin{}
	}
	return b.pins[line]
}

func (b *Board) take(l gpio.Line) (*pin, error) {
	p := b.pin(l.String())
	if p.taken {
		return nil, fmt.Errorf("%s is taken", l)
	}
	if p.fault != nil {
		return nil, p.fault
	}
	p.taken, p.config = true, l
	return p, nil
}

// Output implements gpio.Lines.
func (b *Board) Output(l gpio.Line) (gpio.Output, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.take(l)
	if err != nil {
		return nil, err
	}
	p.output, p.high = true, l.ActiveLow
	return &output{end{b, p}}, nil
}

// Input implements gpio.Lines. It does not debounce.
func (b *Board) Input(l gpio.Line, bias gpio.Bias, debounce time.Duration, changed func(active bool)) (gpio.Input, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.take(l)
	if err != nil {
		return nil, err
	}
	p.bias, p.debounce, p.changed = bias, debounce, changed
	return &input{end{b, p}}, nil
}

// Drive puts a level on an input from the outside, and returns once the edge was taken.
func (b *Board) Drive(line string, high bool) {
	b.mu.Lock()
	p := b.pin(line)
	b.mu.Unlock()
	p.edges.Lock()
	defer p.edges.Unlock()
	b.mu.Lock()
	edge := p.taken && !p.output && p.fault == nil && p.high != high
	p.high = high
	changed, active := p.changed, p.active()
	b.mu.Unlock()
	if edge {
		changed(active)
	}
}

// Miss puts a level on an input without an edge: as if the kernel had lost it.
func (b *Board) Miss(line string, high bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pin(line).high = high
}

// Fail makes every use of a line an error, until it is called with nil.
func (b *Board) Fail(line string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pin(line).fault = err
}

// Hang makes every read of an input hang with what it has read, and its release after
// it, as behind a bus that is stuck. It ends with answer, which may be called once.
func (b *Board) Hang(line string) (answer func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	hang := make(chan struct{})
	b.pin(line).hang = hang
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.pin(line).hang = nil
		close(hang)
	}
}

// High returns a line's level.
func (b *Board) High(line string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pin(line).high
}

// Asked returns what an input was asked for.
func (b *Board) Asked(line string) (gpio.Bias, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pin(line).bias, b.pin(line).debounce
}

// Taken returns how many lines are in use.
func (b *Board) Taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for _, p := range b.pins {
		if p.taken {
			count++
		}
	}
	return count
}

// Record returns every change of an output, oldest first.
func (b *Board) Record() []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Change(nil), b.record...)
}

// end is a line in use.
type end struct {
	board *Board
	pin   *pin
}

var errReleased = errors.New("the line was released")

// usable returns why the line cannot be used. board.mu is held.
func (e *end) usable() error {
	if e.pin == nil || !e.pin.taken {
		return errReleased
	}
	return e.pin.fault
}

// Close implements gpio.Output and gpio.Input. A released output keeps its level, as on
// a Raspberry Pi.
func (e *end) Close() error {
	e.board.mu.Lock()
	p := e.pin
	if p == nil {
		e.board.mu.Unlock()
		return errReleased
	}
	e.pin, p.taken, p.output = nil, false, false
	e.board.mu.Unlock()
	p.edges.Lock() // until an edge that is being dealt with is over
	defer p.edges.Unlock()
	return nil
}

type output struct{ end }

// Set implements gpio.Output.
func (o *output) Set(active bool) error {
	changed, err := o.set(active)
	if changed && o.board.Changed != nil {
		o.board.Changed(o.pin.config.String(), active)
	}
	return err
}

func (o *output) set(active bool) (changed bool, err error) {
	o.board.mu.Lock()
	defer o.board.mu.Unlock()
	if err := o.usable(); err != nil {
		return false, err
	}
	changed = o.pin.active() != active
	o.pin.high = active != o.pin.config.ActiveLow
	if changed {
		o.board.record = append(o.board.record, Change{o.pin.config.String(), active, time.Now()})
	}
	return changed, nil
}

type input struct{ end }

// Active implements gpio.Input.
func (i *input) Active() (bool, error) {
	active, hang, err := i.read()
	if hang != nil {
		<-hang
	}
	return active, err
}

func (i *input) read() (active bool, hang chan struct{}, err error) {
	i.board.mu.Lock()
	defer i.board.mu.Unlock()
	if err := i.usable(); err != nil {
		return false, nil, err
	}
	return i.pin.active(), i.pin.hang, nil
}

// Close implements gpio.Input.
func (i *input) Close() error {
	if _, hang, err := i.read(); hang != nil && err == nil {
		<-hang
	}
	return i.end.Close()
}
