package controller

import (
	"crypto/rand"
	"errors"
	"time"

	"lintel/door"
	"lintel/protocol"
)

// doorRuntime is one door: its machine, and what the service has been told.
type doorRuntime struct {
	number  int
	config  door.Config
	state   door.State
	command string // the command whose movement this is; empty for none
	way     door.Direction
	began   time.Time
	told    shown // as of the last transition queued
	known   bool  // told has been set
	seen    bool  // its value has been known since the start
	sentAt  time.Time
	noisy   bool // a warning could not be ended yet
}

// shown is the part of a door's state that a report carries.
type shown struct {
	value   door.Value
	source  door.Source
	lost    bool
	failure door.Failure
}

func (d *doorRuntime) shows() shown {
	return shown{d.state.Value, d.state.Source, d.config.SensorLost(d.state), d.state.Failure}
}

func (d *doorRuntime) step(now time.Time, in door.Input) door.Decision {
	var decision door.Decision
	d.state, decision = d.config.Step(now, d.state, in)
	return decision
}

// transition is one change of a door, kept until the service has confirmed it.
type transition struct {
	event   string
	door    int
	shown   shown
	at      time.Time
	cause   string
	command string
	sent    bool
}

// act asks the machine, and the hardware where the machine says so.
func (c *Controller) act(d *doorRuntime, m protocol.Command) (code int, reason string) {
	action := map[string]door.Action{"open": door.DoOpen, "close": door.DoClose, "stop": door.DoStop}[m.Action]
	before := d.state
	decision := d.step(c.cfg.Now(), door.Asked{Action: action})
	if decision.Effect == door.Quiet {
		c.quiet(d)
	}
	switch decision.Refusal {
	case "":
	case door.RefuseUnsupported:
		return protocol.CodeUnsupported, string(decision.Refusal)
	default:
		return protocol.CodePrecondition, string(decision.Refusal)
	}
	switch {
	case decision.Effect == door.NoEffect && d.state.Warned():
		return protocol.CodeTaken, "warning" // of the close that was asked for before
	case decision.Effect == door.NoEffect:
		return protocol.CodeTaken, "already_there"
	case decision.Effect == door.Quiet:
		return protocol.CodeTaken, "close_dropped"
	}
	if err := c.cfg.Hardware.Actuate(d.number, decision.Effect); err != nil {
		c.cfg.Log.Error("the hardware did not act", "door", d.number, "error", err)
		d.state = before // nothing was done
		if before.Warned() {
			d.state = before.GiveUp() // which was asked all the same
			c.quiet(d)
		}
		switch {
		case errors.Is(err, ErrUnreachable):
			return protocol.CodeUnreachable, "not_confirmed"
		case errors.Is(err, ErrUncertain):
			return protocol.CodePrecondition, string(door.RefuseUnknown)
		}
		return protocol.CodeUnsupported, "hardware_failed"
	}
	d.command, d.noisy = m.ID, false
	d.way = map[door.Action]door.Direction{door.DoOpen: door.Up, door.DoClose: door.Down}[action]
	if decision.Effect == door.Warn {
		return protocol.CodeTaken, "warning"
	}
	return protocol.CodeTaken, ""
}

// quiet ends a warning. The command that it was for moves nothing any more.
func (c *Controller) quiet(d *doorRuntime) {
	d.command = ""
	c.hush(d)
}

// quietEvery is the pause between two tries to end a warning.
const quietEvery = time.Second

// hush ends a warning, or sees to it that it is tried again.
func (c *Controller) hush(d *doorRuntime) {
	err := c.cfg.Hardware.Actuate(d.number, door.Quiet)
	if err != nil && !d.noisy {
		c.cfg.Log.Error("a warning could not be ended; trying again", "door", d.number, "error", err)
	}
	d.noisy = err != nil
}

// goOn applies an input, and carries out what follows from it: a close that was warned
// of begins, or is given up.
func (c *Controller) goOn(d *doorRuntime, in door.Input) {
	before := d.state
	decision := d.step(c.cfg.Now(), in)
	if decision.Effect == door.NoEffect {
		return
	}
	err := c.cfg.Hardware.Actuate(d.number, decision.Effect)
	if err != nil {
		c.cfg.Log.Error("the hardware did not act", "door", d.number, "effect", decision.Effect, "error", err)
	}
	if err != nil && decision.Effect != door.Quiet {
		d.state = before.GiveUp() // nothing was done
		d.step(c.cfg.Now(), in)
	}
	d.noisy = d.noisy || err != nil // whatever it was, the warning is over
	if d.noisy {
		c.hush(d)
	}
}

