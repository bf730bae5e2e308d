package gpio_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel/controller"
	"lintel/gpio"
	"lintel/hardwaretest"
)

func TestAChipThatIsNotThere(t *testing.T) {
	c := wiring()
	for i := range c.Doors {
		for _, l := range []*gpio.Line{c.Doors[i].Open, c.Doors[i].Close, c.Doors[i].Stop, c.Doors[i].Relay, &c.Doors[i].ClosedSensor.Line} {
			if l != nil {
				l.Chip = "gpiochip60000"
			}
		}
	}
	_, err := gpio.Open(c, gpio.Chips(), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "door 1, open: no such chip gpiochip60000") {
		t.Errorf("%v", err)
	}
}

// chipSimulators is where the kernel's GPIO simulator takes its settings.
const chipSimulators = "/sys/kernel/config/gpio-sim"

// chipWorld is the doors of wiring on a chip of the kernel's GPIO simulator.
type chipWorld struct {
	t    *testing.T
	chip string // its name
	pins string // directory of its lines

	mu     sync.Mutex // guards pulses
	pulses []hardwaretest.Pulse
}

// TestThePortsRulesOnTheKernelsSimulator is the one test that may be skipped in CI too:
// few machines' kernels have the simulator, and no package brings it.
func TestThePortsRulesOnTheKernelsSimulator(t *testing.T) {
	if _, err := os.Stat(chipSimulators); err != nil {
		t.Skip("the kernel has no GPIO simulator here (module gpio-sim, with configfs mounted)")
	}
	if os.Geteuid() != 0 {
		t.Skip("the kernel's GPIO simulator is for root only")
	}
	hardwaretest.Run(t, func(t *testing.T) hardwaretest.World { return newChipWorld(t) })
}

func newChipWorld(t *testing.T) *chipWorld {
	t.Helper()
	device, err := os.MkdirTemp(chipSimulators, "lintel-")
	must(t, err)
	bank := filepath.Join(device, "bank")
	must(t, os.Mkdir(bank, 0o755))
	t.Cleanup(func() {
		put(t, filepath.Join(device, "live"), "0")
		must(t, errors.Join(os.Remove(bank), os.Remove(device)))
	})
	put(t, filepath.Join(bank, "num_lines"), "16")
	put(t, filepath.Join(device, "live"), "1")
	w := &chipWorld{t: t, chip: get(t, filepath.Join(bank, "chip_name"))}
	w.pins = filepath.Join("/sys/devices/platform", get(t, filepath.Join(device, "dev_name")), w.chip)
	for number := 1; number <= 3; number++ {
		w.Place(number, hardwaretest.Closed)
	}
	w.drive(2, true) // what nobody drives is pulled to where its relay is off
	w.drive(6, true)
	w.watch()
	return w
}

func put(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), 0))
}

func get(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return strings.TrimSpace(string(text))
}

func (w *chipWorld) pin(offset int, attribute string) string {
	return filepath.Join(w.pins, fmt.Sprintf("sim_gpio%d", offset), attribute)
}

func (w *chipWorld) drive(offset int, high bool) {
	pull := "pull-down"
	if high {
		pull = "pull-up"
	}
	put(w.t, w.pin(offset, "pull"), pull)
}

func (w *chipWorld) Place(number int, at hardwaretest.Place) {
	switch number {
	case 1:
		w.drive(4, at != hardwaretest.Closed)
		w.drive(5, at == hardwaretest.Open)
	case 2:
		w.drive(7, at != hardwaretest.Closed)
	case 3:
		w.drive(8, at != hardwaretest.Closed)
	}
}

// Start wires the doors to the chip, without its own resistors: the simulator takes a
// bias for a level from outside.
func (w *chipWorld) Start(t *testing.T) (controller.Hardware, func()) {
	c := wiring()
	for i := range c.Doors {
		d := &c.Doors[i]
		for _, l := range []*gpio.Line{d.Open, d.Close, d.Stop, d.Relay} {
			if l != nil {
				l.Chip = w.chip
			}
		}
		for _, contact := range []*gpio.Contact{d.ClosedSensor, d.OpenSensor} {
			if contact != nil {
				contact.Chip, contact.Bias = w.chip, gpio.BiasNone
			}
		}
	}
	return run(t, c, gpio.Chips())
}

// watch notes every pulse, until the test ends. It looks often enough for the shortest.
func (w *chipWorld) watch() {
	done := make(chan struct{})
	var watching sync.WaitGroup
	w.t.Cleanup(func() { close(done); watching.Wait() })
	watching.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.look()
			case <-done:
				return
			}
		}
	})
}

// look compares the outputs with the pulses. A line that nobody has taken is not active.
func (w *chipWorld) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, p := range contacts {
		var offset int
		_, _ = fmt.Sscanf(name, "gpiochip0:%d", &offset)
		inactive := map[int]string{2: "1", 6: "1"}[offset]
		if inactive == "" {
			inactive = "0"
		}
		level := get(w.t, w.pin(offset, "value"))
		w.note(p, level != "" && level != inactive)
	}
}

// note begins or ends a pulse. w.mu is held.
func (w *chipWorld) note(p hardwaretest.Pulse, active bool) {
	for i := range w.pulses {
		if open := &w.pulses[i]; open.Effect == p.Effect && open.Until.IsZero() {
			if !active {
				open.Until = time.Now()
			}
			return
		}
	}
	if active {
		p.From = time.Now()
		w.pulses = append(w.pulses, p)
	}
}

func (w *chipWorld) Pulses() []hardwaretest.Pulse {
	w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]hardwaretest.Pulse(nil), w.pulses...)
}

func (w *chipWorld) Active() int {
	active := 0
	for _, p := range w.Pulses() {
		if p.Until.IsZero() {
			active++
		}
	}
	return active
}
