package door

import (
	"testing"
	"time"
)

// at is a time of the tests: seconds after some beginning.
func at(seconds float64) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// moment is one input and what the machine is to say after it.
type moment struct {
	at      float64
	in      Input
	value   Value
	source  Source
	last    Direction
	effect  Effect
	refusal Refusal
}

func play(t *testing.T, c Config, moments []moment) {
	t.Helper()
	var s State
	for i, m := range moments {
		var d Decision
		s, d = c.Step(at(m.at), s, m.in)
		if s.Value != m.value || s.Source != m.source || s.Last != m.last {
			t.Fatalf("moment %d at %vs after %T%+v: %s by %s, last %s; want %s by %s, last %s",
				i, m.at, m.in, m.in, s.Value, s.Source, s.Last, m.value, m.source, m.last)
		}
		if d.Effect != m.effect || d.Refusal != m.refusal {
			t.Fatalf("moment %d at %vs after %T%+v: decided %+v; want %s %q", i, m.at, m.in, m.in, d, m.effect, m.refusal)
		}
	}
}

var (
	oneButtonTwoSensors = Config{Opener: OneButton, ClosedSensor: true, OpenSensor: true, Travel: 10 * time.Second}
	oneButtonOneSensor  = Config{Opener: OneButton, ClosedSensor: true, Travel: 10 * time.Second}
	oneButtonOpenSensor = Config{Opener: OneButton, OpenSensor: true, Travel: 10 * time.Second}
	discreteTwoSensors  = Config{Opener: Discrete, ClosedSensor: true, OpenSensor: true, Travel: 10 * time.Second}
	discreteReporting   = Config{Opener: Discrete, Reports: true, Travel: 10 * time.Second}
)

func closedNow(r Reading) Input { return Sensed{ClosedEnd, r} }
func openNow(r Reading) Input   { return Sensed{OpenEnd, r} }

func TestOneButtonWithTwoSensorsGoesThereAndBack(t *testing.T) {
	play(t, oneButtonTwoSensors, []moment{
		{at: 0, in: Asked{DoOpen}, refusal: RefuseSensor},
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoClose}, value: Closed, source: FromSensor, last: Down},
		{at: 2, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse},
		{at: 2.1, in: Asked{DoOpen}, value: Opening, last: Up}, // not a second pulse
		{at: 2.2, in: Asked{DoClose}, value: Opening, last: Up, refusal: RefuseMoving},
		{at: 2.5, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
		{at: 12, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 13, in: Asked{DoClose}, value: Closing, last: Down, effect: Pulse},
		{at: 14, in: openNow(Away), value: Closing, source: FromSensor, last: Down},
		{at: 23, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
	})
}

func TestADoorThatNeverLeavesIsSeenWhereItIs(t *testing.T) {
	play(t, oneButtonTwoSensors, []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse},
		{at: 12, in: Tick{}, value: Opening, last: Up},
		{at: 13, in: Tick{}, value: Closed, source: FromSensor, last: Down},
		{at: 14, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse},
	})
}

func TestAMovementThatDoesNotArriveLeavesNothingCertain(t *testing.T) {
	play(t, oneButtonTwoSensors, []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: closedNow(Away), value: Opening, source: FromSensor, last: Up}, // the wall button
		{at: 13.4, in: Tick{}, value: Opening, source: FromSensor, last: Up},
		{at: 13.5, in: Tick{}, value: Stopped, last: NoDirection},
		{at: 14, in: Asked{DoClose}, value: Stopped, refusal: RefuseWrongWay},
		{at: 14, in: Asked{DoOpen}, value: Stopped, refusal: RefuseWrongWay},
		{at: 20, in: openNow(At), value: Open, source: FromSensor, last: Up},
	})
}

