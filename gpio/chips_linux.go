package gpio

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/warthog618/go-gpiocdev"
)

// consumer is what other programs see as the owner of our lines.
const consumer = "lintel"

// Chips returns the GPIO lines of this machine, by Linux's GPIO character device. It
// needs Linux 5.10 or later, whose second interface debounces.
func Chips() Lines { return chips{} }

type chips struct{}

// Output implements Lines. The kernel drives the line inactive as it makes it an output.
func (chips) Output(l Line) (Output, error) {
	line, err := request(l, gpiocdev.AsOutput(0))
	if err != nil {
		return nil, err
	}
	return output{line}, nil
}

// Input implements Lines.
func (chips) Input(l Line, bias Bias, debounce time.Duration, changed func(active bool)) (Input, error) {
	options := []gpiocdev.LineReqOption{
		gpiocdev.AsInput, biasOptions[bias], gpiocdev.WithBothEdges,
		gpiocdev.WithEventHandler(func(e gpiocdev.LineEvent) { changed(e.Type == gpiocdev.LineEventRisingEdge) }),
	}
	if debounce > 0 {
		options = append(options, gpiocdev.WithDebounce(debounce))
	}
	line, err := request(l, options...)
	if err != nil {
		return nil, err
	}
	return input{line}, nil
}

var biasOptions = map[Bias]gpiocdev.LineReqOption{
	BiasNone: gpiocdev.WithBiasDisabled, PullUp: gpiocdev.WithPullUp, PullDown: gpiocdev.WithPullDown,
}

func request(l Line, options ...gpiocdev.LineReqOption) (*gpiocdev.Line, error) {
	options = append(options, gpiocdev.WithConsumer(consumer), gpiocdev.WithABIVersion(2))
	if l.ActiveLow {
		options = append(options, gpiocdev.AsActiveLow)
	}
	line, err := gpiocdev.RequestLine(l.Chip, l.Offset, options...)
	if err != nil {
		return nil, sentence(l, err)
	}
	return line, nil
}

// sentence says what can be done about a line that cannot be had.
func sentence(l Line, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, gpiocdev.ErrNotCharacterDevice):
		return fmt.Errorf("no such chip %s: \"ls /dev/gpiochip*\" lists those that this machine has", l.Chip)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission to use %s: its group, mostly gpio, must be among this program's", l.Chip)
	case errors.Is(err, gpiocdev.ErrInvalidOffset):
		return fmt.Errorf("%s has no line %d", l.Chip, l.Offset)
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%s is used by another program or driver, or by this one already: \"gpioinfo\" says by which", l)
	}
	return fmt.Errorf("%s cannot be used: %w", l, err)
}

type output struct{ line *gpiocdev.Line }

// Set implements Output.
func (o output) Set(active bool) error {
	value := 0
	if active {
		value = 1
	}
	return o.line.SetValue(value)
}

// Close implements Output.
func (o output) Close() error { return o.line.Close() }

type input struct{ line *gpiocdev.Line }

// Active implements Input. The kernel answers with the debounced state.
func (i input) Active() (bool, error) {
	value, err := i.line.Value()
	return value == 1, err
}

// Close implements Input.
func (i input) Close() error { return i.line.Close() }
