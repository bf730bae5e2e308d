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
	"lintel/controller"
	"lintel/door"
	"lintel/driver"
	"lintel/link"
)

// Connection is the way to one device, from when it is there until it is gone.
type Connection interface {
	// ID is of the controller that the device is.
	ID() lintel.ID
	// SubscribedTo reports whether the device takes what a filter lets through.
	SubscribedTo(filter string) bool
	// SendTo sends a message now, or fails.
	SendTo(topic string, payload []byte) error
	// Deliver is SendTo for what moves a door. It returns once it is confirmed, as far as
	// that can be known, and not after a time of the service's steady clock. After an error
	// the message may have arrived, and does not later.
	Deliver(topic string, payload []byte, until time.Time) error
	Ended() bool
	// Expire ends the connection of a device that does not answer. It is there again
	// with its next word.
	Expire()
	// Reset ends the connection so that what was sent dies with it.
	Reset()
}

// Devices knows what is behind an identity.
type Devices interface {
	// Device returns the driver of a controller and its settings.
	Device(ctx context.Context, id lintel.ID) (driver.Driver, driver.Settings, error)
}

// Bridge hands connections that speak the controller protocol to the link, and
// runs a controller for every other. It implements broker.Handler, and by Upstream
// upstream.Handler.
type Bridge struct {
	link    *link.Link
	devices Devices
	now     func() time.Time // a clock that never steps
	log     *slog.Logger

	deadline time.Duration // that commands have

	running sync.WaitGroup

	mu    sync.Mutex // guards units
	units map[Connection]*unit
}

// New returns a Bridge before a link. deadline is how long commands are given.
func New(l *link.Link, devices Devices, deadline time.Duration, now func() time.Time, log *slog.Logger) *Bridge {
	return &Bridge{link: l, devices: devices, deadline: deadline, now: now, log: log, units: map[Connection]*unit{}}
}

// add makes a unit of a device that is there. It takes no commands before begin.
func (b *Bridge) add(c Connection, kind driver.Driver, settings driver.Settings) *unit {
	u := newUnit(c, kind, settings, b.now, min(deliverTimeout, b.deadline/2))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.units[c] = u
	return u
}

// begin makes a controller of a device that takes commands, once, and asks it where
// its door is.
func (b *Bridge) begin(u *unit) {
	u.begin.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		u.stop = cancel
		b.running.Go(func() {
			controller.New(controller.Config{
				Firmware: u.kind.Name(), Doors: map[int]door.Config{1: u.door},
				Hardware: u, Dialer: dialer{b, u}, Now: b.now, Log: b.log.With("controller", u.conn.ID()),
			}).Run(ctx)
		})
		b.running.Go(u.pump)
		b.running.Go(func() { u.askOn(b.log) })
	})
}

func (b *Bridge) unit(c Connection) *unit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.units[c]
}

// remove ends the unit of a device that is gone.
func (b *Bridge) remove(c Connection) {
	b.mu.Lock()
	u := b.units[c]
	delete(b.units, c)
	b.mu.Unlock()
	if u != nil {
		u.end()
	}
}

// Wait returns when all controllers have ended. Where devices come from has been
// closed before.
func (b *Bridge) Wait() { b.running.Wait() }
