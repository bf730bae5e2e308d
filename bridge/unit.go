package bridge

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lintel/controller"
	"lintel/door"
	"lintel/driver"
)

// unit is one connection of a device: the hardware of a controller. It implements
// controller.Hardware.
type unit struct {
	conn   Connection
	kind   driver.Driver
	topics driver.Topics
	now    func() time.Time
	limit  time.Duration
	heard  chan driver.Message   // what the device said
	inputs chan controller.Input // what is on its way to the controller, which is one at the most
	ended  chan struct{}
	once   sync.Once
	begin  sync.Once
	stop   context.CancelFunc // set in begin
	known  atomic.Bool        // the device has said where its door is, since the last command
	due    atomic.Int64       // the deadline of the last command, ms; 0 for none

	commanded atomic.Int64 // when the last command was sent, ms; 0 for none

	far     bool          // behind the owner's broker; see silence.go
	heardAt atomic.Int64  // when the device was last heard, ms
	overdue chan struct{} // what is held back is to be believed

	mu         sync.Mutex // guards what follows: messages, commands and questions come at once
	device     driver.Device
	ahead      int        // inputs that the driver knows of and the door machine does not yet
	questioned bool       // it was asked, and has not said where its door is: no command may reach it between
	askedAt    time.Time  // the last question
	holding    bool       // it was silent when it was asked: an unknown that it says first is held back
	held       bool       // to that it has said unknown, which the door machine was not told
	told       door.Input // what it last said of where its door is; nil for nothing
	before     door.Input // told, as of the last command
	rechecked  bool       // it was asked once more after that
	door       door.Config
}

// maxWaiting is how many messages of a device wait at the most.
const maxWaiting = 256

func newUnit(c Connection, kind driver.Driver, s driver.Settings, now func() time.Time, limit time.Duration) *unit {
	u := &unit{conn: c, kind: kind, topics: kind.Topics(s), device: kind.Device(s), now: now, limit: limit,
		heard: make(chan driver.Message, maxWaiting), inputs: make(chan controller.Input), ended: make(chan struct{}),
		far: s.Upstream, overdue: make(chan struct{}, 1)}
	u.heardAt.Store(now().UnixMilli())
	u.door = u.device.Door()
	u.door.SoleControl = s.Sole
	return u
}

// ready reports whether the device has subscribed to everything that commands go to.
func (u *unit) ready() bool {
	return !slices.ContainsFunc(u.topics.Commands, func(filter string) bool { return !u.conn.SubscribedTo(filter) })
}

// unanswered is how long ago the last command was, 0 for none.
func (u *unit) unanswered() time.Duration {
	at := u.commanded.Load()
	if at == 0 {
		return 0
	}
	return u.now().Sub(time.UnixMilli(at))
}

// patience is how long a device may be silent after a command: for as long as the door
// machine waits for the movement, and some more, so that the history says first what
// became of it.
func (u *unit) patience() time.Duration { return 15*time.Second + 2*u.door.Travel }

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

// hear takes what the device says. It never blocks: a device that says more than
// can be dealt with loses its connection.
func (u *unit) hear(m driver.Message) {
	u.heardAt.Store(u.now().UnixMilli())
	select {
	case u.heard <- m:
	default:
		u.conn.Reset()
	}
}

// pump hands what the device says to the controller, one input after another. The
// driver is never told of a message while inputs of an earlier one are on their way,
// and ahead says when it knows more than the door machine.
func (u *unit) pump() {
	for {
		var inputs []door.Input
		select {
		case m := <-u.heard:
			inputs = u.translate(m)
		case <-u.overdue:
			inputs = u.believe()
		case <-u.ended:
			return
		}
		for _, in := range inputs {
			select {
			case u.inputs <- controller.Input{Door: 1, In: in}:
				u.taken()
			case <-u.ended:
				return
			}
		}
	}
}

func (u *unit) translate(m driver.Message) []door.Input {
	u.mu.Lock()
	defer u.mu.Unlock()
	inputs := u.holdBack(u.device.Receive(m))
	u.ahead = len(inputs)
	for _, in := range inputs {
		if tells(in) {
			u.known.Store(true)
			u.told = in
		}
	}
	return inputs
}

func (u *unit) taken() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ahead--
}

// Inputs implements controller.Hardware.
func (u *unit) Inputs() <-chan controller.Input { return u.inputs }

// deliverTimeout is how long a command may take at the most, from being written to
// being confirmed by the device's machine. Where it takes longer, the connection is
// reset, and what was not delivered by then dies with it.
const deliverTimeout = time.Second

// Actuate implements controller.Hardware. The firmware of others acknowledges
// nothing: a command counts as taken once its connection calls it delivered.
func (u *unit) Actuate(_ int, effect door.Effect) error {
	if !u.ready() {
		return controller.ErrUnreachable // it has unsubscribed
	}
	messages, err := u.messages(effect)
	if err != nil {
		return err
	}
	u.begun()
	until := u.until()
	for _, m := range messages {
		if err := u.conn.Deliver(m.Topic, m.Payload, until); err != nil {
			return fmt.Errorf("%w: %w", controller.ErrUnreachable, err)
		}
	}
	return nil
}

// begun notes that a command is sent.
func (u *unit) begun() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known.Store(false)
	u.commanded.Store(u.now().UnixMilli())
	u.before, u.rechecked = u.told, false
}

// until is when a command that is sent now must be confirmed: after a limit, and never
// past the command's deadline, at which its caller is told that it was not taken.
func (u *unit) until() time.Time {
	limit := u.now().Add(u.limit)
	if due := u.due.Load(); due != 0 && time.UnixMilli(due).Before(limit) {
		return time.UnixMilli(due)
	}
	return limit
}

// messages translates an effect. The door machine decided by what the controller
// has taken so far: where the driver has heard more, it might mean another way. The same
// goes for a device that is asked: ratgdo has forgotten by then where its door is, and
// would press the button whichever way that goes.
func (u *unit) messages(effect door.Effect) ([]driver.Message, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ahead > 0 || u.questioned || u.held {
		return nil, controller.ErrUncertain
	}
	messages, ok := u.device.Actuate(effect)
	switch {
	case !ok && effect == door.DriveStop:
		return nil, fmt.Errorf("%s cannot %s", u.kind.Name(), effect)
	case !ok:
		return nil, controller.ErrUncertain // where it is now, the firmware might go the other way
	}
	return messages, nil
}

// end ends the controller with its connection.
func (u *unit) end() {
	u.once.Do(func() { close(u.ended) })
	u.begin.Do(func() { u.stop = func() {} }) // it never began, and will not
	u.stop()
}
