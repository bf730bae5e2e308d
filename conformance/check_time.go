package conformance

import (
	"context"
	"time"

	"lintel/protocol"
)

func keepsServiceTime(ctx context.Context, k *kit) verdict {
	return firstFailure(
		func() verdict {
			c := k.command(k.stay())
			v := k.taken(ctx, protocol.Encode(&c), c.ID)
			if v.outcome == Fail {
				v.seen = "a deadline in service time: " + v.seen
			}
			return v
		},
		func() verdict {
			c := k.command(k.tempting(ctx))
			c.Deadline = k.cfg.Wall().Add(deadline).UnixMilli()
			v := k.refused(ctx, protocol.Encode(&c), c.ID, protocol.CodeUnreachable, protocol.ReasonLate)
			if v.outcome == Fail {
				v.seen = "a deadline by the wall clock: " + v.seen
			}
			return v
		})
}

func asksOften(ctx context.Context, k *kit) verdict {
	limit := protocol.TimeEvery + slack
	if _, _, ok := k.awaitRequest(ctx, k.current(), k.notes.mark(), limit); !ok {
		return failed("no valid request within %s", limit)
	}
	return passed
}

// refusesWithoutTime leaves the controller without the time, for the two rules
// that follow.
func refusesWithoutTime(ctx context.Context, k *kit) verdict {
	action := k.tempting(ctx)
	k.setMute(true)
	w, ok := k.reset(ctx)
	if !ok {
		return failed("it did not come back within %s", comeBack)
	}
	if _, ok := k.awaitHello(ctx, w); !ok {
		return failed("no valid hello on the new connection")
	}
	return k.refusedWithoutTime(ctx, action)
}

func (k *kit) refusedWithoutTime(ctx context.Context, action string) verdict {
	c := k.command(action)
	return k.refused(ctx, protocol.Encode(&c), c.ID, protocol.CodeUnreachable, protocol.ReasonNoTime)
}

// unanswered returns the time request that the controller waits for an answer to.
func (k *kit) unanswered(ctx context.Context) (w *wire, m protocol.TimeRequest, asked time.Time, ok bool) {
	w = k.current()
	if w == nil || w == k.broken {
		return nil, m, asked, false
	}
	for _, n := range k.notes.on(w) {
		if n.kind == told {
			return nil, m, asked, false
		}
	}
	m, n, ok := k.awaitRequest(ctx, w, 0, answerTime)
	return w, m, n.at, ok
}

func ignoresForeignTime(ctx context.Context, k *kit) verdict {
	w, m, _, ok := k.unanswered(ctx)
	if !ok {
		return skipped("no connection on which the time was asked for and not told")
	}
	right := protocol.Time{Version: protocol.Version, Session: m.Session, Nonce: m.Nonce, Now: k.serviceTime()}
	otherNonce, otherSession, invalid := right, right, right
	otherNonce.Nonce++
	otherSession.Session = strangeSession
	for _, t := range []protocol.Time{otherNonce, otherSession} {
		_ = k.linkOf(w).Send(protocol.TopicTime, protocol.Encode(&t))
	}
	payload := protocol.Encode(&invalid)
	_ = k.linkOf(w).Send(protocol.TopicTime, payload[:len(payload)-1])
	return k.refusedWithoutTime(ctx, k.tempting(ctx))
}

func asksAgain(ctx context.Context, k *kit) verdict {
	defer k.setMute(false)
	w, m, asked, ok := k.unanswered(ctx)
	if !ok {
		return skipped("no connection on which the time was asked for and not told")
	}
	pause(ctx, protocol.MaxExchange+slack/2-k.cfg.Now().Sub(asked))
	k.setMute(false)
	mark := k.notes.mark()
	_ = k.linkOf(w).Send(protocol.TopicTime, protocol.Encode(&protocol.Time{
		Version: protocol.Version, Session: m.Session, Nonce: m.Nonce, Now: k.serviceTime(),
	}))
	if _, _, ok := k.awaitRequest(ctx, w, mark, answerTime); !ok {
		return failed("no new request within %s", answerTime)
	}
	return passed
}
