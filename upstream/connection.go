package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"lintel"
)

// Connection is one device while it is there.
type Connection struct {
	id      lintel.ID
	session *session
	ended   atomic.Bool
}

// Why a message was not delivered.
var (
	errEnded  = errors.New("the device or its broker is gone")
	errNoTime = errors.New("there is no time left for it")
	errNobody = errors.New("nobody has subscribed to the device's commands at the broker")
)

// ID returns the controller's.
func (c *Connection) ID() lintel.ID { return c.id }

// SubscribedTo is always true: whether the device takes commands is known when one is
// delivered, and not before.
func (c *Connection) SubscribedTo(string) bool { return true }

// Ended reports whether the device is gone.
func (c *Connection) Ended() bool { return c.ended.Load() || c.session.over() }

// SendTo sends a message at QoS 0, never retained.
func (c *Connection) SendTo(topic string, payload []byte) error {
	if c.Ended() {
		return errEnded
	}
	return c.session.send(topic, payload)
}

// Deliver sends a command at QoS 1, never retained, with an expiry, and returns once
// the broker has confirmed it. A broker that does not confirm it by a time of the clock
// Config.Now loses its connection, and the command dies with it.
func (c *Connection) Deliver(topic string, payload []byte, until time.Time) error {
	left := until.Sub(c.session.owner.cfg.Now())
	switch {
	case c.Ended():
		return errEnded
	case left <= 0:
		return errNoTime
	}
	err := c.session.deliver(topic, payload, left)
	if errors.Is(err, errNobody) {
		c.end(0)
	}
	return err
}

// Reset ends the connection. The device is not heard for a while.
func (c *Connection) Reset() { c.end(resetPause) }

// Expire ends the connection. The device is there again with its next word, and asked
// for it.
func (c *Connection) Expire() { c.end(0) }

func (c *Connection) end(quiet time.Duration) {
	c.ended.Store(true)
	select {
	case c.session.ending <- ending{c, quiet}:
	case <-c.session.ended:
	default:
		c.session.reset()
	}
}

// deliver asks the broker whether it is there first. A broker that stands still would
// find the command in its machine later and take it for fresh, reset or not: the expiry
// counts from when it is read.
func (s *session) deliver(topic string, payload []byte, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	defer context.AfterFunc(ctx, s.reset)() // a write that does not come to an end is cut off, too
	answered, err := s.ping.ask()
	if err != nil {
		s.reset()
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	select {
	case <-answered:
	case <-s.ended:
		return errEnded
	case <-ctx.Done():
		s.reset()
		return errSilent
	}
	expiry := max(1, uint32((limit+time.Second-1)/time.Second))
	ack, err := s.client.Publish(ctx, &paho.Publish{
		Topic: topic, Payload: payload, QoS: 1, Properties: &paho.PublishProperties{MessageExpiry: &expiry},
	})
	switch {
	case ack != nil && ack.ReasonCode == packets.PubackNoMatchingSubscribers:
		return errNobody
	case ack != nil && ack.ReasonCode >= 0x80:
		s.owner.cfg.Log.Error("the upstream broker refuses a command; look at its access rules", "topic", topic, "code", ack.ReasonCode)
		return fmt.Errorf("the broker refuses the command, code %#x", ack.ReasonCode)
	case err != nil:
		s.reset()
		return fmt.Errorf("the broker has not confirmed it: %w", err)
	}
	return nil
}
