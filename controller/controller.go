// Package controller is the runtime of a door controller: the controller
// protocol on one side, hardware on the other, and the door machine between
// them. The agent and the simulator run this same code; only the hardware differs.
package controller

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"lintel/door"
	"lintel/protocol"
)

// Hardware senses and moves the doors of one controller.
type Hardware interface {
	// Inputs delivers what sensors and openers show, first the present readings
	// and then every change. It is read until the controller stops.
	Inputs() <-chan Input
	// Actuate carries out an effect at a door at once. An error means that
	// nothing was done: ErrUnreachable, because the hardware cannot be reached now;
	// ErrUncertain, because it would not be sure to do this; any other, because it
	// cannot.
	Actuate(number int, effect door.Effect) error
}

// Why hardware did nothing.
var (
	ErrUnreachable = errors.New("the hardware cannot be reached")
	ErrUncertain   = errors.New("the hardware might do something else")
)

// Input is a door.Sensed, door.Reported or door.Obstruction at one door.
type Input struct {
	Door int
	In   door.Input
}

// Dialer opens connections to the broker.
type Dialer interface {
	// Dial connects, subscribes to the controller's own topics and leaves will
	// to be published if the connection breaks. It ends when ctx does.
	Dial(ctx context.Context, will []byte) (Conn, error)
}

// Conn is one connection to the broker.
type Conn interface {
	// Messages delivers what arrives, in order.
	Messages() <-chan Message
	// Done is closed when the connection has ended.
	Done() <-chan struct{}
	// Publish sends without waiting. With a stored function the broker is asked
	// to confirm, and stored is called, from any goroutine, when it has.
	Publish(name string, payload []byte, stored func())
	// Close ends the connection.
	Close()
}

// Message is one message from the broker; Name is the last part of its topic.
type Message struct {
	Name     string
	Payload  []byte
	Retained bool // kept by a broker for later: never a live command
}

// Config describes a controller.
type Config struct {
	Firmware string
	Doors    map[int]door.Config // by door number
	Hardware Hardware
	Dialer   Dialer
	Now      func() time.Time // must not step, and go on while the machine is suspended
	Log      *slog.Logger

	// Beat is called from Run's own loop, first at once and then every BeatEvery: it
	// stops when the loop is stuck. It must not wait. Both may be left out.
	Beat      func()
	BeatEvery time.Duration
}

// Controller runs one controller. All its state belongs to the goroutine in Run.
type Controller struct {
	cfg     Config
	doors   map[int]*doorRuntime
	numbers []int
	queue   []*transition // changes the service has not confirmed yet, oldest first
	stored  chan string   // confirmed transitions
	conn    Conn          // nil while offline
	guard   protocol.Guard
	seq     int64 // of state reports in this session
	nonce   int64 // of the last time request
	asked   time.Time
	beatAt  time.Time // when the next beat is due
}

// maxQueue bounds the changes kept while the service is away; the oldest go first.
const maxQueue = 64

// New returns a controller that does nothing until Run.
func New(cfg Config) *Controller {
	c := &Controller{cfg: cfg, doors: map[int]*doorRuntime{}, stored: make(chan string, maxQueue)}
	for n := 1; n <= protocol.MaxDoors; n++ {
		if config, ok := cfg.Doors[n]; ok {
			c.numbers = append(c.numbers, n)
			c.doors[n] = &doorRuntime{number: n, config: config, began: cfg.Now()}
		}
	}
	return c
}

// Run connects, and connects again with backoff whenever the connection ends,
// and serves until ctx ends. Doors are watched all the while.
func (c *Controller) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	links := make(chan link)
	go c.connect(ctx, links)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var messages <-chan Message
	var done <-chan struct{}
	for {
		select {
		case <-ctx.Done():
			c.leave()
			return
		case l := <-links:
			c.begin(l)
			messages, done = l.conn.Messages(), l.conn.Done()
		case <-done:
			c.conn, messages, done = nil, nil, nil
			c.giveUp()
		case m := <-messages:
			c.sense() // what the door has shown already comes before any decision
			c.receive(m)
		case in := <-c.cfg.Hardware.Inputs():
			c.apply(in)
		case event := <-c.stored:
			c.confirmed(event)
		case <-timer.C:
			c.tick()
		}
		c.report()
		c.beat()
		timer.Reset(c.untilNext())
	}
}

// link is a connection with the session it was opened for.
type link struct {
	session string
	conn    Conn
}

// connect keeps one connection open and hands each to Run. It waits between
// tries: half to one and a half times a delay that doubles up to 30 s, so that
// a fleet does not come back in step. Only a connection that lasted begins anew:
// one that the service ends again and again must not become a storm.
func (c *Controller) connect(ctx context.Context, links chan<- link) {
	delay, failing := minDelay, false
	for ctx.Err() == nil {
		session := rand.Text()
		will := protocol.Encode(&protocol.Will{Version: protocol.Version, Session: session})
		conn, err := c.cfg.Dialer.Dial(ctx, will)
		if err != nil {
			if !failing {
				c.cfg.Log.Warn("cannot connect; trying again", "error", err)
			}
			failing = true
			pause(ctx, jitter(delay))
			delay = min(2*delay, maxDelay)
			continue
		}
		failing = false
		c.cfg.Log.Debug("connected", "session", session)
		began := c.cfg.Now()
		select {
		case links <- link{session, conn}:
		case <-ctx.Done():
			conn.Close()
			return
		}
		select {
		case <-conn.Done():
		case <-ctx.Done():
			return
		}
		c.cfg.Log.Debug("the connection has ended")
		if c.cfg.Now().Sub(began) >= maxDelay {
			delay = minDelay
		}
		pause(ctx, jitter(delay))
		delay = min(2*delay, maxDelay)
	}
}

