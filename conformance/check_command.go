package conformance

import (
	"context"
	"slices"

	"lintel/protocol"
)

// strangeSession is the session of nobody.
const strangeSession = "a-session-of-nobody-at-all"

func answers(ctx context.Context, k *kit) verdict {
	c := k.command(k.stay())
	mark := k.send(protocol.Encode(&c), c.ID)
	n, ok := k.notes.next(ctx, mark, answerTime, func(n note) bool { return n.isPublish(protocol.TopicAck) })
	if !ok {
		return failed("no answer within %s", answerTime)
	}
	a, valid := n.ack()
	switch {
	case !valid:
		return failed("the answer is not valid: %s", n.packet.Payload)
	case a.ID != c.ID:
		return failed("the answer to %s names %s", c.ID, a.ID)
	case a.Session != c.Session:
		return failed("the answer is of the session %s, the present one is %s", a.Session, c.Session)
	}
	return passed
}

// changed judges that a command, changed so, is refused.
func changed(ctx context.Context, k *kit, code int, reason string, change func(*protocol.Command)) verdict {
	c := k.command(k.tempting(ctx))
	change(&c)
	return k.refused(ctx, protocol.Encode(&c), c.ID, code, reason)
}

func refusesOtherSession(ctx context.Context, k *kit) verdict {
	return changed(ctx, k, protocol.CodeMalformed, protocol.ReasonSession, func(c *protocol.Command) { c.Session = strangeSession })
}

func refusesLate(ctx context.Context, k *kit) verdict {
	return changed(ctx, k, protocol.CodeUnreachable, protocol.ReasonLate, func(c *protocol.Command) { c.Deadline = k.inService(-slack) })
}

// refusesTooFar goes so far beyond the limit that the controller's estimate of the
// time, which may be ahead, does not matter.
func refusesTooFar(ctx context.Context, k *kit) verdict {
	return changed(ctx, k, protocol.CodeMalformed, protocol.ReasonTooFar, func(c *protocol.Command) {
		c.Deadline = k.inService(protocol.MaxLead + answerTime)
	})
}

func refusesRepeated(ctx context.Context, k *kit) verdict {
	c := k.command(k.stay())
	payload := protocol.Encode(&c)
	return firstFailure(
		func() verdict { return k.taken(ctx, payload, c.ID) },
		func() verdict { return k.refused(ctx, payload, c.ID, protocol.CodeMalformed, protocol.ReasonRepeated) })
}

func refusesOutOfOrder(ctx context.Context, k *kit) verdict {
	earlier := k.command(k.tempting(ctx))
	later := k.command(k.stay())
	return firstFailure(
		func() verdict { return k.taken(ctx, protocol.Encode(&later), later.ID) },
		func() verdict {
			return k.refused(ctx, protocol.Encode(&earlier), earlier.ID, protocol.CodeMalformed, protocol.ReasonRepeated)
		})
}

func usesSequenceUp(ctx context.Context, k *kit) verdict {
	var used int64
	return firstFailure(
		func() verdict {
			return changed(ctx, k, protocol.CodeUnreachable, protocol.ReasonLate, func(c *protocol.Command) {
				used, c.Deadline = c.Sequence, k.inService(-slack)
			})
		},
		func() verdict {
			return changed(ctx, k, protocol.CodeMalformed, protocol.ReasonRepeated, func(c *protocol.Command) { c.Sequence = used })
		})
}

func refusesNoSuchDoor(ctx context.Context, k *kit) verdict {
	hello, _ := k.hello(k.current())
	for n := protocol.MaxDoors; n > 0; n-- {
		if !slices.Contains(hello.Doors, n) {
			return changed(ctx, k, protocol.CodeUnsupported, protocol.ReasonNoDoor, func(c *protocol.Command) { c.Door = n })
		}
	}
	return skipped("it has every door that there can be")
}

func ignoresRetained(ctx context.Context, k *kit) verdict {
	c := k.command(k.tempting(ctx))
	mark := k.sendRetained(protocol.Encode(&c))
	return k.nothing(ctx, mark, func(protocol.Ack) bool { return true })
}
