package protocol

import "time"

// The reasons by which a controller refuses a command before it looks at the door.
const (
	ReasonMalformed = "malformed"     // not a valid Command
	ReasonSession   = "wrong_session" // made for another connection
	ReasonRepeated  = "repeated"      // its sequence number was seen, or a higher one
	ReasonLate      = "late"          // its deadline has passed, or may have
	ReasonTooFar    = "too_far_ahead" // its deadline is more than MaxLead ahead
	ReasonNoTime    = "no_time"       // the service's time is not known well enough
	ReasonNoDoor    = "no_such_door"  // the controller has no door of that number
)

// MaxTimeAge is how old a time exchange may be for deadlines to be judged by it.
const MaxTimeAge = 5 * time.Minute

// MaxExchange is the longest round trip of a time exchange that counts.
const MaxExchange = 2 * time.Second

// Clock is a controller's knowledge of service time, from its own monotonic
// clock and the last exchange. Steps of either side's wall clock do not touch it.
// The own clock must go on while the machine is suspended.
type Clock struct {
	asked   time.Time // own clock, when the answered request left
	service int64     // service time in the answer, ms
	known   bool
}

// Exchanged records an answer that said the service time now (ms) to a request
// that left at asked and came back at received, both by the controller's own
// monotonic clock. An exchange longer than MaxExchange is not used.
func (c *Clock) Exchanged(asked, received time.Time, now int64) bool {
	trip := received.Sub(asked)
	if trip < 0 || trip > MaxExchange {
		return false
	}
	*c = Clock{asked: asked, service: now, known: true}
	return true
}

// Latest returns the latest that service time (ms) can be at the own time t:
// the answer was made after the request left, so no more than t-asked has
// passed since. Against it no command can act late, however slow the network.
// It is false when there was no exchange within MaxTimeAge, and when the own clock
// has gone back behind the exchange: then it says nothing of what has passed.
func (c *Clock) Latest(t time.Time) (int64, bool) {
	since := t.Sub(c.asked)
	if !c.known || since < 0 || since > MaxTimeAge {
		return 0, false
	}
	since += since / slowestClock
	return c.service + 1 + int64((since+time.Millisecond-1)/time.Millisecond), true // both rounded up
}

// slowestClock is by which part the controller's clock may be slow: a
// thousandth, ten times what a crystal is.
const slowestClock = 1000

// Guard decides whether a command may be looked at, for one session. The zero
// Guard refuses everything.
type Guard struct {
	Session string
	Clock   Clock
	highest int64
}

// Check returns "" for a command that may be acted on at the own time t, and
// else the reason and the answer code. A command that passes, or is refused for
// anything but its session, uses its sequence number up.
func (g *Guard) Check(c Command, t time.Time) (reason string, code int) {
	if g.Session == "" || c.Session != g.Session {
		return ReasonSession, CodeMalformed
	}
	if c.Sequence <= g.highest {
		return ReasonRepeated, CodeMalformed
	}
	g.highest = c.Sequence
	now, ok := g.Clock.Latest(t)
	switch {
	case !ok:
		return ReasonNoTime, CodeUnreachable
	case now > c.Deadline:
		return ReasonLate, CodeUnreachable
	case c.Deadline > now+MaxLead.Milliseconds():
		return ReasonTooFar, CodeMalformed
	}
	return "", 0
}
