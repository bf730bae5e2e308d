package door

import "time"

// State is everything the machine remembers of a door. The zero State is a door
// of which nothing is known.
type State struct {
	Value      Value
	Source     Source
	Since      time.Time // when Value began
	Last       Direction // the last movement, NoDirection when not certain
	Obstructed bool
	Failure    Failure // why Value is not what was asked for; empty where it is, or nothing was

	readings [2]Reading   // by End
	heard    [2]time.Time // when each reading was last heard
	moveEnds time.Time    // when the present movement must be over; zero when none
	departBy time.Time    // when the door must have left the end it was seen at; zero when none
	reported time.Time    // when the opener last reported
	stale    bool         // the evidence grew too old; until every fitted sensor is heard again

	told     Direction // which way the door was told to go, until it is there or has failed to; see failure.go
	toldTill time.Time // when that is over
	repeated bool      // the opener has said since that the door is still where it was

	closeAt   time.Time // when a close that is warned of begins; zero when none; see warning.go
	closeFrom Value     // where the door was when the warning began
}

// Input is one thing that happens to a door: Sensed, Reported, Obstruction,
// Asked or Tick.
type Input interface{ input() }

// Sensed is a sensor's reading: a change, or a check-in that repeats the last.
type Sensed struct {
	End     End
	Reading Reading
}

// Reported is the opener's own word on where the door is. Unknown means that
// the opener is out of reach.
type Reported struct{ Value Value }

// Obstruction says whether something is in the door's way.
type Obstruction struct{ Present bool }

// Asked is a request.
type Asked struct{ Action Action }

// Tick is time passing; it is due at State.NextTick.
type Tick struct{}

func (Sensed) input()      {}
func (Reported) input()    {}
func (Obstruction) input() {}
func (Asked) input()       {}
func (Tick) input()        {}

// Step applies one input at the time now. The Decision answers Asked; on every
// other input its effect, if any, goes on with a close that was warned of. Time that
// has passed is applied first, so a late Tick cannot make an old state look current.
func (c Config) Step(now time.Time, s State, in Input) (State, Decision) {
	s = c.pass(now, s)
	switch in := in.(type) {
	case Sensed:
		s = c.sense(now, s, in)
	case Reported:
		s = c.report(now, s, in.Value)
	case Obstruction:
		s.Obstructed = in.Present
	case Asked:
		return c.ask(now, s, in.Action)
	}
	return c.attend(now, s)
}

// SensorLost reports whether the door's state cannot be established for want of
// a sensor: a fitted one is lost or was never heard, or there is none at all
// and the opener does not report either.
func (c Config) SensorLost(s State) bool {
	if !c.ClosedSensor && !c.OpenSensor {
		return !c.Reports || s.Value == Unknown
	}
	return c.fittedShows(s, Lost) || c.fittedShows(s, Unheard)
}

// Fresh reports whether every fitted sensor was heard within FreshFor.
func (c Config) Fresh(now time.Time, s State) bool {
	at := c.staleAt(s)
	return !s.stale && (at.IsZero() || now.Before(at))
}

// NextTick returns when the state changes by time alone, zero for never.
func (c Config) NextTick(s State) time.Time {
	if s.stale {
		return s.closeAt
	}
	return earliest(s.moveEnds, s.departBy, c.staleAt(s), s.closeAt)
}

// Situation returns what a decision at the time now depends on.
func (c Config) Situation(now time.Time, s State) Situation {
	return Situation{
		Opener: c.Opener, Value: s.Value, Source: s.Source, Last: s.Last, Obstructed: s.Obstructed,
		Fresh: c.Fresh(now, s), SensorLost: c.SensorLost(s),
	}
}

func (c Config) ask(now time.Time, s State, a Action) (State, Decision) {
	if s.Warned() {
		return c.askWarned(now, s, a)
	}
	d := Decide(c.Situation(now, s), a)
	switch {
	case d.Effect == NoEffect:
		return s, d
	case a == DoStop:
		return c.stop(now, s), d
	case a == DoOpen:
		return c.depart(now, s, Up), d
	case c.Warning > 0:
		return c.warn(now, s), Decision{Effect: Warn}
	}
	return c.depart(now, s, Down), d
}