// TestOneSensorDoesNotSeeTheWallButton: at the end without a sensor somebody may
// have stopped and reversed the door, so only what the sensor sees is acted on.
func TestOneSensorDoesNotSeeTheWallButton(t *testing.T) {
	play(t, oneButtonOneSensor, []moment{
		{at: 0, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse},
		{at: 2, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
		{at: 14.5, in: Tick{}, value: Open},
		{at: 20, in: Asked{DoOpen}, value: Open},
		{at: 30, in: Asked{DoClose}, value: Open, refusal: RefuseWrongWay},
		{at: 40, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
	})
}

func TestOneSensorWithSoleControlInfersTheOtherEnd(t *testing.T) {
	alone := oneButtonOneSensor
	alone.SoleControl = true
	play(t, alone, []moment{
		{at: 0, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse},
		{at: 2, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
		{at: 14.5, in: Tick{}, value: Open, last: Up},
		{at: 20, in: Asked{DoOpen}, value: Open, last: Up},
		{at: 30, in: Asked{DoClose}, value: Closing, last: Down, effect: Pulse},
		{at: 42.5, in: Tick{}, value: Stopped}, // reversed by an obstruction, perhaps
		{at: 43, in: Asked{DoClose}, value: Stopped, refusal: RefuseWrongWay},
	})
}

// TestSoleControlIsNotBelievedOverASensor: where nothing else moves the door, one that
// leaves its end without having been asked to cannot have. Most likely its sensor's wire
// is broken, and the door stands where it stood: a pulse would send it the wrong way.
func TestSoleControlIsNotBelievedOverASensor(t *testing.T) {
	closedEnd, openEnd := oneButtonOneSensor, oneButtonOpenSensor
	closedEnd.SoleControl, openEnd.SoleControl = true, true
	play(t, closedEnd, []moment{
		{at: 0, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
		{at: 13.5, in: Tick{}, value: Open},
		{at: 14, in: Asked{DoClose}, value: Open, refusal: RefuseWrongWay},
	})
	play(t, openEnd, []moment{
		{at: 0, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 1, in: openNow(Away), value: Closing, source: FromSensor, last: Down},
		{at: 13.5, in: Tick{}, value: Closed},
		{at: 14, in: Asked{DoOpen}, value: Closed, refusal: RefuseWrongWay},
	})
}

// TestAfterAPowerCut: an open door first seen with one sensor may have been
// stopped on its way down, so a pulse might open it further.
func TestAfterAPowerCut(t *testing.T) {
	play(t, oneButtonOneSensor, []moment{
		{at: 0, in: closedNow(Away), value: Open},
		{at: 1, in: Asked{DoClose}, value: Open, refusal: RefuseWrongWay},
	})
	play(t, oneButtonTwoSensors, []moment{
		{at: 0, in: closedNow(Away)},
		{at: 0, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 1, in: Asked{DoClose}, value: Closing, last: Down, effect: Pulse},
	})
}

func TestOpenSensorOnlyNeverShowsClosed(t *testing.T) {
	play(t, oneButtonOpenSensor, []moment{
		{at: 0, in: openNow(Away)},
		{at: 1, in: Asked{DoOpen}, refusal: RefuseUnknown},
		{at: 2, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 3, in: Asked{DoClose}, value: Closing, last: Down, effect: Pulse},
		{at: 4, in: openNow(Away), value: Closing, source: FromSensor, last: Down},
		{at: 16.5, in: Tick{}, value: Closed},
		{at: 17, in: Asked{DoClose}, value: Closed, refusal: RefuseWrongWay},
		{at: 18, in: Asked{DoOpen}, value: Closed, refusal: RefuseWrongWay},
	})
}

func TestDiscreteReversesAndStops(t *testing.T) {
	play(t, discreteTwoSensors, []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: DriveOpen},
		{at: 2, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
		{at: 3, in: Asked{DoClose}, value: Closing, last: Down, effect: DriveClose},
		{at: 4, in: Asked{DoStop}, value: Stopped, last: Down, effect: DriveStop},
		{at: 5, in: Asked{DoOpen}, value: Opening, last: Up, effect: DriveOpen},
		{at: 9, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 10, in: Asked{DoOpen}, value: Open, source: FromSensor, last: Up},
		{at: 11, in: Asked{DoStop}, value: Open, source: FromSensor, last: Up, effect: DriveStop},
	})
}

func TestStopBeforeTheDoorLeft(t *testing.T) {
	play(t, discreteTwoSensors, []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: DriveOpen},
		{at: 1.1, in: Asked{DoStop}, value: Closed, source: FromSensor, last: Down, effect: DriveStop},
	})
}

func TestALostSensorForgetsEverything(t *testing.T) {
	play(t, oneButtonTwoSensors, []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: closedNow(Lost)},
		{at: 2, in: Asked{DoOpen}, refusal: RefuseSensor},
		{at: 3, in: closedNow(Away), value: Stopped}, // moved while out of sight
		{at: 4, in: Asked{DoOpen}, value: Stopped, refusal: RefuseWrongWay},
	})
}

