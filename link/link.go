// Package link speaks the controller protocol on the service's side: sessions,
// sequence numbers and deadlines, between the broker's connections and control.
package link

import (
	"context"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lintel"
	"lintel/broker"
	"lintel/control"
	"lintel/protocol"
)

// Doors is who is told what controllers say. control.Service implements it.
type Doors interface {
	SessionBegan(ctx context.Context, controller lintel.ID, firmware string) (control.Session, error)
	SessionEnded(ctx context.Context, controller lintel.ID, number int64)
	Answered(ctx context.Context, controller lintel.ID, a control.Answer)
	Reported(ctx context.Context, controller lintel.ID, r control.Report) error
}

// Peer is one connection of a controller that speaks the controller protocol:
// broker.Connection is one.
type Peer interface {
	ID() lintel.ID
	// Send writes a message to the controller now, or fails.
	Send(name string, payload []byte) error
	// Subscribed reports whether the controller takes what is sent under a name.
	Subscribed(name string) bool
	Ended() bool
	// Reset ends the connection so that what was sent dies with it.
	Reset()
}

// Link keeps the live sessions. It implements broker.Handler and control.Link,
// and is safe for concurrent use.
type Link struct {
	doors  Doors
	wall   func() time.Time // for what is recorded
	steady func() time.Time // service time: a clock that never steps
	log    *slog.Logger

	// hellos let one hello of a controller through at a time, so that sessions
	// begin in the order of their connections; striped, so that a fleet coming
	// back shares commits.
	hellos [64]sync.Mutex
	seed   maphash.Seed

	mu       sync.Mutex             // guards sessions
	sessions map[lintel.ID]*session // the live one of each controller
}

// session is one controller's live session. Its fields but sequence do not change.
type session struct {
	conn   Peer
	name   string // as the controller chose it
	number int64
	doors  map[int]lintel.ID
	serves []int

	mu       sync.Mutex // guards sequence, and keeps commands in its order on the wire
	sequence int64
}

// New returns a Link that tells nobody until Bind. wall may step; steady must
// not, and starts near wall: deadlines are made and judged by it alone.
func New(wall, steady func() time.Time, log *slog.Logger) *Link {
	return &Link{seed: maphash.MakeSeed(), wall: wall, steady: steady, log: log, sessions: map[lintel.ID]*session{}}
}

// Bind sets who is told. It comes before the broker's first connection.
func (l *Link) Bind(doors Doors) { l.doors = doors }

// storeTimeout bounds the work on one message, so that a stuck disk ends a
// connection instead of holding it for ever.
const storeTimeout = 10 * time.Second

