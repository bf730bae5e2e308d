package door

// Failure says why a door is not where it was asked to go. It is the reason that a
// controller gives with the change.
type Failure string

// The failures.
const (
	DidNotMove   Failure = "did_not_move"   // it is still seen, or reported, where it was
	DidNotArrive Failure = "did_not_arrive" // it left, and was not seen at the other end in its travel time
	Reversed     Failure = "reversed"       // it left, and came back or went the other way
	NotReported  Failure = "not_reported"   // the opener reports its state, and has said nothing since
	Dropped      Failure = "close_dropped"  // a close was given up while it was warned of
)

// Failures lists every Failure, for tables.
var Failures = []Failure{DidNotMove, DidNotArrive, Reversed, NotReported, Dropped}

// judge ends a movement that was asked for: with a failure, unless the door is where
// it was told to go. Where nobody asked, nothing has failed.
func (s State) judge(why Failure) State {
	told := s.told
	s.told = NoDirection
	there := told == Up && s.Value == Open || told == Down && s.Value == Closed
	if told != NoDirection && !there {
		s.Failure = why
	}
	return s
}

// Pending reports whether a movement that was asked for is under way, or is warned of.
func (s State) Pending() bool { return s.told != NoDirection || !s.closeAt.IsZero() }

// start returns the end that a movement leaves.
func start(way Direction) Value { return [...]Value{Unknown, Closed, Open}[way] }
