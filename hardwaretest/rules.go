package hardwaretest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"lintel/controller"
	"lintel/door"
)

func sensed(number int, end door.End, r door.Reading) controller.Input {
	return controller.Input{Door: number, In: door.Sensed{End: end, Reading: r}}
}

// ready is hardware whose first readings have been taken.
func ready(t *testing.T, w World) (controller.Hardware, func()) {
	t.Helper()
	h, stop := w.Start(t)
	next(t, h, 4)
	return h, stop
}

// firstReadings: wherever the doors are, and again after a restart.
func firstReadings(t *testing.T, w World) {
	w.Place(discrete, Open)
	w.Place(oneButton, Between)
	for range 2 {
		h, stop := w.Start(t)
		first := next(t, h, 4)
		for _, want := range []controller.Input{
			sensed(discrete, door.ClosedEnd, door.Away), sensed(discrete, door.OpenEnd, door.At),
			sensed(oneButton, door.ClosedEnd, door.Away), sensed(monitor, door.ClosedEnd, door.At),
		} {
			if !slices.Contains(first, want) {
				t.Errorf("%+v is not among the first %+v", want, first)
			}
		}
		stop()
	}
}

func changesInOrder(t *testing.T, w World) {
	h, stop := ready(t, w)
	defer stop()
	for range 3 {
		for _, change := range []struct {
			place Place
			want  controller.Input
		}{
			{Between, sensed(discrete, door.ClosedEnd, door.Away)}, {Open, sensed(discrete, door.OpenEnd, door.At)},
			{Between, sensed(discrete, door.OpenEnd, door.Away)}, {Closed, sensed(discrete, door.ClosedEnd, door.At)},
		} {
			w.Place(discrete, change.place)
			if got := next(t, h, 1)[0]; got != change.want {
				t.Fatalf("got %+v, want %+v", got, change.want)
			}
		}
	}
	w.Place(monitor, Between)
	if got := next(t, h, 1)[0]; got != sensed(monitor, door.ClosedEnd, door.Away) {
		t.Errorf("a monitor shows %+v", got)
	}
}

// nothingUnasked: starting, watching, stopping and starting again move nothing.
func nothingUnasked(t *testing.T, w World) {
	for range 3 {
		h, stop := ready(t, w)
		w.Place(discrete, Between)
		w.Place(oneButton, Between)
		next(t, h, 2)
		stop()
		w.Place(discrete, Closed)
		w.Place(oneButton, Closed)
	}
	took(t, w, 0)
}

func nothingElse(t *testing.T, w World) {
	h, stop := ready(t, w)
	defer stop()
	for number := range 34 {
		for _, e := range []door.Effect{door.NoEffect, door.Pulse, door.DriveOpen, door.DriveClose, door.DriveStop} {
			if slices.Contains(effects[number], e) {
				continue
			}
			if err := h.Actuate(number, e); err == nil {
				t.Errorf("door %d was told to %s, and that was no error", number, e)
			}
		}
	}
	took(t, w, 0)
}

// onePulse: it is active once, and never again, over a restart too.
func onePulse(t *testing.T, w World, number int, e door.Effect) {
	h, stop := ready(t, w)
	if err := h.Actuate(number, e); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the pulse", func() bool { return w.Active() == 0 })
	stop()
	_, stop = ready(t, w)
	stop()
	if p := took(t, w, 1)[0]; p.Door != number || p.Effect != e || p.Until.IsZero() {
		t.Errorf("it was %+v", p)
	}
}

func stoppedInPulse(t *testing.T, w World, number int, e door.Effect) {
	h, stop := ready(t, w)
	if err := h.Actuate(number, e); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pulse", func() bool { return len(w.Pulses()) > 0 })
	stop()
	if n := w.Active(); n != 0 {
		t.Errorf("%d outputs are active after the end", n)
	}
	took(t, w, 1)
}

func inactiveOnceStopped(t *testing.T, w World) {
	h, stop := ready(t, w)
	stop()
	for number, has := range effects {
		for _, e := range has {
			if err := h.Actuate(number, e); err == nil {
				t.Errorf("stopped hardware was told to %s, and that was no error", e)
			}
		}
	}
	took(t, w, 0)
}

// noOverlap: what many ask for at once is refused, or done one after the other; and
// what was not refused was done.
func noOverlap(t *testing.T, w World) {
	h, stop := ready(t, w)
	var done atomic.Int32
	var asking sync.WaitGroup
	for i := range 64 {
		e := effects[discrete][i%2] // to open, and to close
		asking.Go(func() {
			if h.Actuate(discrete, e) == nil {
				done.Add(1)
			}
		})
	}
	asking.Wait()
	eventually(t, "a pulse, and its end", func() bool { return len(w.Pulses()) > 0 && w.Active() == 0 })
	stop()
	pulses := took(t, w, int(done.Load()))
	for i, p := range pulses {
		if p.Until.IsZero() || i > 0 && p.From.Before(pulses[i-1].Until) {
			t.Errorf("pulse %d of %+v begins before the one before it has ended", i, pulses)
		}
	}
}
