package gpio_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lintel/controller"
	"lintel/door"
	"lintel/gpio"
	"lintel/hardwaretest/board"
)

// levels returns what a board's outputs did, in one line of text, with the times since
// the first.
func levels(b *board.Board) string {
	var said []string
	record := b.Record()
	for _, c := range record {
		word := " off "
		if c.Active {
			word = " on "
		}
		said = append(said, strings.TrimPrefix(c.Line, "gpiochip0:")+word+c.At.Sub(record[0].At).String())
	}
	return strings.Join(said, ", ")
}

// bubble runs a test with the hardware of a wiring, of which all has been read.
func bubble(t *testing.T, c gpio.Config, test func(t *testing.T, b *board.Board, h *gpio.Hardware, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		h, stop := run(t, c, b)
		read(h)
		test(t, b, h, stop)
		stop()
		if n := b.Taken(); n != 0 {
			t.Errorf("%d lines were not released", n)
		}
	})
}

// read returns what the sensors have shown up to now.
func read(h *gpio.Hardware) []door.Input {
	var all []door.Input
	for {
		synctest.Wait()
		select {
		case in := <-h.Inputs():
			all = append(all, in.In)
		default:
			return all
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\ngot  %s\nwant %s", what, got, want)
	}
}

// TestOutputsAreTakenInactive: whichever level that is, and whatever it was before.
func TestOutputsAreTakenInactive(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, _ *gpio.Hardware, _ func()) {
		for name, high := range map[string]bool{"gpiochip0:1": false, "gpiochip0:2": true, "gpiochip0:3": false, "gpiochip0:6": true} {
			if b.High(name) != high {
				t.Errorf("%s: high is %t", name, b.High(name))
			}
		}
	})
}

func TestAPulseLastsItsLength(t *testing.T) {
	c := wiring()
	c.Doors[0].Pulse = 700 * time.Millisecond
	bubble(t, c, func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		must(t, h.Actuate(1, door.DriveClose))
		if b.High("gpiochip0:2") {
			t.Error("the contact that is active low is high")
		}
		<-time.After(time.Hour)
		synctest.Wait()
		expect(t, "one pulse", levels(b), "2 on 0s, 2 off 700ms")
	})
}

// TestASecondPulseIsRefused during the first, and for a moment after it: it neither
// lengthens nor doubles it. Another door is free.
func TestASecondPulseIsRefused(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		must(t, h.Actuate(1, door.DriveOpen))
		for range 14 {
			for _, e := range []door.Effect{door.DriveOpen, door.DriveClose} {
				if err := h.Actuate(1, e); !errors.Is(err, controller.ErrUncertain) {
					t.Errorf("%s: %v", e, err)
				}
			}
			<-time.After(10 * time.Millisecond)
		}
		must(t, h.Actuate(2, door.Pulse))
		<-time.After(time.Second)
		must(t, h.Actuate(1, door.DriveClose))
		<-time.After(time.Second)
		synctest.Wait()
		expect(t, "three pulses", levels(b), "1 on 0s, 1 off 50ms, 6 on 140ms, 6 off 190ms, 2 on 1.14s, 2 off 1.19s")
	})
}

func TestAStopCutsAPulseShort(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		must(t, h.Actuate(1, door.DriveOpen))
		<-time.After(20 * time.Millisecond)
		must(t, h.Actuate(1, door.DriveStop))
		if err := h.Actuate(1, door.DriveStop); err == nil {
			t.Error("a second stop during the first was no error")
		}
		<-time.After(time.Second)
		synctest.Wait()
		expect(t, "the stop", levels(b), "1 on 0s, 1 off 20ms, 3 on 20ms, 3 off 70ms")
	})
}

func TestALineThatCannotBeSetIsAnError(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		b.Fail("gpiochip0:6", errors.New("gone"))
		if err := h.Actuate(2, door.Pulse); err == nil {
			t.Error("no error")
		}
		expect(t, "nothing", levels(b), "")
		b.Fail("gpiochip0:6", nil)
	})
}

// TestAContactThatStaysClosedEndsTheHardware: the end of the process is the last that
// can be done about it.
func TestAContactThatStaysClosedEndsTheHardware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		h, err := gpio.Open(wiring(), b, slog.New(slog.DiscardHandler))
		must(t, err)
		ended := make(chan error, 1)
		go func() { ended <- h.Run(t.Context()) }()
		must(t, h.Actuate(2, door.Pulse))
		must(t, h.Actuate(1, door.DriveOpen))
		b.Fail("gpiochip0:6", errors.New("gone"))
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "cannot be made inactive") {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it goes on")
		}
		if b.High("gpiochip0:1") || b.Taken() != 0 {
			t.Error("the other contact stays closed too, or is still taken")
		}
	})
}

// panicky panics while a contact is closed.
type panicky struct{ *board.Board }

