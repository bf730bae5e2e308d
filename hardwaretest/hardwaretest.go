// Package hardwaretest holds implementations of controller.Hardware to the rules of
// that port. sim and gpio run the same suite.
package hardwaretest

import (
	"testing"
	"time"

	"lintel/controller"
	"lintel/door"
)

// World is what is around the hardware of one controller, and stays when the hardware
// is stopped and started again. It has these doors, at the closed end at first:
//
//	1  discrete, with open, close and stop, and a sensor at each end
//	2  one button, and a sensor at the closed end
//	3  a monitor, with a sensor at the closed end
type World interface {
	// Start makes hardware, and has it ready to be used. stop ends it and waits.
	Start(t *testing.T) (hardware controller.Hardware, stop func())
	// Place puts a door somewhere, by hand.
	Place(number int, at Place)
	// Pulses are all that was done to the openers, oldest first.
	Pulses() []Pulse
	// Active is how many outputs that move a door are active now.
	Active() int
}

// Place is where a door is.
type Place int

// The places.
const (
	Closed Place = iota
	Between
	Open
)

// Pulse is one time that an output was active.
type Pulse struct {
	Door   int
	Effect door.Effect
	From   time.Time
	Until  time.Time // zero while it is active
}

const (
	discrete  = 1
	oneButton = 2
	monitor   = 3
)

// effects are what the doors have; anything else is to be refused.
var effects = map[int][]door.Effect{
	discrete:  {door.DriveOpen, door.DriveClose, door.DriveStop},
	oneButton: {door.Pulse},
}

// Run holds an implementation to every rule, each in a world of its own.
func Run(t *testing.T, make func(t *testing.T) World) {
	for name, rule := range map[string]func(t *testing.T, w World){
		"every sensor's reading comes first":        firstReadings,
		"every change is delivered, in order":       changesInOrder,
		"nothing happens that was not asked for":    nothingUnasked,
		"what the opener does not have is an error": nothingElse,
		"stopped hardware is inactive for good":     inactiveOnceStopped,
		"pulses at one door never overlap":          noOverlap,
	} {
		t.Run(name, func(t *testing.T) { rule(t, make(t)) })
	}
	for number, has := range effects {
		for _, e := range has {
			t.Run("one Actuate is one pulse: "+e.String(), func(t *testing.T) { onePulse(t, make(t), number, e) })
			t.Run("stopped during a pulse: "+e.String(), func(t *testing.T) { stoppedInPulse(t, make(t), number, e) })
		}
	}
}

// patience is how long to wait for what should happen.
const patience = 10 * time.Second

// next returns the next inputs, in the order in which they come.
func next(t *testing.T, h controller.Hardware, count int) []controller.Input {
	t.Helper()
	var all []controller.Input
	timeout := time.After(patience)
	for len(all) < count {
		select {
		case in := <-h.Inputs():
			all = append(all, in)
		case <-timeout:
			t.Fatalf("%d inputs in %s, want %d: %v", len(all), patience, count, all)
		}
	}
	return all
}

// eventually waits until done says true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	timeout := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("waited %s for: %s", patience, what)
		}
	}
}

// took returns what was done since a moment, and fails if that is not as many.
func took(t *testing.T, w World, count int) []Pulse {
	t.Helper()
	pulses := w.Pulses()
	if len(pulses) != count {
		t.Fatalf("%d pulses, want %d: %+v", len(pulses), count, pulses)
	}
	return pulses
}
