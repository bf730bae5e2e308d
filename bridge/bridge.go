// Package bridge makes controllers of hardware that does not speak the controller
// protocol. For each connection of such a device it runs the same controller as
// an agent or the simulator does, here in the service: package controller decides
// with the door machine, a driver translates, and the device is the hardware. So
// deadlines, sessions, sequence numbers and refusals are the same for all doors.
package bridge

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"lintel"
	"lintel/broker"
	"lintel/controller"
	"lintel/door"
	"lintel/driver"
	"lintel/link"
)

// Devices knows what is behind an identity.
type Devices interface {
	// Device returns the driver of a controller and its settings.
	Device(ctx context.Context, id lintel.ID) (driver.Driver, driver.Settings, error)
}

// Bridge hands connections that speak the controller protocol to the link, and
// runs a controller for every other. It implements broker.Handler.
type Bridge struct {
	link    *link.Link
	devices Devices
	now     func() time.Time // a clock that never steps
	log     *slog.Logger

	deadline time.Duration // that commands have

	running sync.WaitGroup

	mu    sync.Mutex // guards units
	units map[*broker.Connection]*unit
}

// New returns a Bridge before a link. deadline is how long commands are given.
func New(l *link.Link, devices Devices, deadline time.Duration, now func() time.Time, log *slog.Logger) *Bridge {
	return &Bridge{link: l, devices: devices, deadline: deadline, now: now, log: log, units: map[*broker.Connection]*unit{}}
}

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
	b.mu.Lock()
	defer b.mu.Unlock()
	b.units[c] = newUnit(c, kind, settings, b.now, min(deliverTimeout, b.deadline/2))
}

// Subscribed implements broker.Handler. A device that takes commands becomes a
// controller, and is asked where its door is.
func (b *Bridge) Subscribed(c *broker.Connection) {
	u := b.unit(c)
	if u == nil || !u.ready() {
		return
	}
	u.begin.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		u.stop = cancel
		b.running.Go(func() {
			controller.New(controller.Config{
				Firmware: u.kind.Name(), Doors: map[int]door.Config{1: u.door},
				Hardware: u, Dialer: dialer{b, u}, Now: b.now, Log: b.log.With("controller", c.Controller),
			}).Run(ctx)
		})
		b.running.Go(u.pump)
		b.running.Go(func() { u.askOn(b.log) })
	})
}

// Received implements broker.Handler.
func (b *Bridge) Received(c *broker.Connection, name string, payload []byte) {
	if !c.Rules.Foreign() {
		b.link.Received(c, name, payload)
		return
	}
	if u := b.unit(c); u != nil {
		u.hear(driver.Message{Topic: name, Payload: payload})
	}
}

// Disconnected implements broker.Handler.
func (b *Bridge) Disconnected(c *broker.Connection) {
	if !c.Rules.Foreign() {
		b.link.Disconnected(c)
		return
	}
	b.mu.Lock()
	u := b.units[c]
	delete(b.units, c)
	b.mu.Unlock()
	if u != nil {
		u.end()
	}
}

// Wait returns when all controllers have ended. The broker has been closed before.
func (b *Bridge) Wait() { b.running.Wait() }

func (b *Bridge) unit(c *broker.Connection) *unit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.units[c]
}