// Send implements control.Link.
func (l *Link) Send(o control.Order) error {
	l.mu.Lock()
	s := l.sessions[o.Controller]
	l.mu.Unlock()
	switch {
	case s == nil:
		return control.ErrOffline
	case !slices.Contains(s.serves, o.DoorNumber):
		return control.ErrNoDoor
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	err := s.conn.Send(protocol.TopicCommand, protocol.Encode(&protocol.Command{
		Version: protocol.Version, ID: string(o.CommandID), Session: s.name, Sequence: s.sequence,
		Door: o.DoorNumber, Action: string(o.Action), Deadline: o.Deadline.UnixMilli(),
	}))
	if err != nil {
		l.log.Info("a command could not be sent", "controller", o.Controller, "error", err)
		return control.ErrOffline
	}
	return nil
}

// Connected implements broker.Handler. A connection is nothing until its hello.
func (l *Link) Connected(*broker.Connection) {}

// Subscribed implements broker.Handler. The hello comes after it.
func (l *Link) Subscribed(*broker.Connection) {}

// Disconnected implements broker.Handler.
func (l *Link) Disconnected(c *broker.Connection) { l.End(c) }

// Received implements broker.Handler.
func (l *Link) Received(c *broker.Connection, name string, payload []byte) { l.Hear(c, name, payload) }

// Hear takes a message of a peer. The messages of one peer come one after another.
func (l *Link) Hear(c Peer, name string, payload []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	var err error
	switch name {
	case protocol.TopicHello:
		err = l.hello(ctx, c, payload)
	case protocol.TopicTimeRequest:
		err = l.tellTime(c, payload)
	case protocol.TopicAck:
		err = l.ack(ctx, c, payload)
	case protocol.TopicState:
		err = l.state(ctx, c, payload)
	case protocol.TopicWill:
		l.End(c)
	}
	if err != nil {
		l.log.Warn("refused a message", "controller", c.ID(), "topic", name, "error", err)
		c.Reset()
	}
}

func (l *Link) hello(ctx context.Context, c Peer, payload []byte) error {
	m, err := protocol.Decode[protocol.Hello](payload)
	if err != nil {
		return err
	}
	if !c.Subscribed(protocol.TopicCommand) || !c.Subscribed(protocol.TopicTime) {
		return errNotSubscribed
	}
	stripe := &l.hellos[maphash.String(l.seed, string(c.ID()))%uint64(len(l.hellos))]
	stripe.Lock()
	defer stripe.Unlock()
	if c.Ended() {
		return errEnded
	}
	if s := l.session(c); s != nil {
		return errSecondHello
	}
	began, err := l.doors.SessionBegan(ctx, c.ID(), m.Firmware)
	if err != nil {
		return err
	}
	for _, n := range m.Doors {
		if _, ok := began.Doors[n]; !ok {
			l.log.Warn("a controller serves a door that is not enrolled", "controller", c.ID(), "door", n)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[c.ID()] = &session{conn: c, name: m.Session, number: began.Number, doors: began.Doors, serves: m.Doors}
	l.log.Info("controller connected", "controller", c.ID(), "firmware", m.Firmware, "doors", m.Doors)
	return nil
}

func (l *Link) tellTime(c Peer, payload []byte) error {
	m, err := protocol.Decode[protocol.TimeRequest](payload)
	if err != nil {
		return err
	}
	return c.Send(protocol.TopicTime, protocol.Encode(&protocol.Time{
		Version: protocol.Version, Session: m.Session, Nonce: m.Nonce, Now: l.steady().UnixMilli(),
	}))
}

func (l *Link) ack(ctx context.Context, c Peer, payload []byte) error {
	m, err := protocol.Decode[protocol.Ack](payload)
	if err != nil {
		return err
	}
	l.doors.Answered(ctx, c.ID(), control.Answer{CommandID: lintel.ID(m.ID), Code: m.Code, Reason: m.Reason})
	return nil
}

func (l *Link) state(ctx context.Context, c Peer, payload []byte) error {
	m, err := protocol.Decode[protocol.State](payload)
	if err != nil {
		return err
	}
	s := l.session(c)
	if s == nil || m.Session != s.name {
		return errNoSession
	}
	id, ok := s.doors[m.Door]
	if !ok {
		return errNotOwnDoor
	}
	age := l.steady().Sub(time.UnixMilli(m.Since))
	return l.doors.Reported(ctx, c.ID(), control.Report{
		Door: id, Session: s.number, Sequence: m.Sequence,
		State: lintel.DoorState{
			Value: m.Value, Source: m.Source, SensorLost: m.Sensor == "lost", Since: l.wall().Add(-age),
		},
		Event: m.Event, Cause: m.Cause, CommandID: lintel.ID(m.Command), Reason: m.Reason,
	})
}

// session returns the live session of a connection, nil when it has none.
func (l *Link) session(c Peer) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sessions[c.ID()]; s != nil && s.conn == c {
		return s
	}
	return nil
}

// End ends a peer's session, unless another has taken its place.
func (l *Link) End(c Peer) {
	l.mu.Lock()
	s := l.sessions[c.ID()]
	if s == nil || s.conn != c {
		l.mu.Unlock()
		return
	}
	delete(l.sessions, c.ID())
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	l.doors.SessionEnded(ctx, c.ID(), s.number)
	l.log.Info("controller disconnected", "controller", c.ID())
}

var (
	errNotSubscribed = &lintel.Error{Code: lintel.CodeInvalid, Message: "hello before the subscriptions to cmd and time"}
	errSecondHello   = &lintel.Error{Code: lintel.CodeInvalid, Message: "a second hello on one connection"}
	errEnded         = &lintel.Error{Code: lintel.CodeConflict, Message: "a hello on a connection that has ended"}
	errNoSession     = &lintel.Error{Code: lintel.CodeInvalid, Message: "a report without a session, or from another one"}
	errNotOwnDoor    = &lintel.Error{Code: lintel.CodeInvalid, Message: "a report on a door that is not enrolled at this controller"}
)
