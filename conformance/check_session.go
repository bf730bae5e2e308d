package conformance

import (
	"context"
	"slices"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel/protocol"
)

func connects(ctx context.Context, k *kit) verdict {
	_, ok := k.notes.next(ctx, 0, k.cfg.Timeout, func(n note) bool { return n.kind == joined })
	if ok {
		return passed
	}
	all, _ := k.notes.since(0)
	for _, n := range slices.Backward(all) {
		if n.is(received, packets.Connect) {
			c := n.packet.Connect
			return failed("CONNECT was refused: client id %q, user name %q; or the password is not the secret, or the will is not on the controller's own topic",
				c.ClientIdentifier, c.Username)
		}
	}
	return failed("no CONNECT within %s", k.cfg.Timeout)
}

func saysHello(ctx context.Context, k *kit) verdict {
	w := k.current()
	if w == nil {
		return skipped("no connection")
	}
	n, ok := k.notes.next(ctx, 0, answerTime, func(n note) bool { return n.wire == w && n.isPublish(protocol.TopicHello) })
	if !ok {
		return failed("no hello within %s", answerTime)
	}
	if h, ok := n.hello(); !ok {
		return failed("it is not valid: %s", n.packet.Payload)
	} else if !slices.Contains(h.Doors, k.cfg.Door) {
		return failed("door %d is not among its doors %v; choose another one with --door", k.cfg.Door, h.Doors)
	}
	return passed
}

func asksTime(ctx context.Context, k *kit) verdict {
	w := k.current()
	if w == nil {
		return skipped("no connection")
	}
	if _, _, ok := k.awaitRequest(ctx, w, 0, answerTime); !ok {
		return failed("no valid request within %s", answerTime)
	}
	return passed
}

func reportsDoors(ctx context.Context, k *kit) verdict {
	w := k.current()
	if w == nil {
		return skipped("no connection")
	}
	h, ok := k.hello(w)
	if !ok {
		return skipped("no valid hello")
	}
	return k.doorsReported(ctx, 0, w, h.Doors, answerTime)
}

// doorsReported judges that every door is reported plainly on a connection.
func (k *kit) doorsReported(ctx context.Context, mark int, w *wire, doors []int, limit time.Duration) verdict {
	v := passed
	k.notes.until(ctx, mark, limit, func(notes []note) bool {
		v = passed
		for _, door := range doors {
			if !slices.ContainsFunc(notes, func(n note) bool {
				s, ok := n.state()
				return ok && n.wire == w && s.Door == door && s.Event == ""
			}) {
				v = failed("no plain report on door %d within %s", door, limit)
			}
		}
		return v.outcome == Pass
	})
	return v
}

func choosesNewSession(ctx context.Context, k *kit) verdict {
	before, _ := k.hello(k.current())
	w, ok := k.reset(ctx)
	if !ok {
		return failed("it did not come back within %s", comeBack)
	}
	after, ok := k.awaitHello(ctx, w)
	switch {
	case !ok:
		return failed("no valid hello on the new connection")
	case after.Session == before.Session:
		return failed("both connections have the session %s", after.Session)
	}
	return passed
}

// wantedWaits is how many pauses are looked at, at least.
const wantedWaits = 3

func waitsToReconnect(ctx context.Context, k *kit) verdict {
	if k.current() == nil {
		return skipped("no connection")
	}
	for len(k.waits()) < wantedWaits {
		if _, ok := k.reset(ctx); !ok {
			return failed("it did not come back within %s", comeBack)
		}
	}
	for i, w := range k.waits() {
		if w.took < w.least || w.took > comeBack {
			return failed("pause %d was %s, and is %s to %s", i+1, w.took.Round(time.Millisecond), w.least, comeBack)
		}
	}
	return passed
}

// wait is a pause of the controller between two connections.
type wait struct{ took, least time.Duration }

const (
	firstDelay = 250 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// waits returns the pauses so far. The controller may have tried before the kit
// listened, so a pause may be longer than can be told; it may not be shorter.
func (k *kit) waits() []wait {
	all, _ := k.notes.since(0)
	var found []wait
	var began, end time.Time
	delay := firstDelay
	for _, n := range all {
		switch n.kind {
		case opened:
			if !end.IsZero() {
				found = append(found, wait{n.at.Sub(end), delay / 2})
				delay = min(2*delay, lastDelay)
			}
			began = n.at
		case ended:
			end = n.at
			if end.Sub(began) >= lastDelay-time.Second {
				delay = firstDelay
			}
		}
	}
	return found
}
