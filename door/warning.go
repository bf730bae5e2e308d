package door

import "time"

// A close that nobody at the door may have asked for is warned of first, by light
// and sound, for at least 5 s (16 CFR 1211.14). Whether the door may close is decided
// twice: when it is asked for, and when the warning is over.

// lateBy is how much later than due a warned close may still begin. A machine that
// was suspended meanwhile must not close the door when it wakes.
const lateBy = 2 * time.Second

// warn begins a warning.
func (c Config) warn(now time.Time, s State) State {
	s.closeAt, s.closeFrom, s.Failure = now.Add(c.Warning), s.Value, ""
	return s
}

// attend goes on with a close that is warned of: begins it when its time has come,
// and gives it up as soon as the door could not be closed now, or has been moved by
// somebody else. A door that was on its way up may arrive there.
func (c Config) attend(now time.Time, s State) (State, Decision) {
	if !s.Warned() {
		return s, Decision{}
	}
	d := Decide(c.Situation(now, s), DoClose)
	moved := s.Value != s.closeFrom && !(s.closeFrom == Opening && s.Value == Open)
	switch {
	case d.Effect == NoEffect || moved || now.After(s.closeAt.Add(lateBy)):
		return s.dropClose(Dropped), Decision{Effect: Quiet}
	case now.Before(s.closeAt):
		return s, Decision{}
	}
	s.closeAt = time.Time{}
	return c.depart(now, s, Down), d
}

// Warned reports whether a close is warned of.
func (s State) Warned() bool { return !s.closeAt.IsZero() }

// askWarned answers a request during the warning: to close, that is under way, unless it
// has to be given up by now; any other gives it up. Where the door does not move, a stop
// needs no more than that.
func (c Config) askWarned(now time.Time, s State, a Action) (State, Decision) {
	if a == DoClose {
		s, d := c.attend(now, s)
		if d.Effect == Quiet {
			return c.again(now, s, a)
		}
		return s, d
	}
	s = s.dropClose("")
	if a == DoStop && s.Value != Opening && s.Value != Closing {
		return s, Decision{Effect: Quiet}
	}
	return c.again(now, s, a)
}

// again decides on a request that ended a warning.
func (c Config) again(now time.Time, s State, a Action) (State, Decision) {
	s, d := c.ask(now, s, a)
	switch {
	case a == DoStop && d.Refusal != "":
		return s, Decision{Effect: Quiet} // the warning is what was stopped
	case d.Effect == NoEffect:
		d.Effect = Quiet
	}
	return s, d
}

func (s State) dropClose(why Failure) State {
	s.closeAt, s.Failure = time.Time{}, why
	return s
}

// GiveUp returns the state without the close that was warned of: the hardware could
// not begin it.
func (s State) GiveUp() State {
	if !s.Warned() {
		return s
	}
	return s.dropClose(Dropped)
}
