package gpio_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lintel/door"
	"lintel/gpio"
	"lintel/hardwaretest/board"
)

// warned is a discrete door with a light and a buzzer.
func warned() gpio.Config {
	c := wiring()
	c.Doors = c.Doors[:1]
	c.Doors[0].Light, c.Doors[0].Buzzer, c.Doors[0].Warning = line(10), lowLine(11), 5*time.Second
	return c
}

func TestAWarningFlashesUntilQuiet(t *testing.T) {
	bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		must(t, h.Actuate(1, door.Warn))
		<-time.After(800 * time.Millisecond)
		synctest.Wait()
		must(t, h.Actuate(1, door.Quiet))
		<-time.After(time.Hour)
		synctest.Wait()
		expect(t, "2 Hz", levels(b), "10 on 0s, 11 on 0s, 10 off 250ms, 10 on 500ms, 10 off 750ms, 11 off 800ms")
	})
}

func TestAWarningGoesOnForAMomentOnceTheDoorMoves(t *testing.T) {
	bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		must(t, h.Actuate(1, door.Warn))
		<-time.After(5100 * time.Millisecond)
		must(t, h.Actuate(1, door.DriveClose))
		<-time.After(time.Hour)
		synctest.Wait()
		said := levels(b)
		if !strings.HasSuffix(said, ", 11 off 8.1s") || !strings.Contains(said, "2 on 5.1s, 2 off 5.15s") || strings.Count(said, "10 on") != 17 {
			t.Errorf("5s of warning and 3s of it while moving: %s", said)
		}
	})
}

func TestADoorWithoutALightOrABuzzerCannotWarn(t *testing.T) {
	bubble(t, wiring(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		for _, e := range []door.Effect{door.Warn, door.Quiet} {
			if h.Actuate(1, e) == nil {
				t.Errorf("%s was no error", e)
			}
		}
		expect(t, "nothing", levels(b), "")
	})
}

// TestAFailedWarningStopsTheClose: at its begin, in its course, or at the last moment;
// and then it is quiet. To stop and to open need no warning.
func TestAFailedWarningStopsTheClose(t *testing.T) {
	for _, name := range []string{"gpiochip0:10", "gpiochip0:11"} {
		for _, from := range []time.Duration{0, time.Second, 5050 * time.Millisecond} {
			t.Run(name+" after "+from.String(), func(t *testing.T) {
				bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
					must(t, h.Actuate(1, door.Warn))
					<-time.After(from)
					b.Fail(name, errors.New("gone"))
					<-time.After(5100*time.Millisecond - from)
					if err := h.Actuate(1, door.DriveClose); err == nil || !strings.Contains(err.Error(), "the warning has failed") {
						t.Errorf("%v", err)
					}
					b.Fail(name, nil)
					<-time.After(2 * time.Second)
					synctest.Wait()
					if said := levels(b); strings.Contains(said, "2 on ") || b.High("gpiochip0:10") || !b.High("gpiochip0:11") {
						t.Errorf("it moved, or still warns: %s", said)
					}
				})
			})
		}
	}
}

// TestAFailedWarningThatIsBackStopsTheCloseToo: nobody was warned for so long.
func TestAFailedWarningThatIsBackStopsTheCloseToo(t *testing.T) {
	bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		must(t, h.Actuate(1, door.Warn))
		b.Fail("gpiochip0:11", errors.New("gone"))
		<-time.After(2 * time.Second)
		b.Fail("gpiochip0:11", nil)
		<-time.After(3100 * time.Millisecond)
		if err := h.Actuate(1, door.DriveClose); err == nil {
			t.Error("it closed")
		}
		must(t, h.Actuate(1, door.Warn)) // the next warning is a new one
		<-time.After(5100 * time.Millisecond)
		must(t, h.Actuate(1, door.DriveClose))
	})
}

func TestAFailedWarningStopsNeitherAStopNorAnOpen(t *testing.T) {
	for _, e := range []door.Effect{door.DriveStop, door.DriveOpen} {
		bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
			must(t, h.Actuate(1, door.Warn))
			b.Fail("gpiochip0:10", errors.New("gone"))
			<-time.After(time.Second)
			must(t, h.Actuate(1, e))
			b.Fail("gpiochip0:10", nil)
		})
	}
}

func TestAWarningThatCannotBeginIsAnError(t *testing.T) {
	bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
		b.Fail("gpiochip0:11", errors.New("gone"))
		if err := h.Actuate(1, door.Warn); err == nil {
			t.Error("no error")
		}
		b.Fail("gpiochip0:11", nil)
		<-time.After(time.Hour)
		synctest.Wait()
		if b.High("gpiochip0:10") || !b.High("gpiochip0:11") {
			t.Errorf("it warns all the same: %s", levels(b))
		}
	})
}

// TestAnEndThatFailsIsTriedAgain: whoever ended the warning, nobody else would.
func TestAnEndThatFailsIsTriedAgain(t *testing.T) {
	for _, ends := range []door.Effect{door.Quiet, door.DriveClose} {
		t.Run(ends.String(), func(t *testing.T) {
			bubble(t, warned(), func(t *testing.T, b *board.Board, h *gpio.Hardware, _ func()) {
				must(t, h.Actuate(1, door.Warn))
				if ends == door.DriveClose {
					must(t, h.Actuate(1, ends)) // the warning ends 3 s after it
				}
				b.Fail("gpiochip0:11", errors.New("gone"))
				if ends == door.Quiet && h.Actuate(1, ends) == nil {
					t.Error("no error")
				}
				<-time.After(10 * time.Second)
				b.Fail("gpiochip0:11", nil)
				<-time.After(1100 * time.Millisecond)
				synctest.Wait()
				if !b.High("gpiochip0:11") {
					t.Error("the buzzer is still on")
				}
			})
		})
	}
}
