package upstream

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"lintel"
	"lintel/driver"
)

// session is one connection to the broker. Its devices and filters belong to the
// goroutine in run.
type session struct {
	owner  *Client
	wire   *conn
	client *paho.Client
	ping   *pinger

	heard  chan message
	lists  chan []Device
	ending chan ending
	ended  chan struct{}
	once   sync.Once

	devices map[lintel.ID]*device
	filters map[string]bool // subscribed to
	clashes map[lintel.ID]bool
}

// device is a device and, while it is there, its connection.
type device struct {
	Device
	topics driver.Topics
	conn   *Connection // nil while it is not there
	since  time.Time   // of conn
	quiet  time.Time   // not heard before then
}

// ending is a connection that is to end, and how long its device is not heard then.
type ending struct {
	conn  *Connection
	quiet time.Duration
}

const (
	pollEvery = time.Second // to look up what is enrolled
	// askEvery is the pause between two questions to a device that has not spoken. Some
	// firmware says nothing by itself, and ratgdo not even when asked in its first 10 s.
	askEvery = 15 * time.Second
	// settles is the time within which a device that has been heard may say that it has
	// just connected, without that being another connection.
	settles = 2 * time.Second
	// resetPause keeps a device that says more than can be dealt with from doing so for ever.
	resetPause = 10 * time.Second
)

func newSession(c *Client, wire *conn) *session {
	return &session{owner: c, wire: wire, ping: &pinger{conn: wire},
		heard: make(chan message, receiveMaximum), lists: make(chan []Device), ending: make(chan ending, 64), ended: make(chan struct{}),
		devices: map[lintel.ID]*device{}, filters: map[string]bool{}, clashes: map[lintel.ID]bool{}}
}

// reset ends the connection so that what was not delivered by now dies with it.
func (s *session) reset() {
	s.once.Do(func() {
		close(s.ended)
		s.wire.Close()
	})
}

// over reports whether the connection has ended.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// received is called by the MQTT client, with one message after another.
func (s *session) received(p paho.PublishReceived) (bool, error) {
	select {
	case s.heard <- message{p.Packet.Topic, p.Packet.Payload, p.Packet.Retain}:
	case <-s.ended:
	}
	return true, nil
}

// run serves the devices until the connection or ctx ends.
func (s *session) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var polling sync.WaitGroup
	polling.Go(func() { s.poll(ctx) })
	defer polling.Wait()
	defer cancel()
	defer s.leave()
	asking := time.NewTicker(askEvery)
	defer asking.Stop()
	for {
		select {
		case <-ctx.Done():
			return // there is no will that a farewell would spare
		case <-s.ended:
			return
		case <-s.client.Done():
			return
		case m := <-s.heard:
			s.hear(m)
		case list := <-s.lists:
			s.apply(ctx, list)
		case e := <-s.ending:
			s.finish(e)
		case <-asking.C:
			s.askSilent(slices.Collect(maps.Values(s.devices)))
		}
	}
}

// leave ends what the connection carried.
func (s *session) leave() {
	s.reset()
	for _, d := range s.devices {
		s.drop(d)
	}
	<-s.client.Done()
}

// poll looks up what is enrolled, again and again.
func (s *session) poll(ctx context.Context) {
	failing := false
	for ctx.Err() == nil && !s.over() {
		list, err := s.owner.devices.Upstream(ctx)
		switch {
		case err == nil:
			select {
			case s.lists <- list:
			case <-s.ended:
			case <-ctx.Done():
			}
		case !failing && ctx.Err() == nil:
			s.owner.cfg.Log.Error("the devices at the upstream broker cannot be looked up", "error", err)
		}
		failing = err != nil
		pause(ctx, pollEvery)
	}
}

// hear takes a message to the devices that it is of.
func (s *session) hear(m message) {
	now := s.owner.cfg.Now()
	for _, d := range s.devices {
		said := judge(d.topics, m)
		switch {
		case said == nothing, now.Before(d.quiet):
			continue
		case said == left:
			s.drop(d)
			continue
		case said == came && d.conn != nil && now.Sub(d.since) >= settles:
			s.drop(d) // what is known of it is of its last connection
		}
		if d.conn == nil {
			d.conn, d.since = &Connection{id: d.ID, session: s}, now
			s.owner.handler.Connected(d.conn, d.Device)
		}
		s.owner.handler.Received(d.conn, m.topic, m.payload)
	}
}

// drop ends a device's connection, if it has one.
func (s *session) drop(d *device) {
	if d.conn != nil {
		c := d.conn
		d.conn = nil
		c.ended.Store(true)
		s.owner.handler.Disconnected(c)
	}
}

// finish ends the connection that somebody wants to end, unless it has.
func (s *session) finish(e ending) {
	if d := s.devices[e.conn.id]; d != nil && d.conn == e.conn {
		s.drop(d)
		d.quiet = s.owner.cfg.Now().Add(e.quiet)
	}
}
