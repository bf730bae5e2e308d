// Package gpio is door hardware on GPIO lines: relays that are closed for a moment,
// contacts at the ends of a door, a light and a buzzer. It implements
// controller.Hardware.
//
// It has one rule above all: an output is active only for as long as one effect asks
// for. Every output is requested inactive, a pulse ends whatever happens, and all
// outputs are inactive before they are released.
package gpio

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Lines are the GPIO lines of a machine. Chips returns those of this one.
type Lines interface {
	// Output takes a line as an output that is inactive from the first moment. The
	// error is a sentence for whoever wired the line.
	Output(l Line) (Output, error)
	// Input takes a line as an input. changed is called with each debounced change,
	// one at a time, until Close returns.
	Input(l Line, bias Bias, debounce time.Duration, changed func(active bool)) (Input, error)
}

// Output is a line that is driven.
type Output interface {
	Set(active bool) error
	// Close releases the line. What becomes of its level is the kernel's affair.
	Close() error
}

// Input is a line that is read.
type Input interface {
	// Active returns the present, debounced state.
	Active() (bool, error)
	Close() error
}

// Line names one line of a chip and says which level is active.
type Line struct {
	Chip      string // like gpiochip0
	Offset    int    // on the chip; on a Raspberry Pi the GPIO number
	ActiveLow bool   // active is the low level
}

// String returns the line in the form that ParseLine reads.
func (l Line) String() string { return fmt.Sprintf("%s:%d", l.Chip, l.Offset) }

// ParseLine reads a chip and an offset, like gpiochip0:17.
func ParseLine(text string) (Line, error) {
	chip, offset, ok := strings.Cut(text, ":")
	number, isChip := strings.CutPrefix(chip, "gpiochip")
	_, chipErr := strconv.ParseUint(number, 10, 16)
	n, err := strconv.ParseUint(offset, 10, 16)
	if !ok || !isChip || chipErr != nil || err != nil {
		return Line{}, fmt.Errorf("%q is not a line: give chip and offset, like gpiochip0:17", text)
	}
	return Line{Chip: chip, Offset: int(n)}, nil
}

// Bias is the resistor that the chip itself puts on an input.
type Bias uint8

// The biases. BiasNone is the zero value: the wiring has a resistor of its own.
const (
	BiasNone Bias = iota
	PullUp
	PullDown
)

// ParseBias reads "none", "pull-up" or "pull-down".
func ParseBias(text string) (Bias, error) {
	for b, name := range biases {
		if text == name {
			return Bias(b), nil
		}
	}
	return BiasNone, fmt.Errorf("%q is not pull-up, pull-down or none", text)
}

var biases = [...]string{"none", "pull-up", "pull-down"}

// String returns the bias's name in the configuration.
func (b Bias) String() string { return biases[b] }