// giveUp gives up every close that is still warned of: the session in which it was asked
// for has ended, and nobody can take it back any more.
func (c *Controller) giveUp() {
	for _, n := range c.numbers {
		d := c.doors[n]
		given := d.state.GiveUp()
		if given == d.state {
			continue
		}
		d.state = given
		c.hush(d)
	}
}

// report queues what has changed, and sends what is due.
func (c *Controller) report() {
	now := c.cfg.Now()
	for _, n := range c.numbers {
		c.note(c.doors[n], now)
	}
	if !c.ready() {
		return
	}
	for _, t := range c.queue {
		if !t.sent {
			t.sent = true
			c.sendTransition(t, now)
		}
	}
	for _, n := range c.numbers {
		if d := c.doors[n]; d.known && now.Sub(d.sentAt) >= protocol.ReportEvery {
			c.sendState(d, now)
		}
	}
}

// note queues a transition when the door's value changes. The first value that
// is known after a start is not a change: it is sent as a plain report.
func (c *Controller) note(d *doorRuntime, now time.Time) {
	shows := d.shows()
	if d.known && shows == d.told {
		if !d.state.Pending() {
			d.command = ""
		}
		return
	}
	moved := d.seen && (shows.value != d.told.value || shows.failure != "" && shows.failure != d.told.failure)
	d.told, d.known = shows, true
	d.seen = d.seen || shows.value != door.Unknown
	if !moved {
		d.sentAt = time.Time{} // send a plain report now
		return
	}
	if !d.sentAt.IsZero() {
		d.sentAt = now // the transition is the report, but for the first of a session, which is a plain one
	}
	t := &transition{event: rand.Text(), door: d.number, shown: shows, at: d.state.Since}
	t.cause, t.command = d.because()
	c.queue = append(c.queue, t)
	if len(c.queue) > maxQueue {
		c.queue = c.queue[1:]
	}
}

// because says what caused the door's present value, and forgets the command
// once its movement is over. A movement that failed is named after its command also
// where something else brought the door to where it is.
func (d *doorRuntime) because() (cause, command string) {
	if d.command == "" {
		return "unknown", ""
	}
	command = d.command
	switch d.state.Failure {
	case "":
	case door.Reversed, door.Dropped:
		d.command = ""
		return "unknown", command
	default:
		d.command = ""
		return "command", command
	}
	if d.state.Value == door.Unknown && d.state.Pending() {
		return "unknown", "" // the opener may yet say what became of it
	}
	along := d.way == door.NoDirection || d.state.Last == d.way
	if v := d.state.Value; v != door.Opening && v != door.Closing || !along {
		d.command = ""
	}
	if !along {
		return "unknown", ""
	}
	return "command", command
}

func (c *Controller) confirmed(event string) {
	for i, t := range c.queue {
		if t.event == event {
			c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
			return
		}
	}
}

func (c *Controller) sendTransition(t *transition, now time.Time) {
	m := c.stateMessage(t.door, t.shown, t.at, now)
	m.Event, m.Cause, m.Command, m.Reason = t.event, t.cause, t.command, string(t.shown.failure)
	c.publish(protocol.TopicState, m, func() {
		select {
		case c.stored <- t.event:
		default: // it will be confirmed when it is sent again
		}
	})
}

func (c *Controller) sendState(d *doorRuntime, now time.Time) {
	d.sentAt = now
	since := d.state.Since
	if since.IsZero() {
		since = d.began // unknown since the start
	}
	c.publish(protocol.TopicState, c.stateMessage(d.number, d.shows(), since, now), nil)
}

func (c *Controller) stateMessage(number int, s shown, since, now time.Time) *protocol.State {
	c.seq++
	service, _ := c.guard.Clock.Latest(now)
	sensor := "ok"
	if s.lost {
		sensor = "lost"
	}
	return &protocol.State{
		Version: protocol.Version, Session: c.guard.Session, Sequence: c.seq, Door: number,
		Value: s.value.String(), Source: s.source.String(), Sensor: sensor,
		Since: service - now.Sub(since).Milliseconds(),
	}
}
