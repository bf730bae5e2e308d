package conformance

import (
	"context"

	"lintel"
	"lintel/broker"
	"lintel/protocol"
)

// AuthenticateController implements broker.Authenticator for the one controller.
func (k *kit) AuthenticateController(_ context.Context, controller lintel.ID, given string) (broker.Rules, bool, error) {
	return broker.Rules{}, controller == k.cfg.Controller && given == k.cfg.Secret, nil
}

// Connected implements broker.Handler.
func (k *kit) Connected(c *broker.Connection) {
	k.mu.Lock()
	w := k.wires[c.Remote]
	w.link, k.live = c, w
	k.mu.Unlock()
	w.harden()
	k.note(note{kind: joined, wire: w})
}

// Subscribed implements broker.Handler.
func (k *kit) Subscribed(*broker.Connection) {}

// Received implements broker.Handler. Messages that are not valid do not end the
// connection here, as they do at the service: there are more rules to judge.
func (k *kit) Received(c *broker.Connection, name string, payload []byte) {
	k.mu.Lock()
	w, mute, withhold := k.wires[c.Remote], k.mute, k.withhold
	k.mu.Unlock()
	switch name {
	case protocol.TopicTimeRequest:
		if m, err := protocol.Decode[protocol.TimeRequest](payload); err == nil && !mute {
			k.tellTime(w, m.Session, m.Nonce)
		}
	case protocol.TopicState:
		if m, err := protocol.Decode[protocol.State](payload); err == nil && m.Event != "" && withhold {
			k.mu.Lock()
			k.withhold = false
			k.mu.Unlock()
			c.Reset()
		}
	}
}

// Disconnected implements broker.Handler.
func (k *kit) Disconnected(c *broker.Connection) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.wires[c.Remote]
	delete(k.wires, c.Remote)
	if k.live == w {
		k.live = nil
	}
}

func (k *kit) note(n note) {
	n.at = k.cfg.Now()
	k.notes.add(n)
}

func (k *kit) opened(w *wire) {
	k.mu.Lock()
	k.wires[w.RemoteAddr().String()] = w
	k.mu.Unlock()
	k.note(note{kind: opened, wire: w})
}

// current returns the live connection, nil for none.
func (k *kit) current() *wire {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.live
}

func (k *kit) setMute(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mute = on
}

func (k *kit) setWithhold(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.withhold = on
}

// serviceTime is the kit's, in milliseconds. It is far from the wall clock.
func (k *kit) serviceTime() int64 { return k.cfg.Now().Add(ahead).UnixMilli() }

// tellTime answers a time/request.
func (k *kit) tellTime(w *wire, session string, nonce int64) {
	k.note(note{kind: told, wire: w})
	_ = k.linkOf(w).Send(protocol.TopicTime, protocol.Encode(&protocol.Time{
		Version: protocol.Version, Session: session, Nonce: nonce, Now: k.serviceTime(),
	}))
}

func (k *kit) linkOf(w *wire) *broker.Connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	return w.link
}

// reset ends the connection as the service does, and waits for the next one.
func (k *kit) reset(ctx context.Context) (next *wire, ok bool) {
	mark := k.notes.mark()
	if w := k.current(); w != nil {
		k.linkOf(w).Reset()
	}
	n, ok := k.notes.next(ctx, mark, comeBack, func(n note) bool { return n.kind == joined })
	return n.wire, ok
}
