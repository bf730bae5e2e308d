package conformance

import (
	"context"

	"lintel/protocol"
)

func reportsChange(ctx context.Context, k *kit) verdict {
	c, mark, v := k.move(ctx)
	if v.outcome != Pass {
		return v
	}
	n, ok := k.notes.next(ctx, mark, answerTime, k.isChange)
	s, _ := n.state()
	switch {
	case !ok:
		return failed("no change was reported within %s", answerTime)
	case s.Cause != "command" || s.Command != c.ID:
		return failed("the change to %s has cause %q and command %q, and the command was %s", s.Value, s.Cause, s.Command, c.ID)
	}
	k.atRest(ctx)
	if value := k.value(); value == "opening" || value == "closing" {
		return failed("the door is still %s after %s", value, k.cfg.Travel)
	}
	return passed
}

// finish waits until a movement that was taken has been reported, and is over.
func (k *kit) finish(ctx context.Context, mark int) {
	k.notes.next(ctx, mark, answerTime, k.isChange)
	k.atRest(ctx)
}

// isChange reports whether a note is a report of a change of the door.
func (k *kit) isChange(n note) bool {
	s, ok := n.state()
	return ok && s.Door == k.cfg.Door && s.Event != ""
}

func answersFirst(ctx context.Context, k *kit) verdict {
	c, mark, v := k.move(ctx)
	if v.outcome != Pass {
		return v
	}
	k.finish(ctx, mark)
	notes, _ := k.notes.since(mark)
	for _, n := range notes {
		if a, ok := n.ack(); ok && a.ID == c.ID {
			return passed
		}
		if s, ok := n.state(); ok && s.Command == c.ID {
			return failed("%s was reported before the answer", s.Value)
		}
	}
	return passed
}

func reportsOften(ctx context.Context, k *kit) verdict {
	k.atRest(ctx)
	hello, _ := k.hello(k.current())
	return k.doorsReported(ctx, k.notes.mark(), k.current(), hello.Doors, protocol.ReportEvery+slack)
}

// repeatsEvent ends the connection on a change instead of confirming it.
func repeatsEvent(ctx context.Context, k *kit) verdict {
	k.atRest(ctx) // or the end of an earlier movement would be the change
	k.settled(ctx)
	k.setWithhold(true)
	defer k.setWithhold(false)
	_, mark, v := k.move(ctx)
	if v.outcome != Pass {
		return v
	}
	first, ok := k.notes.next(ctx, mark, answerTime, k.isChange)
	if !ok {
		return failed("no change was reported within %s", answerTime)
	}
	again, ok := k.notes.next(ctx, mark, comeBack, func(n note) bool { return n.kind == joined })
	if !ok {
		return failed("it did not come back within %s", comeBack)
	}
	return k.repeated(ctx, first, again.wire)
}

// repeated judges what comes on a connection after a change was not confirmed.
func (k *kit) repeated(ctx context.Context, first note, w *wire) verdict {
	was, _ := first.state()
	repeat := func(n note) bool {
		s, ok := n.state()
		return ok && n.wire == w && s.Event == was.Event
	}
	n, ok := k.notes.next(ctx, 0, answerTime, repeat)
	s, _ := n.state()
	switch {
	case !ok:
		return failed("event %s did not come again within %s", was.Event, answerTime)
	case s.Value != was.Value || s.Cause != was.Cause || s.Command != was.Command || s.Door != was.Door:
		return failed("event %s came again with other content: %s", was.Event, n.packet.Payload)
	}
	_, ok = k.notes.next(ctx, 0, answerTime, func(n note) bool {
		later, ok := n.state()
		return ok && n.wire == w && later.Sequence > s.Sequence && later.Door == s.Door && later.Event == ""
	})
	if !ok {
		return failed("no plain report on door %d came after the repeated change", s.Door)
	}
	return passed
}
