package bridge

import (
	"context"
	"errors"
	"time"

	"lintel/broker"
	"lintel/driver"
)

// own is the connection of a device at Lintel's own endpoint.
type own struct {
	*broker.Connection
	bridge *Bridge
}

// Deliver implements Connection: confirmed is what the device's machine has confirmed.
// Where it does not, the connection is reset, and what was not delivered dies with it.
func (c own) Deliver(topic string, payload []byte, until time.Time) error {
	if !c.bridge.now().Before(until) {
		return errNoTime
	}
	if err := c.SendTo(topic, payload); err != nil {
		return err
	}
	if !c.Delivered(until, c.bridge.now) {
		return errNotConfirmed
	}
	return nil
}

// Expire implements Connection.
func (c own) Expire() { c.Reset() }

var (
	errNoTime       = errors.New("there is no time left for it")
	errNotConfirmed = errors.New("the device's machine has not confirmed it in time")
)

// lookTimeout bounds finding out what a device is.
const lookTimeout = 10 * time.Second

// Connected implements broker.Handler.
func (b *Bridge) Connected(c *broker.Connection) {
	if !c.Rules.Foreign() {
		b.link.Connected(c)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	kind, settings, err := b.devices.Device(ctx, c.Controller)
	if err != nil {
		b.log.Error("a device's driver is not known", "controller", c.Controller, "error", err)
		c.Reset()
		return
	}
	b.add(own{c, b}, kind, settings)
}

// Subscribed implements broker.Handler. A device that takes commands becomes a
// controller.
func (b *Bridge) Subscribed(c *broker.Connection) {
	if u := b.unit(own{c, b}); u != nil && u.ready() {
		b.begin(u)
	}
}

// Received implements broker.Handler.
func (b *Bridge) Received(c *broker.Connection, name string, payload []byte) {
	if !c.Rules.Foreign() {
		b.link.Received(c, name, payload)
		return
	}
	if u := b.unit(own{c, b}); u != nil {
		u.hear(driver.Message{Topic: name, Payload: payload})
	}
}

// Disconnected implements broker.Handler.
func (b *Bridge) Disconnected(c *broker.Connection) {
	if !c.Rules.Foreign() {
		b.link.Disconnected(c)
		return
	}
	b.remove(own{c, b})
}
