package gpio_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/gpio"
	"lintel/hardwaretest/board"
)

// stuckLines are lines of which one hangs while it is set, once hang is closed and until
// free is.
type stuckLines struct {
	*board.Board
	line       string
	hang, free chan struct{}
}

type stuckOutput struct {
	gpio.Output
	lines stuckLines
}

func (l stuckLines) Output(line gpio.Line) (gpio.Output, error) {
	o, err := l.Board.Output(line)
	if err != nil || line.String() != l.line {
		return o, err
	}
	return stuckOutput{o, l}, nil
}

func (o stuckOutput) Set(active bool) error {
	select {
	case <-o.lines.hang:
		<-o.lines.free
	default:
	}
	return o.Output.Set(active)
}

// TestALineThatHangsKeepsNoContactClosed: neither a pulse nor a stop waits for a light
// that does not answer, and who watches over the agent is told.
func TestALineThatHangsKeepsNoContactClosed(t *testing.T) {
	t.Parallel()
	lines := stuckLines{board.New(), "gpiochip0:10", make(chan struct{}), make(chan struct{})}
	config := warned()
	h, err := gpio.Open(config, lines, slog.New(slog.DiscardHandler))
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	within := func(what string, done func() bool) {
		t.Helper()
		for range 2000 {
			if done() {
				return
			}
			<-time.After(10 * time.Millisecond)
		}
		t.Fatalf("waited for: %s", what)
	}
	contact := config.Doors[0].Close.String()
	must(t, h.Actuate(1, door.Warn))
	must(t, h.Actuate(1, door.DriveClose))
	close(lines.hang)
	within("the hanging line to be noticed", func() bool { return !h.Alive() })
	within("the pulse to end", func() bool { return lines.High(contact) == config.Doors[0].Close.ActiveLow })
	stopped := make(chan error, 1)
	go func() { stopped <- h.Actuate(1, door.DriveStop) }()
	within("a stop to be carried out", func() bool { return len(stopped) == 1 })
	cancel()
	within("the hardware to end", func() bool { return len(ended) == 1 })
	close(lines.free)
	within("the light to be out once it answers", func() bool { return !lines.High("gpiochip0:10") })
	if h.Actuate(1, door.DriveOpen) == nil || strings.Contains(contact, ":10") {
		t.Error("it goes on after its end")
	}
}
