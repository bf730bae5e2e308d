package door

import (
	"testing"
	"time"
)

// outcome is what a door is after some inputs, and why it is not what was asked for.
type outcome struct {
	value   Value
	failure Failure
}

func after(c Config, inputs ...timed) outcome {
	var s State
	for _, in := range inputs {
		s, _ = c.Step(at(in.at), s, in.in)
	}
	return outcome{s.Value, s.Failure}
}

type timed struct {
	at float64
	in Input
}

// TestAMovementThatFailsSaysWhy: for each way in which a door does not get where it
// was told to go.
func TestAMovementThatFailsSaysWhy(t *testing.T) {
	closed := []timed{{0, closedNow(At)}, {0, openNow(Away)}}
	open := []timed{{0, closedNow(Away)}, {0, openNow(At)}}
	reports := func(v Value) []timed { return []timed{{0, Reported{v}}} }
	rows := map[string]struct {
		config Config
		before []timed
		then   []timed
		want   outcome
	}{
		"it goes there": {discreteTwoSensors, closed, []timed{{1, Asked{DoOpen}}, {2, closedNow(Away)}, {9, openNow(At)}}, outcome{Open, ""}},
		"it is still seen where it was": {oneButtonTwoSensors, closed,
			[]timed{{1, Asked{DoOpen}}, {13, Tick{}}}, outcome{Closed, DidNotMove}},
		"it leaves and is not seen to arrive": {oneButtonTwoSensors, closed,
			[]timed{{1, Asked{DoOpen}}, {2, closedNow(Away)}, {14.5, Tick{}}}, outcome{Stopped, DidNotArrive}},
		"it comes back": {discreteTwoSensors, open,
			[]timed{{1, Asked{DoClose}}, {2, openNow(Away)}, {6, openNow(At)}}, outcome{Open, Reversed}},
		"nobody asked": {oneButtonTwoSensors, closed, []timed{{2, closedNow(Away)}, {14.5, Tick{}}}, outcome{Stopped, ""}},
		"it is told otherwise": {discreteTwoSensors, closed,
			[]timed{{1, Asked{DoOpen}}, {2, closedNow(Away)}, {3, Asked{DoClose}}, {5, closedNow(At)}}, outcome{Closed, ""}},
		"it is stopped": {discreteTwoSensors, closed,
			[]timed{{1, Asked{DoOpen}}, {2, closedNow(Away)}, {3, Asked{DoStop}}}, outcome{Stopped, ""}},
		"its sensor is lost on the way": {discreteTwoSensors, closed,
			[]timed{{1, Asked{DoOpen}}, {2, closedNow(Lost)}, {3, closedNow(At)}}, outcome{Closed, ""}},
		"it goes on another time": {oneButtonTwoSensors, closed,
			[]timed{{1, Asked{DoOpen}}, {13, Tick{}}, {20, closedNow(Away)}}, outcome{Opening, ""}},

		"the opener says that it goes there": {discreteReporting, reports(Closed),
			[]timed{{1, Asked{DoOpen}}, {2, Reported{Opening}}, {9, Reported{Open}}}, outcome{Open, ""}},
		"the opener says nothing":             {discreteReporting, reports(Closed), []timed{{1, Asked{DoOpen}}, {25.5, Tick{}}}, outcome{Unknown, NotReported}},
		"the opener says nothing, in between": {discreteReporting, reports(Stopped), []timed{{1, Asked{DoOpen}}, {13.5, Tick{}}}, outcome{Unknown, NotReported}},
		"the opener says that it is still there": {discreteReporting, reports(Closed),
			[]timed{{1, Asked{DoOpen}}, {5, Reported{Closed}}, {13, Tick{}}}, outcome{Closed, DidNotMove}},
		"the opener says so while it warns": {discreteReporting, reports(Closed),
			[]timed{{1, Asked{DoOpen}}, {5, Reported{Closed}}, {6, Reported{Opening}}}, outcome{Opening, ""}},
		"the opener says so when it is asked": {discreteReporting, reports(Closed),
			[]timed{{1, Asked{DoOpen}}, {5, Reported{Unknown}}, {5.1, Reported{Closed}}}, outcome{Closed, DidNotMove}},
		"the opener says so a day later": {discreteReporting, reports(Closed),
			[]timed{{1, Asked{DoOpen}}, {5, Reported{Unknown}}, {86400, Reported{Closed}}}, outcome{Closed, ""}},
		"the opener says that it stopped": {discreteReporting, reports(Open),
			[]timed{{1, Asked{DoClose}}, {2, Reported{Closing}}, {5, Reported{Stopped}}}, outcome{Stopped, DidNotArrive}},
		"the opener says that it turns": {discreteReporting, reports(Open),
			[]timed{{1, Asked{DoClose}}, {2, Reported{Closing}}, {5, Reported{Opening}}, {9, Reported{Open}}}, outcome{Open, ""}},
		"the opener says that it turned": {discreteReporting, reports(Open),
			[]timed{{1, Asked{DoClose}}, {2, Reported{Closing}}, {5, Reported{Opening}}}, outcome{Opening, Reversed}},
		"the opener says that it is back": {discreteReporting, reports(Open),
			[]timed{{1, Asked{DoClose}}, {2, Reported{Closing}}, {9, Reported{Open}}}, outcome{Open, Reversed}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := after(row.config, append(row.before, row.then...)...); got != row.want {
				t.Errorf("%s %q, want %s %q", got.value, got.failure, row.want.value, row.want.failure)
			}
		})
	}
}