type panickyOutput struct{ gpio.Output }

func (p panicky) Output(l gpio.Line) (gpio.Output, error) {
	o, err := p.Board.Output(l)
	return panickyOutput{o}, err
}

func (o panickyOutput) Set(active bool) error {
	err := o.Output.Set(active)
	if active {
		panic("in the middle of a pulse")
	}
	return err
}

func TestAPanicLeavesNoContactClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		h, _ := run(t, wiring(), panicky{b})
		func() {
			defer func() { _ = recover() }()
			_ = h.Actuate(2, door.Pulse)
		}()
		<-time.After(time.Second)
		synctest.Wait()
		expect(t, "the pulse", levels(b), "6 on 0s, 6 off 50ms")
	})
}

// TestTheEndIsInactiveBeforeItIsReleased, in the middle of a pulse and a warning.
func TestTheEndIsInactiveBeforeItIsReleased(t *testing.T) {
	bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, stop func()) {
		must(t, h.Actuate(1, door.Warn))
		must(t, h.Actuate(1, door.DriveClose))
		stop()
		for name, high := range map[string]bool{"gpiochip0:2": true, "gpiochip0:10": false, "gpiochip0:11": true} {
			if b.High(name) != high {
				t.Errorf("%s: high is %t", name, b.High(name))
			}
		}
	})
}

func TestEverySensorChangeIsDelivered(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		for i := range 40 { // more than anything buffers is let through one by one
			b.Drive("gpiochip0:5", i%2 == 0)
		}
		got := read(h)
		for i, in := range got {
			want := door.Sensed{End: door.OpenEnd, Reading: door.At}
			if i%2 == 1 {
				want.Reading = door.Away
			}
			if in != door.Input(want) {
				t.Fatalf("change %d: %+v", i, in)
			}
		}
		if len(got) != 40 {
			t.Errorf("%d changes", len(got))
		}
	})
}

func TestAMissedEdgeIsSeenAllTheSame(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		b.Miss("gpiochip0:5", true)
		<-time.After(2 * time.Second)
		if got := read(h); len(got) != 1 || got[0] != (door.Sensed{End: door.OpenEnd, Reading: door.At}) {
			t.Errorf("%+v", got)
		}
	})
}

func TestAFailedSensorIsLostUntilItIsBack(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		b.Fail("gpiochip0:4", errors.New("gone"))
		<-time.After(5 * time.Second)
		if got := read(h); len(got) != 1 || got[0] != (door.Sensed{End: door.ClosedEnd, Reading: door.Lost}) {
			t.Errorf("%+v", got)
		}
		b.Fail("gpiochip0:4", nil)
		<-time.After(2 * time.Second)
		if got := read(h); len(got) != 1 || got[0] != (door.Sensed{End: door.ClosedEnd, Reading: door.At}) {
			t.Errorf("back: %+v", got)
		}
	})
}

// TestWhatCannotBeSeenToBeClearIsObstructed.
func TestWhatCannotBeSeenToBeClearIsObstructed(t *testing.T) {
	c := wiring()
	c.Doors[0].Obstruction = &gpio.Contact{Line: *line(9), Bias: gpio.PullUp, Debounce: time.Second}
	bubble(t, c, func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		if bias, debounce := b.Asked("gpiochip0:9"); bias != gpio.PullUp || debounce != time.Second {
			t.Errorf("asked for %s and %s", bias, debounce)
		}
		b.Drive("gpiochip0:9", true)
		b.Drive("gpiochip0:9", false)
		b.Fail("gpiochip0:9", errors.New("gone"))
		<-time.After(2 * time.Second)
		got := read(h)
		if len(got) != 3 || got[0] != (door.Obstruction{Present: true}) || got[1] != (door.Obstruction{}) || got[2] != (door.Obstruction{Present: true}) {
			t.Errorf("%+v", got)
		}
	})
}

// TestWhatCannotBeHadIsNamed, and nothing is kept of what could.
func TestWhatCannotBeHadIsNamed(t *testing.T) {
	b := board.New()
	b.Fail("gpiochip0:3", errors.New("gone"))
	b.Fail("gpiochip0:8", errors.New("gone"))
	_, err := gpio.Open(wiring(), b, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "door 1, stop: gone") || !strings.Contains(err.Error(), "door 3, closed_sensor: gone") {
		t.Errorf("%v", err)
	}
	if n := b.Taken(); n != 0 {
		t.Errorf("%d lines were kept", n)
	}
}

// TestRunEndsThoughNobodyReads: a controller that has stopped takes no more inputs.
func TestRunEndsThoughNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		h, err := gpio.Open(wiring(), b, slog.New(slog.DiscardHandler))
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		go func() {
			for i := range 200 {
				b.Drive("gpiochip0:5", i%2 == 0)
			}
		}()
		synctest.Wait()
		cancel()
		must(t, <-ended)
	})
}