// depart records that the door was just told to move.
func (c Config) depart(now time.Time, s State, way Direction) State {
	s.moveEnds = now.Add(c.limit())
	if s.Source != Inferred && (s.Value == Closed || s.Value == Open) {
		s.departBy = now.Add(departGrace)
		s.moveEnds = s.departBy.Add(c.limit())
	}
	s.Last, s.told, s.toldTill, s.repeated = way, way, s.moveEnds, false
	return settle(now, s, moving(way), Inferred)
}

func (c Config) stop(now time.Time, s State) State {
	s.told = NoDirection
	if s.Value != Opening && s.Value != Closing {
		return s
	}
	if c.fittedShows(s, At) {
		return atEnd(now, s) // stopped before it left
	}
	s.moveEnds, s.departBy = time.Time{}, time.Time{}
	return settle(now, s, Stopped, Inferred)
}

// limit is the travel time with a quarter to spare.
func (c Config) limit() time.Duration { return c.Travel + c.Travel/4 }

func (c Config) sense(now time.Time, s State, in Sensed) State {
	if in.End == ClosedEnd && !c.ClosedSensor || in.End == OpenEnd && !c.OpenSensor {
		return s
	}
	before, wasStale := s.readings[in.End], s.stale
	s.readings[in.End], s.heard[in.End] = in.Reading, now
	s.stale = false
	s.stale = !c.Fresh(now, s)
	if s.stale || before == in.Reading && !wasStale {
		return s // another sensor is still out of date, or a check-in
	}
	if c.SensorLost(s) {
		return lose(now, s)
	}
	left := before == At && in.Reading == Away && !wasStale
	switch {
	case s.readings[ClosedEnd] == At && s.readings[OpenEnd] == At:
		return lose(now, s) // a door cannot be at both ends
	case s.readings[ClosedEnd] == At || s.readings[OpenEnd] == At:
		return atEnd(now, s).judge(Reversed)
	case left && in.End == ClosedEnd:
		return c.leave(now, s, Up)
	case left:
		return c.leave(now, s, Down)
	}
	return c.between(now, s)
}

// lose forgets everything: what happened to the door while it could not be seen
// is anybody's guess.
func lose(now time.Time, s State) State {
	s.Last, s.moveEnds, s.departBy, s.told = NoDirection, time.Time{}, time.Time{}, NoDirection
	return settle(now, s, Unknown, Inferred)
}

// atEnd settles the door at the end whose sensor shows it.
func atEnd(now time.Time, s State) State {
	s.moveEnds, s.departBy = time.Time{}, time.Time{}
	if s.readings[ClosedEnd] == At {
		s.Last = Down
		return settle(now, s, Closed, FromSensor)
	}
	s.Last = Up
	return settle(now, s, Open, FromSensor)
}

// leave begins a movement that a sensor saw: from an end there is only one way to go.
func (c Config) leave(now time.Time, s State, way Direction) State {
	s.departBy, s.moveEnds, s.Last = time.Time{}, now.Add(c.limit()), way
	return settle(now, s, moving(way), FromSensor)
}

// between is a door first seen, or seen again after a loss, at no end.
func (c Config) between(now time.Time, s State) State {
	s.Last = NoDirection
	switch {
	case c.ClosedSensor && c.OpenSensor:
		return settle(now, s, Stopped, Inferred)
	case c.ClosedSensor:
		return settle(now, s, Open, Inferred) // at least it is not closed
	}
	return lose(now, s)
}

// report takes the opener's word, unless a sensor shows the door at an end.
func (c Config) report(now time.Time, s State, v Value) State {
	if !c.Reports || c.fittedShows(s, At) || (c.ClosedSensor || c.OpenSensor) && c.SensorLost(s) {
		return s
	}
	if c.ClosedSensor && v == Closed || c.OpenSensor && v == Open {
		return s // its own sensor says otherwise; the movement's time limit goes on
	}
	s.reported = now
	if v == start(s.told) && !s.departBy.IsZero() {
		s.repeated = true // openers that warn before they move say so all the while
		return s
	}
	s.stale = s.stale && (c.ClosedSensor || c.OpenSensor)
	return s.settleReport(now, v)
}

