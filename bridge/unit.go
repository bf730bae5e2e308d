package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lintel/broker"
	"lintel/controller"
	"lintel/door"
	"lintel/driver"
)

// unit is one connection of a device: the hardware of a controller. It implements
// controller.Hardware.
type unit struct {
	conn   *broker.Connection
	kind   driver.Driver
	topics driver.Topics
	inputs chan controller.Input
	ended  chan struct{}
	once   sync.Once
	begin  sync.Once
	stop   context.CancelFunc // set in begin
	known  atomic.Bool        // the device has said where its door is

	mu     sync.Mutex // guards device: messages and commands come at once
	device driver.Device
	door   door.Config
}

// maxWaiting is how many inputs wait for the controller at the most; a device that
// floods waits itself.
const maxWaiting = 64

func newUnit(c *broker.Connection, kind driver.Driver, s driver.Settings) *unit {
	u := &unit{conn: c, kind: kind, topics: kind.Topics(s), device: kind.Device(s),
		inputs: make(chan controller.Input, maxWaiting), ended: make(chan struct{})}
	u.door = u.device.Door()
	u.door.SoleControl = s.Sole
	return u
}

// ready reports whether the device has subscribed to everything that commands go to.
func (u *unit) ready() bool {
	return !slices.ContainsFunc(u.topics.Commands, func(filter string) bool { return !u.conn.SubscribedTo(filter) })
}

// ask has the device say where its door is.
func (u *unit) ask(log *slog.Logger) {
	u.mu.Lock()
	messages := u.device.Connected()
	u.mu.Unlock()
	for _, m := range messages {
		if err := u.conn.SendTo(m.Topic, m.Payload); err != nil {
			log.Info("a device could not be asked", "controller", u.conn.Controller, "error", err)
			return
		}
	}
}

// askEvery is the pause between two questions to a device that does not say where
// its door is. ratgdo ignores what comes in the first 10 s of a connection.
const askEvery = 12 * time.Second

// askOn asks until the device has said where its door is.
func (u *unit) askOn(log *slog.Logger) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for u.ask(log); !u.known.Load(); {
		select {
		case <-ticker.C:
			u.ask(log)
		case <-u.ended:
			return
		}
	}
}

// tells reports whether an input says where a door is.
func tells(in door.Input) bool {
	switch in := in.(type) {
	case door.Reported:
		return in.Value != door.Unknown
	case door.Sensed:
		return in.Reading == door.At || in.Reading == door.Away
	}
	return false
}

// hear passes on what the device says about its door.
func (u *unit) hear(m driver.Message) {
	u.mu.Lock()
	inputs := u.device.Receive(m)
	u.mu.Unlock()
	for _, in := range inputs {
		if tells(in) {
			u.known.Store(true)
		}
		select {
		case u.inputs <- controller.Input{Door: 1, In: in}:
		case <-u.ended:
			return
		}
	}
}

// Inputs implements controller.Hardware.
func (u *unit) Inputs() <-chan controller.Input { return u.inputs }

// deliverTimeout is how long the device's machine has to confirm a command. Where
// it does not, the connection is reset, and the command dies with it.
const deliverTimeout = time.Second

// Actuate implements controller.Hardware. The firmware of others acknowledges
// nothing: a command counts as taken once the device's machine has confirmed its
// bytes.
func (u *unit) Actuate(_ int, effect door.Effect) error {
	u.mu.Lock()
	messages, ok := u.device.Actuate(effect)
	u.mu.Unlock()
	switch {
	case !ok && effect == door.DriveStop:
		return fmt.Errorf("%s cannot %s", u.kind.Name(), effect)
	case !ok:
		return controller.ErrUncertain // where it is now, the firmware might go the other way
	}
	for _, m := range messages {
		if err := u.conn.SendTo(m.Topic, m.Payload); err != nil {
			return fmt.Errorf("%w: %w", controller.ErrUnreachable, err)
		}
	}
	if !u.conn.Delivered(deliverTimeout) {
		return controller.ErrUnreachable
	}
	return nil
}

// end ends the controller with its connection.
func (u *unit) end() {
	u.once.Do(func() { close(u.ended) })
	u.begin.Do(func() { u.stop = func() {} }) // it never began, and will not
	u.stop()
}