const (
	minDelay = 250 * time.Millisecond
	maxDelay = 30 * time.Second
)

func (c *Controller) begin(l link) {
	c.giveUp() // where the end of the last connection was not noticed before this one
	c.conn = l.conn
	c.seq = 0
	c.guard = protocol.Guard{Session: l.session}
	for _, d := range c.doors {
		d.sentAt = time.Time{}
	}
	for _, t := range c.queue {
		t.sent = false
	}
	c.publish(protocol.TopicHello, &protocol.Hello{
		Version: protocol.Version, Session: l.session, Firmware: c.cfg.Firmware, Doors: c.numbers,
	}, func() {})
	c.askTime()
}

func (c *Controller) leave() {
	if c.conn == nil {
		return
	}
	c.publish(protocol.TopicWill, &protocol.Will{Version: protocol.Version, Session: c.guard.Session}, nil)
	c.conn.Close()
}

func (c *Controller) publish(name string, m protocol.Message, stored func()) {
	if c.conn != nil {
		c.conn.Publish(name, protocol.Encode(m), stored)
	}
}

func (c *Controller) askTime() {
	c.nonce++
	c.asked = c.cfg.Now()
	c.publish(protocol.TopicTimeRequest, &protocol.TimeRequest{
		Version: protocol.Version, Session: c.guard.Session, Nonce: c.nonce,
	}, nil)
}

func (c *Controller) receive(m Message) {
	switch {
	case m.Retained:
		c.cfg.Log.Warn("ignored a retained message", "topic", m.Name)
	case m.Name == protocol.TopicCommand:
		c.command(m.Payload)
	case m.Name == protocol.TopicTime:
		c.learnTime(m.Payload)
	}
}

func (c *Controller) learnTime(payload []byte) {
	t, err := protocol.Decode[protocol.Time](payload)
	if err != nil || t.Session != c.guard.Session || t.Nonce != c.nonce {
		c.cfg.Log.Warn("ignored a time answer", "error", err)
		return
	}
	if !c.guard.Clock.Exchanged(c.asked, c.cfg.Now(), t.Now) {
		c.askTime()
	}
}

// command decides on a command and answers it. The answer is sent before the
// reports of what follows from it.
func (c *Controller) command(payload []byte) {
	m, err := protocol.Decode[protocol.Command](payload)
	if err != nil {
		c.cfg.Log.Warn("malformed command", "error", err)
		if id := protocol.CommandID(payload); id != "" {
			c.answer(id, protocol.CodeMalformed, protocol.ReasonMalformed)
		}
		return
	}
	if reason, code := c.guard.Check(m, c.cfg.Now()); reason != "" {
		c.answer(m.ID, code, reason)
		return
	}
	d, ok := c.doors[m.Door]
	if !ok {
		c.answer(m.ID, protocol.CodeUnsupported, protocol.ReasonNoDoor)
		return
	}
	code, reason := c.act(d, m)
	c.answer(m.ID, code, reason)
}

func (c *Controller) answer(id string, code int, reason string) {
	c.publish(protocol.TopicAck, &protocol.Ack{
		Version: protocol.Version, ID: id, Session: c.guard.Session, Code: code, Reason: reason,
	}, nil)
}

func (c *Controller) tick() {
	now := c.cfg.Now()
	for _, d := range c.doors {
		c.goOn(d, door.Tick{})
		if d.noisy {
			c.hush(d)
		}
	}
	if c.conn != nil && (now.Sub(c.asked) >= protocol.TimeEvery || now.Before(c.asked)) { // the latter is a clock that stepped
		c.askTime()
	}
}

// sense applies every input that is waiting.
func (c *Controller) sense() {
	for {
		select {
		case in := <-c.cfg.Hardware.Inputs():
			c.apply(in)
		default:
			return
		}
	}
}

func (c *Controller) apply(in Input) {
	if d, ok := c.doors[in.Door]; ok {
		c.goOn(d, in.In)
		c.note(d, c.cfg.Now()) // each change is one, however many come at once
	}
}

// untilNext returns the time to the next thing that time alone brings about.
func (c *Controller) untilNext() time.Duration {
	now := c.cfg.Now()
	wait := protocol.TimeEvery
	for _, d := range c.doors {
		if d.noisy {
			wait = min(wait, quietEvery)
		}
		if next := d.config.NextTick(d.state); !next.IsZero() {
			wait = min(wait, next.Sub(now))
		}
		if c.ready() {
			wait = min(wait, d.sentAt.Add(protocol.ReportEvery).Sub(now))
		}
	}
	if c.conn != nil {
		wait = min(wait, c.asked.Add(protocol.TimeEvery).Sub(now))
	}
	if c.beats() {
		wait = min(wait, c.beatAt.Sub(now))
	}
	return max(wait, 0)
}

// ready reports whether reports can be sent: connected, and the time is known.
func (c *Controller) ready() bool {
	if c.conn == nil {
		return false
	}
	_, ok := c.guard.Clock.Latest(c.cfg.Now())
	return ok
}
