package conformance

import (
	"context"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel/protocol"
)

// ready waits until the controller has a session in which commands can be judged.
// What was waited for once in vain on a connection is not waited for again.
func (k *kit) ready(ctx context.Context) bool {
	w := k.current()
	if w == nil {
		mark := k.notes.mark()
		if w = k.current(); w == nil && k.everJoined() {
			n, _ := k.notes.next(ctx, mark, comeBack, func(n note) bool { return n.kind == joined })
			w = n.wire
		}
	}
	if w == nil || w == k.broken {
		return false
	}
	if !k.notes.until(ctx, 0, answerTime, func([]note) bool { return k.inSession(w) }) {
		k.broken = w
		return false
	}
	return true
}

func (k *kit) everJoined() bool {
	all, _ := k.notes.since(0)
	for _, n := range all {
		if n.kind == joined {
			return true
		}
	}
	return false
}

// inSession reports whether a connection has all that commands need.
func (k *kit) inSession(w *wire) bool {
	var hello, time, door bool
	for _, n := range k.notes.on(w) {
		_, said := n.hello()
		hello = hello || said
		time = time || n.kind == told
		s, ok := n.state()
		door = door || ok && s.Door == k.cfg.Door
	}
	return hello && time && door
}

// hello returns the hello of a connection.
func (k *kit) hello(w *wire) (protocol.Hello, bool) {
	for _, n := range k.notes.on(w) {
		if h, ok := n.hello(); ok {
			return h, true
		}
	}
	return protocol.Hello{}, false
}

// awaitHello waits for the hello of a connection.
func (k *kit) awaitHello(ctx context.Context, w *wire) (protocol.Hello, bool) {
	k.notes.until(ctx, 0, answerTime, func([]note) bool {
		_, ok := k.hello(w)
		return ok
	})
	return k.hello(w)
}

// awaitRequest waits for a time/request on a connection, from a mark on.
func (k *kit) awaitRequest(ctx context.Context, w *wire, mark int, limit time.Duration) (protocol.TimeRequest, note, bool) {
	n, ok := k.notes.next(ctx, mark, limit, func(n note) bool {
		_, asked := message[protocol.TimeRequest](n, protocol.TopicTimeRequest)
		return asked && n.wire == w
	})
	m, _ := message[protocol.TimeRequest](n, protocol.TopicTimeRequest)
	return m, n, ok
}

// value is where the door was last said to be; unknown where it was not.
func (k *kit) value() string {
	all, _ := k.notes.since(0)
	for i := len(all) - 1; i >= 0; i-- {
		if s, ok := all[i].state(); ok && s.Door == k.cfg.Door {
			return s.Value
		}
	}
	return "unknown"
}

// atRest waits until the door does not move.
func (k *kit) atRest(ctx context.Context) {
	k.notes.until(ctx, 0, k.cfg.Travel+slack, func([]note) bool {
		v := k.value()
		return v != "opening" && v != "closing"
	})
}

// settled waits until everything that the controller wanted confirmed on its connection
// has been: what it said is dealt with a moment after it is noted.
func (k *kit) settled(ctx context.Context) {
	w := k.current()
	k.notes.until(ctx, 0, answerTime, func(notes []note) bool {
		open := 0
		for _, n := range notes {
			switch {
			case n.wire != w:
			case n.is(received, packets.Publish) && n.packet.FixedHeader.Qos == 1:
				open++
			case n.is(written, packets.Puback):
				open--
			}
		}
		return open <= 0
	})
}

// stay is what to ask for so that the door stays where it is.
func (k *kit) stay() string {
	switch k.value() {
	case "closed":
		return "close"
	case "open":
		return "open"
	}
	return "stop"
}

// away is what to ask for so that the door moves; empty where it is at neither end.
func (k *kit) away() string {
	switch k.value() {
	case "closed":
		return "open"
	case "open":
		return "close"
	}
	return ""
}

// tempting is what to ask for in a command that must be refused: a movement, if
// the door may be moved, so that it shows when the controller acts.
func (k *kit) tempting(ctx context.Context) string {
	k.atRest(ctx)
	if away := k.away(); k.cfg.Move && away != "" {
		return away
	}
	return k.stay()
}

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
