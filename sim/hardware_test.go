package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lintel/controller"
	"lintel/door"
)

// seen reads inputs until nothing more happens by itself at this moment.
func seen(h *Hardware) []door.Sensed {
	var all []door.Sensed
	for {
		synctest.Wait()
		select {
		case in := <-h.Inputs():
			all = append(all, in.In.(door.Sensed))
		default:
			return all
		}
	}
}

func runHardware(t *testing.T, d Door) *Hardware {
	h := NewHardware([]Door{d}, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go h.Run(ctx)
	return h
}

func TestSensorsFollowTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := runHardware(t, Door{Opener: door.Discrete, Sensors: 2, Travel: 3 * time.Second})
		if got := seen(h); len(got) != 2 || got[0] != (door.Sensed{End: door.ClosedEnd, Reading: door.At}) {
			t.Fatalf("at first %v", got)
		}
		if err := h.Actuate(1, door.DriveOpen); err != nil {
			t.Fatal(err)
		}
		<-time.After(departs)
		if got := seen(h); len(got) != 1 || got[0] != (door.Sensed{End: door.ClosedEnd, Reading: door.Away}) {
			t.Fatalf("after it left %v", got)
		}
		<-time.After(3 * time.Second)
		if got := seen(h); len(got) != 1 || got[0] != (door.Sensed{End: door.OpenEnd, Reading: door.At}) {
			t.Fatalf("after the travel time %v", got)
		}
	})
}

func TestLostSensorsSayOnlyThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := runHardware(t, Door{Opener: door.Discrete, Sensors: 2, Travel: time.Second, SensorLost: true})
		for _, s := range seen(h) {
			if s.Reading != door.Lost {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestTheLogCountsActuationsAndNotTheWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := runHardware(t, Door{Opener: door.OneButton, Sensors: 1, Travel: time.Second})
		h.Press(1)
		if err := h.Actuate(1, door.Pulse); err != nil {
			t.Fatal(err)
		}
		if err := h.Actuate(9, door.Pulse); err == nil {
			t.Error("actuated a door that does not exist")
		}
		if log := h.Log(); len(log) != 1 || log[0].Effect != door.Pulse || log[0].Door != 1 {
			t.Errorf("log %+v", log)
		}
		seen(h)
	})
}

var _ controller.Hardware = (*Hardware)(nil)

// TestActuationsAreRecordedFirst: what cannot be recorded is not done.
func TestActuationsAreRecordedFirst(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.UTC)
	h := NewHardware([]Door{{Opener: door.Discrete, Sensors: 2, Travel: time.Second}}, func() time.Time { return at })
	var log strings.Builder
	h.RecordTo(&log, "the controller")
	for _, e := range []door.Effect{door.DriveOpen, door.DriveClose} {
		if err := h.Actuate(1, e); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"time":"2026-01-02T03:04:05.006Z","controller":"the controller","door":1,"effect":"drive open"}
{"time":"2026-01-02T03:04:05.006Z","controller":"the controller","door":1,"effect":"drive close"}
`
	if log.String() != want {
		t.Errorf("recorded\n%s", log.String())
	}
	h.RecordTo(full{}, "the controller")
	if err := h.Actuate(1, door.DriveOpen); err == nil || len(h.Log()) != 2 {
		t.Errorf("with a full disk: %v, and it did %v", err, h.Log())
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }
