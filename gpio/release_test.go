package gpio_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lintel/gpio"
	"lintel/hardwaretest/board"
)

// TestReleasingGoesOnAfterAFault: all other outputs are made inactive, whatever they
// were left at, and no sensor is needed.
func TestReleasingGoesOnAfterAFault(t *testing.T) {
	b := board.New()
	b.Miss("gpiochip0:3", true)
	b.Fail("gpiochip0:1", errors.New("gone"))
	b.Fail("gpiochip0:4", errors.New("a sensor is gone too"))
	err := gpio.Release(wiring(), b)
	if err == nil || !strings.Contains(err.Error(), "output open, gpiochip0:1: gone") || strings.Contains(err.Error(), "sensor") {
		t.Errorf("%v", err)
	}
	if !b.High("gpiochip0:2") || b.High("gpiochip0:3") || !b.High("gpiochip0:6") || b.Taken() != 0 {
		t.Error("an output is active, or taken")
	}
}

// TestOpeningGoesOnAfterAFault: the start is refused, and what else there is is inactive.
func TestOpeningGoesOnAfterAFault(t *testing.T) {
	b := board.New()
	b.Miss("gpiochip0:3", true)
	b.Fail("gpiochip0:1", errors.New("gone"))
	if _, err := gpio.Open(wiring(), b, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
	if !b.High("gpiochip0:2") || b.High("gpiochip0:3") || !b.High("gpiochip0:6") || b.Taken() != 0 {
		t.Error("an output is active, or taken")
	}
}

// hanging is a board of which one output cannot be had in time.
type hanging struct {
	*board.Board
	line string
	free chan struct{}
}

func (l hanging) Output(line gpio.Line) (gpio.Output, error) {
	if line.String() == l.line {
		<-l.free
	}
	return l.Board.Output(line)
}

func TestReleasingDoesNotWaitForAnOutputThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := hanging{board.New(), "gpiochip0:1", make(chan struct{})}
		defer close(l.free)
		began := time.Now()
		err := gpio.Release(wiring(), l)
		if err == nil || !strings.Contains(err.Error(), "1 outputs did not answer") || time.Since(began) > 5*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if !l.High("gpiochip0:2") || !l.High("gpiochip0:6") {
			t.Error("another output is active")
		}
	})
}
