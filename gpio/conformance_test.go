package gpio_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"lintel/controller"
	"lintel/door"
	"lintel/gpio"
	"lintel/hardwaretest"
	"lintel/hardwaretest/board"
)

var _ controller.Hardware = (*gpio.Hardware)(nil)

func line(offset int) *gpio.Line { return &gpio.Line{Chip: "gpiochip0", Offset: offset} }

func lowLine(offset int) *gpio.Line {
	return &gpio.Line{Chip: "gpiochip0", Offset: offset, ActiveLow: true}
}

// reed is a contact to ground, as most are.
func reed(offset int) *gpio.Contact {
	return &gpio.Contact{Line: *lowLine(offset), Bias: gpio.PullUp, Debounce: gpio.DefaultDebounce}
}

// wiring is that of hardwaretest.World: some lines are active low, some high.
func wiring() gpio.Config {
	return gpio.Config{Doors: []gpio.Door{
		{Number: 1, Opener: door.Discrete, Open: line(1), Close: lowLine(2), Stop: line(3), Pulse: gpio.MinPulse, Travel: time.Second,
			ClosedSensor: reed(4), OpenSensor: &gpio.Contact{Line: *line(5)}},
		{Number: 2, Opener: door.OneButton, Relay: lowLine(6), Pulse: gpio.MinPulse, Travel: time.Second, ClosedSensor: reed(7)},
		{Number: 3, Opener: door.Monitor, Pulse: gpio.MinPulse, Travel: time.Second, ClosedSensor: reed(8)},
	}}
}

// contacts are the outputs of wiring that move a door.
var contacts = map[string]hardwaretest.Pulse{
	"gpiochip0:1": {Door: 1, Effect: door.DriveOpen}, "gpiochip0:2": {Door: 1, Effect: door.DriveClose},
	"gpiochip0:3": {Door: 1, Effect: door.DriveStop}, "gpiochip0:6": {Door: 2, Effect: door.Pulse},
}

// fakeWorld is the doors of wiring on a board.
type fakeWorld struct{ *board.Board }

func newFakeWorld() fakeWorld {
	w := fakeWorld{board.New()}
	for number := 1; number <= 3; number++ {
		w.Place(number, hardwaretest.Closed)
	}
	return w
}

func (w fakeWorld) Place(number int, at hardwaretest.Place) {
	switch number {
	case 1:
		w.Drive("gpiochip0:4", at != hardwaretest.Closed)
		w.Drive("gpiochip0:5", at == hardwaretest.Open)
	case 2:
		w.Drive("gpiochip0:7", at != hardwaretest.Closed)
	case 3:
		w.Drive("gpiochip0:8", at != hardwaretest.Closed)
	}
}

func (w fakeWorld) Start(t *testing.T) (controller.Hardware, func()) {
	return run(t, wiring(), w.Board)
}

// run opens hardware and runs it; stop ends it, and all lines must be free then.
func run(t *testing.T, c gpio.Config, lines gpio.Lines) (h *gpio.Hardware, stop func()) {
	t.Helper()
	h, err := gpio.Open(c, lines, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return h, stop
}

func (w fakeWorld) Pulses() []hardwaretest.Pulse {
	var pulses []hardwaretest.Pulse
	open := map[string]int{}
	for _, c := range w.Record() {
		if c.Active {
			p := contacts[c.Line]
			p.From = c.At
			open[c.Line] = len(pulses)
			pulses = append(pulses, p)
			continue
		}
		pulses[open[c.Line]].Until = c.At
	}
	return pulses
}

func (w fakeWorld) Active() int {
	active := 0
	for _, p := range w.Pulses() {
		if p.Until.IsZero() {
			active++
		}
	}
	return active
}

func TestThePortsRulesOnFakeLines(t *testing.T) {
	hardwaretest.Run(t, func(*testing.T) hardwaretest.World { return newFakeWorld() })
}
