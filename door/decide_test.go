package door

import "testing"

// every calls visit with every situation there is.
func every(visit func(Situation)) {
	for _, opener := range Openers {
		for _, value := range Values {
			for _, source := range Sources {
				for _, last := range Directions {
					for flags := range 8 {
						visit(Situation{Opener: opener, Value: value, Source: source, Last: last,
							Fresh: flags&1 == 0, SensorLost: flags&2 != 0, Obstructed: flags&4 != 0})
					}
				}
			}
		}
	}
}

// world is where a door physically is, and what its one-button opener remembers.
// It is a second, independent account of openers: Decide does not know it.
type world struct {
	position int       // 0 closed, 1 between, 2 open
	motion   Direction // NoDirection at rest
	memory   Direction // the last movement
}

// worlds returns every world that is consistent with what a situation claims.
func worlds(s Situation) []world {
	var possible []world
	for position := range 3 {
		for _, motion := range Directions {
			for _, memory := range []Direction{Up, Down} {
				w := world{position, motion, memory}
				if w.exists() && w.explains(s) {
					possible = append(possible, w)
				}
			}
		}
	}
	return possible
}

// exists: a moving door remembers its movement and is not past its end.
func (w world) exists() bool {
	switch w.motion {
	case Up:
		return w.memory == Up && w.position != 2
	case Down:
		return w.memory == Down && w.position != 0
	}
	return true
}

// explains reports whether the world could look like the situation. Nothing is
// believed of a situation that is stale, lost or unknown; a moving door may have
// been stopped by somebody since.
func (w world) explains(s Situation) bool {
	if !s.Fresh || s.SensorLost || s.Value == Unknown {
		return true
	}
	evidence := s.Source != Inferred
	remembers := s.Last == NoDirection || w.memory == s.Last
	resting := w.motion == NoDirection
	switch s.Value {
	case Closed:
		return resting && (evidence && w.position == 0 || !evidence && w.position != 2 && remembers)
	case Open:
		return resting && (evidence && w.position == 2 || !evidence && w.position != 0 && remembers)
	case Opening:
		return w.motion == Up || resting && (w.memory == Up || w.position == 0)
	case Closing:
		return w.motion == Down || resting && (w.memory == Down || w.position == 2)
	}
	return resting && w.position == 1 && remembers
}

// after returns the ways a door may move once an effect has been carried out.
// Real one-button openers differ in what a pulse does to a closing door: some
// stop it, some send it up again.
func (w world) after(e Effect) []Direction {
	switch e {
	case DriveOpen:
		return []Direction{Up}
	case DriveClose:
		return []Direction{Down}
	case DriveStop:
		return []Direction{NoDirection}
	case NoEffect:
		return []Direction{w.motion}
	}
	switch {
	case w.motion == Up:
		return []Direction{NoDirection}
	case w.motion == Down:
		return []Direction{NoDirection, Up}
	case w.position == 0:
		return []Direction{Up}
	case w.position == 2:
		return []Direction{Down}
	}
	return []Direction{w.memory.opposite()}
}

// TestNoWrongWay is the first promise: whatever the service believes, and
// whatever the door is really doing, nothing it does on a request to close
// moves a door up, and nothing on a request to open moves one down.
func TestNoWrongWay(t *testing.T) {
	checked := 0
	every(func(s Situation) {
		for action, wrong := range map[Action]Direction{DoOpen: Down, DoClose: Up} {
			d := Decide(s, action)
			if d.Refusal != "" || d.Effect == NoEffect {
				continue
			}
			for _, w := range worlds(s) {
				checked++
				for _, way := range w.after(d.Effect) {
					if way == wrong {
						t.Errorf("%s in %+v: %s moves the door %s in %+v", action, s, d.Effect, way, w)
					}
				}
			}
		}
	})
	if checked < 100 {
		t.Fatalf("only %d effects were checked", checked)
	}
}

// TestDecisionsAreWellFormed: an effect or a refusal, never both; an effect that
// the opener has; nothing to do only where the door is there or on its way.
func TestDecisionsAreWellFormed(t *testing.T) {
	every(func(s Situation) {
		for _, a := range Actions {
			d := Decide(s, a)
			if d.Refusal != "" && d.Effect != NoEffect {
				t.Errorf("%s in %+v: both %s and %s", a, s, d.Effect, d.Refusal)
			}
			if d.Effect == Pulse && s.Opener != OneButton || d.Effect > Pulse && s.Opener != Discrete {
				t.Errorf("%s in %+v: the opener cannot %s", a, s, d.Effect)
			}
			if d == (Decision{}) && !there(s, a) {
				t.Errorf("%s in %+v: nothing to do, but the door is not there", a, s)
			}
		}
	})
}

// there reports whether a request may be answered with nothing done.
func there(s Situation, a Action) bool {
	if s.SensorLost || !s.Fresh {
		return false
	}
	if a == DoOpen {
		return s.Value == Open || s.Value == Opening
	}
	return a == DoClose && (s.Value == Closing || s.Value == Closed && s.Source != Inferred)
}

// TestRefusesWithoutEvidence: no opener is moved on stale, lost or unknown state.
func TestRefusesWithoutEvidence(t *testing.T) {
	every(func(s Situation) {
		if s.Fresh && !s.SensorLost && s.Value != Unknown {
			return
		}
		for _, a := range []Action{DoOpen, DoClose} {
			if d := Decide(s, a); d.Refusal == "" {
				t.Errorf("%s in %+v: %s", a, s, d.Effect)
			}
		}
	})
}

// TestEveryDecisionOccurs: a rule that no situation reaches would be dead.
func TestEveryDecisionOccurs(t *testing.T) {
	seen := map[Decision]bool{}
	every(func(s Situation) {
		for _, a := range Actions {
			seen[Decide(s, a)] = true
		}
	})
	for _, e := range []Effect{NoEffect, Pulse, DriveOpen, DriveClose, DriveStop} {
		if !seen[Decision{Effect: e}] {
			t.Errorf("no situation leads to %s", e)
		}
	}
	for _, r := range []Refusal{RefuseUnsupported, RefuseSensor, RefuseStale, RefuseUnknown, RefuseMoving, RefuseWrongWay, RefuseObstructed} {
		if !seen[Decision{Refusal: r}] {
			t.Errorf("no situation leads to %s", r)
		}
	}
}
