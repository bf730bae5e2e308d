package protocol

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ready returns a guard that knows the time: service time 1,000,000 ms at t0.
func ready(t0 time.Time) Guard {
	g := Guard{Session: testSession}
	g.Clock.Exchanged(t0, t0, 1_000_000)
	return g
}

func order(change func(*Command)) Command {
	c := Command{Version: 1, ID: testID, Session: testSession, Sequence: 1, Door: 1, Action: "open", Deadline: 1_005_000}
	if change != nil {
		change(&c)
	}
	return c
}

func TestGuardRefuses(t *testing.T) {
	t0 := time.Now()
	rows := []struct {
		name   string
		change func(*Command)
		after  time.Duration
		reason string
		code   int
	}{
		{"a good one", nil, 0, "", 0},
		{"just in time", nil, 4990 * time.Millisecond, "", 0},
		{"late", nil, 5 * time.Second, ReasonLate, CodeUnreachable},
		{"another session's", func(c *Command) { c.Session = "ZYXWVUTSRQPONMLKJIHGFEDCBA" }, 0, ReasonSession, CodeMalformed},
		{"too far ahead", func(c *Command) { c.Deadline += 120_000 }, 0, ReasonTooFar, CodeMalformed},
		{"with a clock that went back", nil, -time.Hour, ReasonNoTime, CodeUnreachable},
		{"with an old clock", func(c *Command) { c.Deadline += 600_000 }, MaxTimeAge + time.Second, ReasonNoTime, CodeUnreachable},
	}
	for _, row := range rows {
		g := ready(t0)
		if reason, code := g.Check(order(row.change), t0.Add(row.after)); reason != row.reason || code != row.code {
			t.Errorf("%s: %q %d, want %q %d", row.name, reason, code, row.reason, row.code)
		}
	}
	var none Guard
	if reason, _ := none.Check(order(func(c *Command) { c.Session = "" }), t0); reason != ReasonSession {
		t.Errorf("the zero guard: %q", reason)
	}
	blind := Guard{Session: testSession}
	if reason, _ := blind.Check(order(nil), t0); reason != ReasonNoTime {
		t.Errorf("without the time: %q", reason)
	}
}

// TestEachSequenceNumberOnce: of any stream of commands, replayed, doubled and
// reordered, the guard passes a strictly rising sequence.
func TestEachSequenceNumberOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t0 := time.Now()
		g := ready(t0)
		highest := int64(0)
		for _, seq := range rapid.SliceOfN(rapid.Int64Range(1, 20), 1, 60).Draw(t, "sequence") {
			reason, _ := g.Check(order(func(c *Command) { c.Sequence = seq }), t0)
			if (reason == "") != (seq > highest) {
				t.Fatalf("sequence %d after %d: %q", seq, highest, reason)
			}
			highest = max(highest, seq)
		}
	})
}

// TestALateCommandUsesItsNumberUp: refused once, it stays refused when the
// network delivers it again after a new time exchange.
func TestALateCommandUsesItsNumberUp(t *testing.T) {
	t0 := time.Now()
	g := ready(t0)
	g.Check(order(nil), t0.Add(time.Minute))
	g.Clock.Exchanged(t0.Add(time.Minute), t0.Add(time.Minute), 1_000_000)
	if reason, _ := g.Check(order(nil), t0.Add(time.Minute)); reason != ReasonRepeated {
		t.Errorf("%q", reason)
	}
}

// TestNeverLate is the second promise in the controller: whatever the delays of
// the request, its answer and the command, no command passes after its deadline
// in true service time.
func TestNeverLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		within := func(name string, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
		}
		start := time.Now()
		epoch := time.Unix(0, rapid.Int64Range(1e9, 1<<60).Draw(t, "service time at start"))
		service := func(at time.Time) time.Time { return epoch.Add(at.Sub(start)) }
		slow := rapid.Int64Range(1001, 1<<40).Draw(t, "one part in which the own clock is slow")
		own := func(at time.Time) time.Time { return at.Add(-at.Sub(start) / time.Duration(slow)) }

		asked := start.Add(within("before", time.Second))
		stamped := asked.Add(within("request under way", 3*time.Second))
		received := stamped.Add(within("answer under way", 3*time.Second))
		g := Guard{Session: testSession}
		g.Clock.Exchanged(own(asked), own(received), service(stamped).UnixMilli())

		sent := received.Add(within("until sent", 100*time.Second))
		deadline := service(sent).Add(within("lifetime", 30*time.Second)).Truncate(time.Millisecond)
		arrives := sent.Add(within("command under way", time.Minute))
		reason, _ := g.Check(order(func(c *Command) { c.Deadline = deadline.UnixMilli() }), own(arrives))
		if late := service(arrives).Sub(deadline); reason == "" && late > 0 {
			t.Fatalf("acted %v late", late)
		}
	})
}

func TestSlowExchangesDoNotCount(t *testing.T) {
	t0 := time.Now()
	var c Clock
	if c.Exchanged(t0, t0.Add(MaxExchange+time.Millisecond), 5) {
		t.Error("a slow exchange was used")
	}
	if c.Exchanged(t0, t0.Add(-time.Millisecond), 5) {
		t.Error("an answer before its request was used")
	}
	if _, ok := c.Latest(t0); ok {
		t.Error("the time is known without an exchange")
	}
}
