package gpio_test

import (
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