// settleReport settles where the opener says that the door is, and judges by it what
// has become of a movement that was asked for.
func (s State) settleReport(now time.Time, v Value) State {
	told, before := s.told, s
	s.departBy, s.moveEnds = time.Time{}, time.Time{}
	switch v {
	case Unknown:
		s = lose(now, s)
		s.told = told // some openers say so first when they are asked where the door is
		return s
	case Opening, Open:
		s.Last = Up
	case Closing, Closed:
		s.Last = Down
	}
	s = settle(now, s, v, FromOpener)
	switch {
	case v == start(told) && (before.Value != moving(told) || before.Source == Inferred):
		return s.judge(DidNotMove)
	case v == Stopped:
		return s.judge(DidNotArrive)
	case v == moving(told) && told != NoDirection:
		return s
	}
	return s.judge(Reversed)
}

// pass applies what time alone does.
func (c Config) pass(now time.Time, s State) State {
	if !s.stale && !c.Fresh(now, s) {
		s.stale = true
		return lose(now, s)
	}
	if due(now, s.departBy) {
		s.departBy = time.Time{}
		switch {
		case c.fittedShows(s, At):
			return atEnd(now, s).judge(DidNotMove)
		case s.repeated:
			return s.settleReport(now, start(s.told))
		}
	}
	if due(now, s.moveEnds) {
		s = c.arrive(now, s)
	}
	if now.After(s.toldTill) {
		s.told = NoDirection // whatever happens now is not for that request
	}
	return s
}

// arrive ends a movement whose time is up. Where a sensor should have shown the
// end, something came between: the door is somewhere. Where none is fitted, the
// end is inferred. Either way the last movement is no longer certain: at an end
// without a sensor nobody sees a person stop and reverse the door at the wall.
// Only where nothing else can move the door is it still known at an inferred end, and
// then only of a movement that was asked for: one that nobody asked for cannot be, so
// that its sensor has failed, or something else moves the door after all.
// An opener that should have reported, and has said nothing, has most likely not
// done anything.
func (c Config) arrive(now time.Time, s State) State {
	s.moveEnds = time.Time{}
	if c.Reports && !c.ClosedSensor && !c.OpenSensor {
		silent := lose(now, s)
		silent.told = s.told
		return silent.judge(NotReported)
	}
	inferred := s.Value == Opening && !c.OpenSensor || s.Value == Closing && !c.ClosedSensor
	if !inferred || !c.SoleControl || s.told == NoDirection || moving(s.told) != s.Value {
		s.Last = NoDirection
	}
	switch {
	case s.Value == Opening && !c.OpenSensor:
		return settle(now, s, Open, Inferred).judge("")
	case s.Value == Closing && !c.ClosedSensor:
		return settle(now, s, Closed, Inferred).judge("")
	case s.Value == Opening || s.Value == Closing:
		return settle(now, s, Stopped, Inferred).judge(DidNotArrive)
	}
	return s
}

func (c Config) fittedShows(s State, r Reading) bool {
	return c.ClosedSensor && s.readings[ClosedEnd] == r || c.OpenSensor && s.readings[OpenEnd] == r
}

// staleAt returns when the oldest reading stops being fresh, zero for never.
func (c Config) staleAt(s State) time.Time {
	if c.FreshFor <= 0 || c.SensorLost(s) {
		return time.Time{}
	}
	var at time.Time
	for end, fitted := range [2]bool{c.ClosedSensor, c.OpenSensor} {
		if fitted {
			at = earliest(at, s.heard[end].Add(c.FreshFor))
		}
	}
	if at.IsZero() && !s.reported.IsZero() {
		at = s.reported.Add(c.FreshFor)
	}
	return at
}

func settle(now time.Time, s State, v Value, src Source) State {
	if s.Value != v {
		s.Since, s.Failure = now, ""
	}
	s.Value, s.Source = v, src
	return s
}

func moving(way Direction) Value {
	if way == Up {
		return Opening
	}
	return Closing
}

func due(now, at time.Time) bool { return !at.IsZero() && !now.Before(at) }

func earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