// TestASilentOpenerIsNoEvidence: where an opener reports its state, a movement of
// which it said nothing has put the door nowhere.
func TestASilentOpenerIsNoEvidence(t *testing.T) {
	play(t, discreteReporting, []moment{
		{at: 0, in: Reported{Open}, value: Open, source: FromOpener, last: Up},
		{at: 1, in: Asked{DoClose}, value: Closing, last: Down, effect: DriveClose},
		{at: 25.4, in: Tick{}, value: Closing, last: Down},
		{at: 25.5, in: Tick{}},
		{at: 26, in: Asked{DoOpen}, refusal: RefuseSensor},
		{at: 30, in: Reported{Open}, value: Open, source: FromOpener, last: Up},
	})
}

var warned = func() Config {
	c := oneButtonTwoSensors
	c.Warning = 5 * time.Second
	return c
}()

// opened is a door at its open end.
func opened(more ...moment) []moment {
	return append([]moment{
		{at: 0, in: closedNow(Away)},
		{at: 0, in: openNow(At), value: Open, source: FromSensor, last: Up},
	}, more...)
}

func TestACloseIsWarnedOf(t *testing.T) {
	play(t, warned, opened(
		moment{at: 1, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, effect: Warn},
		moment{at: 2, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up}, // under way already
		moment{at: 5.9, in: Tick{}, value: Open, source: FromSensor, last: Up},
		moment{at: 6, in: Tick{}, value: Closing, last: Down, effect: Pulse},
		moment{at: 7, in: openNow(Away), value: Closing, source: FromSensor, last: Down},
		moment{at: 14, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
		moment{at: 15, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse}, // without a warning
	))
}

// TestAWarnedCloseIsGivenUp: whatever happens at the door meanwhile.
func TestAWarnedCloseIsGivenUp(t *testing.T) {
	asked := moment{at: 1, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, effect: Warn}
	never := moment{at: 6, in: Tick{}, value: Open, source: FromSensor, last: Up}
	for name, then := range map[string][]moment{
		"somebody moves it": {
			{at: 3, in: openNow(Away), value: Closing, source: FromSensor, last: Down, effect: Quiet},
			{at: 6, in: Tick{}, value: Closing, source: FromSensor, last: Down},
		},
		"something is in the way": {
			{at: 3, in: Obstruction{true}, value: Open, source: FromSensor, last: Up, effect: Quiet},
			{at: 4, in: Obstruction{false}, value: Open, source: FromSensor, last: Up}, never,
		},
		"a sensor is lost": {{at: 3, in: openNow(Lost), effect: Quiet}, {at: 6, in: Tick{}}},
		"it is asked to open": {
			{at: 3, in: Asked{DoOpen}, value: Open, source: FromSensor, last: Up, effect: Quiet}, never,
		},
		"it is asked to stop": {
			{at: 3, in: Asked{DoStop}, value: Open, source: FromSensor, last: Up, effect: Quiet}, never,
		},
		"the machine slept over it": {
			{at: 8.1, in: Tick{}, value: Open, source: FromSensor, last: Up, effect: Quiet},
			{at: 9, in: Tick{}, value: Open, source: FromSensor, last: Up},
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, warned, append(opened(asked), then...)) })
	}
}