func TestBothEndsAtOnceIsNoState(t *testing.T) {
	play(t, discreteTwoSensors, []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(At)},
		{at: 1, in: Asked{DoClose}, refusal: RefuseUnknown},
		{at: 2, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
	})
}

func TestStaleReadingsAreNoEvidence(t *testing.T) {
	wireless := oneButtonOneSensor
	wireless.FreshFor = 60 * time.Second
	play(t, wireless, []moment{
		{at: 0, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
		{at: 50, in: closedNow(At), value: Closed, source: FromSensor, last: Down}, // a check-in
		{at: 109, in: Tick{}, value: Closed, source: FromSensor, last: Down},
		{at: 110, in: Asked{DoOpen}, refusal: RefuseStale},
		{at: 111, in: Tick{}},
		{at: 120, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
	})
}

func TestAnOpenerThatReports(t *testing.T) {
	play(t, discreteReporting, []moment{
		{at: 0, in: Asked{DoOpen}, refusal: RefuseSensor},
		{at: 1, in: Reported{Closed}, value: Closed, source: FromOpener, last: Down},
		{at: 2, in: Asked{DoOpen}, value: Opening, last: Up, effect: DriveOpen},
		{at: 3, in: Reported{Opening}, value: Opening, source: FromOpener, last: Up},
		{at: 4, in: Reported{Stopped}, value: Stopped, source: FromOpener, last: Up},
		{at: 5, in: Reported{Unknown}},
		{at: 6, in: Asked{DoClose}, refusal: RefuseSensor},
	})
}

func TestObstructionRefusesClosingOnly(t *testing.T) {
	play(t, discreteTwoSensors, []moment{
		{at: 0, in: closedNow(Away)},
		{at: 0, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 1, in: Obstruction{true}, value: Open, source: FromSensor, last: Up},
		{at: 2, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, refusal: RefuseObstructed},
		{at: 3, in: Obstruction{false}, value: Open, source: FromSensor, last: Up},
		{at: 4, in: Asked{DoClose}, value: Closing, last: Down, effect: DriveClose},
	})
}

func TestSensorsThatAreNotFittedAreIgnored(t *testing.T) {
	play(t, oneButtonOneSensor, []moment{
		{at: 0, in: openNow(At)},
		{at: 1, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
		{at: 2, in: openNow(Lost), value: Closed, source: FromSensor, last: Down},
		{at: 3, in: Reported{Open}, value: Closed, source: FromSensor, last: Down},
	})
}

// TestAnOpenerAgainstItsSensor: an opener that says closed where the sensor does
// not see the door cannot keep a movement going for ever.
func TestAnOpenerAgainstItsSensor(t *testing.T) {
	both := Config{Opener: Discrete, Reports: true, ClosedSensor: true, Travel: 10 * time.Second}
	play(t, both, []moment{
		{at: 0, in: closedNow(Away), value: Open},
		{at: 1, in: Asked{DoClose}, value: Closing, last: Down, effect: DriveClose},
		{at: 5, in: Reported{Closed}, value: Closing, last: Down},
		{at: 13.5, in: Tick{}, value: Stopped},
		{at: 14, in: Asked{DoClose}, value: Closing, last: Down, effect: DriveClose},
	})
}

// TestNextTickIsWhenSomethingChanges: between now and NextTick a Tick does
// nothing, so a runtime that sleeps until then misses nothing.
func TestNextTickIsWhenSomethingChanges(t *testing.T) {
	c := oneButtonTwoSensors
	var s State
	s, _ = c.Step(at(0), s, closedNow(At))
	s, _ = c.Step(at(0), s, openNow(Away))
	if next := c.NextTick(s); !next.IsZero() {
		t.Errorf("a resting door with wired sensors changes at %v by time alone", next)
	}
	s, _ = c.Step(at(1), s, Asked{DoOpen})
	next := c.NextTick(s)
	before, _ := c.Step(next.Add(-time.Millisecond), s, Tick{})
	after, _ := c.Step(next, s, Tick{})
	if before.Value != s.Value || after.Value == s.Value {
		t.Errorf("%s just before the tick, %s at it; was %s", before.Value, after.Value, s.Value)
	}
}
