package gpio_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lintel/door"
	"lintel/gpio"
	"lintel/hardwaretest/board"
)

// TestEverySensorIsLostWhileOneHangs: nobody is told that a door is where it was before.
func TestEverySensorIsLostWhileOneHangs(t *testing.T) {
	c := wiring()
	c.Doors[0].Obstruction = &gpio.Contact{Line: *line(9)}
	bubble(t, c, func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		answer := b.Hang("gpiochip0:7")
		<-time.After(2900 * time.Millisecond)
		if got := read(h); len(got) != 0 || !h.Alive() {
			t.Errorf("too early: %+v", got)
		}
		<-time.After(1200 * time.Millisecond) // the look before it may have been a second old
		closed, open := door.Sensed{End: door.ClosedEnd, Reading: door.Lost}, door.Sensed{End: door.OpenEnd, Reading: door.Lost}
		lost := []door.Input{closed, open, door.Obstruction{Present: true}, closed, closed}
		if got := read(h); !slices.Equal(got, lost) || h.Alive() {
			t.Errorf("%+v", got)
		}
		<-time.After(time.Hour)
		if got := read(h); len(got) != 0 || h.Alive() {
			t.Errorf("after an hour: %+v", got)
		}
		answer()
		<-time.After(2 * time.Second)
		if got := read(h); len(got) != 5 || !h.Alive() {
			t.Errorf("back: %+v", got)
		}
	})
}

// TestTheFirstLookMayHangToo: nothing is known, and the agent is not kept.
func TestTheFirstLookMayHangToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		defer b.Hang("gpiochip0:4")()
		h, stop := run(t, wiring(), b)
		<-time.After(4 * time.Second)
		for _, in := range read(h) {
			if in.(door.Sensed).Reading != door.Lost {
				t.Errorf("%+v", in)
			}
		}
		if h.Alive() {
			t.Error("the sensors count as watched")
		}
		stop()
	})
}

// TestWhatIsReadTooLateIsNotShown, nor the edges that nobody heard meanwhile: only a
// look that came in time says where the door is.
func TestWhatIsReadTooLateIsNotShown(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		answer := b.Hang("gpiochip0:4") // it has read that the door is closed
		<-time.After(5 * time.Second)
		read(h)
		b.Drive("gpiochip0:4", true)
		b.Drive("gpiochip0:5", true)
		b.Drive("gpiochip0:5", false)
		answer()
		<-time.After(2 * time.Second)
		got := read(h)[:2]
		want := []door.Input{door.Sensed{End: door.ClosedEnd, Reading: door.Away}, door.Sensed{End: door.OpenEnd, Reading: door.Away}}
		if !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
	})
}

// TestTheEndDoesNotWaitForASensor: a contact that is closed is opened, and the lines of
// outputs are let go, whatever hangs.
func TestTheEndDoesNotWaitForASensor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		c := wiring()
		c.Doors[1].Pulse = gpio.MaxPulse
		h, err := gpio.Open(c, b, slog.New(slog.DiscardHandler))
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		synctest.Wait()
		defer b.Hang("gpiochip0:4")()
		<-time.After(2 * time.Second)
		must(t, h.Actuate(2, door.Pulse))
		cancel()
		synctest.Wait()
		expect(t, "at once", levels(b), "6 on 0s, 6 off 0s")
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "does not answer") {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it waits for the sensor")
		}
		if n := b.Taken(); n != 4 {
			t.Errorf("%d lines are taken, and 4 are sensors'", n)
		}
	})
}