// TestAskingAgainWhenTheWarningIsLongOver: the machine slept over the first request, and
// the second begins anew.
func TestAskingAgainWhenTheWarningIsLongOver(t *testing.T) {
	play(t, warned, opened(
		moment{at: 1, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, effect: Warn},
		moment{at: 60, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, effect: Warn},
		moment{at: 64, in: Tick{}, value: Open, source: FromSensor, last: Up},
		moment{at: 65, in: Tick{}, value: Closing, last: Down, effect: Pulse},
	))
	play(t, warned, opened(
		moment{at: 1, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, effect: Warn},
		moment{at: 60, in: Asked{DoOpen}, value: Open, source: FromSensor, last: Up, effect: Quiet},
		moment{at: 65, in: Tick{}, value: Open, source: FromSensor, last: Up},
	))
}

// TestARequestAtTheMomentOfAWarnedClose: whichever comes first, nothing is told to move
// without an effect, and nothing moves twice.
func TestARequestAtTheMomentOfAWarnedClose(t *testing.T) {
	alone := oneButtonOneSensor
	alone.SoleControl, alone.Warning = true, 5*time.Second
	for _, late := range []float64{0, 0.001, 1.9} {
		opened := []moment{
			{at: 0, in: closedNow(At), value: Closed, source: FromSensor, last: Down},
			{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: Pulse},
			{at: 2, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
			{at: 14.5, in: Tick{}, value: Open, last: Up},
			{at: 20, in: Asked{DoClose}, value: Open, last: Up, effect: Warn},
		}
		for _, a := range []Action{DoOpen, DoStop} {
			play(t, alone, append(opened,
				moment{at: 25 + late, in: Asked{a}, value: Open, last: Up, effect: Quiet},
				moment{at: 27, in: Tick{}, value: Open, last: Up},
				moment{at: 28, in: Asked{DoClose}, value: Open, last: Up, effect: Warn},
			))
		}
		play(t, alone, append(opened,
			moment{at: 25 + late, in: Asked{DoClose}, value: Closing, last: Down, effect: Pulse},
			moment{at: 27, in: Tick{}, value: Closing, last: Down},
		))
	}
}

// TestADiscreteDoorIsStoppedAlsoWhileItIsWarned: what was asked is done, and the close is off.
func TestADiscreteDoorIsStoppedAlsoWhileItIsWarned(t *testing.T) {
	discrete := discreteTwoSensors
	discrete.Warning = 5 * time.Second
	opening := []moment{
		{at: 0, in: closedNow(At)},
		{at: 0, in: openNow(Away), value: Closed, source: FromSensor, last: Down},
		{at: 1, in: Asked{DoOpen}, value: Opening, last: Up, effect: DriveOpen},
		{at: 2, in: closedNow(Away), value: Opening, source: FromSensor, last: Up},
		{at: 3, in: Asked{DoClose}, value: Opening, source: FromSensor, last: Up, effect: Warn},
	}
	play(t, discrete, append(opening,
		moment{at: 4, in: Asked{DoStop}, value: Stopped, last: Up, effect: DriveStop},
		moment{at: 8, in: Tick{}, value: Stopped, last: Up},
	))
	play(t, discrete, []moment{
		{at: 0, in: closedNow(Away)},
		{at: 0, in: openNow(At), value: Open, source: FromSensor, last: Up},
		{at: 1, in: Asked{DoClose}, value: Open, source: FromSensor, last: Up, effect: Warn},
		{at: 2, in: Asked{DoStop}, value: Open, source: FromSensor, last: Up, effect: Quiet}, // it does not move
	})
	play(t, discrete, append(opening,
		moment{at: 5, in: openNow(At), value: Open, source: FromSensor, last: Up},
		moment{at: 8, in: Tick{}, value: Closing, last: Down, effect: DriveClose},
	))
}

// TestNextTickIsWhenAWarningEnds: a runtime that sleeps until then is in time.
func TestNextTickIsWhenAWarningEnds(t *testing.T) {
	var s State
	for _, m := range opened(moment{at: 1, in: Asked{DoClose}}) {
		s, _ = warned.Step(at(m.at), s, m.in)
	}
	if next := warned.NextTick(s); !next.Equal(at(6)) {
		t.Errorf("next at %v, want %v", next, at(6))
	}
	if s, d := warned.Step(at(2), s.GiveUp(), Tick{}); d.Effect != NoEffect || s.Failure != Dropped || !warned.NextTick(s).IsZero() {
		t.Errorf("after giving up: %+v, %q", d, s.Failure)
	}
}
