package gpio_test

import (
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/gpio"
)

func TestAWiringThatIsInOrder(t *testing.T) {
	for _, c := range []gpio.Config{wiring(), warned()} {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestEveryFaultIsNamed: each change of a good wiring is one fault, said of its door.
func TestEveryFaultIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(d *gpio.Door){
		"door 0: its number is not 1 to 32":                          func(d *gpio.Door) { d.Number = 0 },
		"door 33: its number is not 1 to 32":                         func(d *gpio.Door) { d.Number = 33 },
		"door 2: there are two of that number":                       func(d *gpio.Door) { d.Number = 2 },
		"door 1: a discrete opener needs the output open":            func(d *gpio.Door) { d.Open = nil },
		"door 1: a discrete opener needs the output close":           func(d *gpio.Door) { d.Close = nil },
		"door 1: a discrete opener has no output relay":              func(d *gpio.Door) { d.Relay = line(20) },
		"door 1: pulse 49ms is not 50ms to 5s":                       func(d *gpio.Door) { d.Pulse = 49 * time.Millisecond },
		"door 1: pulse 5.001s is not 50ms to 5s":                     func(d *gpio.Door) { d.Pulse = 5001 * time.Millisecond },
		"door 1: travel 999ms is not 1s to 5m0s":                     func(d *gpio.Door) { d.Travel = 999 * time.Millisecond },
		"door 1: travel 5m1s is not 1s to 5m0s":                      func(d *gpio.Door) { d.Travel = 301 * time.Second },
		"door 1: warning -1ns is not 0s to 1m0s":                     func(d *gpio.Door) { d.Warning = -1 },
		"door 1: warning needs a light or a buzzer":                  func(d *gpio.Door) { d.Warning = time.Second },
		"door 1: it has neither closed_sensor nor open_sensor":       func(d *gpio.Door) { d.ClosedSensor, d.OpenSensor = nil, nil },
		"door 1: open_sensor: debounce 1.001s is not 0s to 1s":       func(d *gpio.Door) { d.OpenSensor.Debounce = 1001 * time.Millisecond },
		"door 2: relay uses gpiochip0:6, and so does buzzer of door": func(d *gpio.Door) { d.Buzzer = line(6) },
		"door 1: open_sensor uses gpiochip0:4, and so does closed_s": func(d *gpio.Door) { d.OpenSensor = reed(4) },
	} {
		c := wiring()
		spoil(&c.Doors[0])
		err := c.Check()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want only: %s\ngot %v", want, err)
		}
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	c := wiring()
	c.Doors[0].Pulse, c.Doors[1].Relay, c.Doors[2].Warning = 0, nil, time.Second
	err := c.Check()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("%v", err)
	}
	if (gpio.Config{}).Check() == nil {
		t.Error("no doors were no fault")
	}
}

func TestDoubts(t *testing.T) {
	for want, change := range map[string]func(c *gpio.Config){
		"":                            func(c *gpio.Config) { c.Doors = c.Doors[:1] },
		"and closed only by hand":     func(c *gpio.Config) { c.Doors = c.Doors[1:2] },
		"light and buzzer are never":  func(c *gpio.Config) { c.Doors = c.Doors[:1]; c.Doors[0].Light = line(30) },
		"one of light and buzzer":     func(c *gpio.Config) { *c = warned(); c.Doors[0].Light = nil },
		"a warning of at least 5s":    func(c *gpio.Config) { *c = warned(); c.Doors[0].Warning = time.Second },
		"it is never shown as closed": func(c *gpio.Config) { c.Doors = c.Doors[:1]; c.Doors[0].ClosedSensor = nil },
		"and opened only by hand": func(c *gpio.Config) {
			c.Doors = c.Doors[1:2]
			c.Doors[0].ClosedSensor, c.Doors[0].OpenSensor = nil, reed(30)
		},
	} {
		c := wiring()
		change(&c)
		said := c.Doubts()
		if want == "" && len(said) > 0 || want != "" && (len(said) != 1 || !strings.Contains(said[0], want)) {
			t.Errorf("want %q, got %q", want, said)
		}
	}
}

func TestMachinesAreAsWired(t *testing.T) {
	c := wiring()
	c.Doors[1].SoleControl = true
	machines := c.Machines()
	want := door.Config{Opener: door.OneButton, ClosedSensor: true, SoleControl: true, Travel: time.Second}
	if len(machines) != 3 || machines[2] != want {
		t.Errorf("%+v", machines)
	}
}

func TestLinesAndBiasesAreRead(t *testing.T) {
	l, err := gpio.ParseLine("gpiochip10:27")
	if err != nil || l != (gpio.Line{Chip: "gpiochip10", Offset: 27}) || l.String() != "gpiochip10:27" {
		t.Errorf("%+v, %v", l, err)
	}
	for _, text := range []string{"", "17", "gpiochip0", "gpiochip0:", "gpiochip0:-1", "gpiochip0:x", "chip:1", "gpiochip:1", "/dev/gpiochip0:1", "gpiochip0:1:2", "gpiochip0:+1"} {
		if _, err := gpio.ParseLine(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	for _, b := range []gpio.Bias{gpio.BiasNone, gpio.PullUp, gpio.PullDown} {
		if got, err := gpio.ParseBias(b.String()); err != nil || got != b {
			t.Errorf("%s: %s, %v", b, got, err)
		}
	}
	if _, err := gpio.ParseBias("up"); err == nil {
		t.Error("up was taken")
	}
}
