package controller

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"lintel/door"
	"lintel/protocol"
)

// peer plays the service: it is the Dialer, and sees and answers everything.
type peer struct {
	t     *testing.T
	fail  bool // refuse to connect
	dials []time.Time
	conns chan *fakeConn
}

func (p *peer) Dial(_ context.Context, will []byte) (Conn, error) {
	p.dials = append(p.dials, time.Now())
	if p.fail {
		return nil, errors.New("refused")
	}
	w, err := protocol.Decode[protocol.Will](will)
	if err != nil {
		p.t.Errorf("will: %v", err)
	}
	c := &fakeConn{t: p.t, session: w.Session, messages: make(chan Message, 16), done: make(chan struct{}), sent: make(chan published, 200)}
	p.conns <- c
	return c, nil
}

type published struct {
	name    string
	payload []byte
	stored  func()
}

type fakeConn struct {
	t        *testing.T
	session  string
	messages chan Message
	done     chan struct{}
	sent     chan published
	seq      int64
	closed   bool
}

func (c *fakeConn) Messages() <-chan Message { return c.messages }
func (c *fakeConn) Done() <-chan struct{}    { return c.done }
func (c *fakeConn) Close()                   { c.closed = true }
func (c *fakeConn) Publish(name string, payload []byte, stored func()) {
	c.sent <- published{name, payload, stored}
}

// next returns the next thing published, which must have the name.
func (c *fakeConn) next(name string) published {
	c.t.Helper()
	synctest.Wait()
	select {
	case p := <-c.sent:
		if p.name != name {
			c.t.Fatalf("published %s %s, want %s", p.name, p.payload, name)
		}
		return p
	default:
		c.t.Fatalf("nothing published, want %s", name)
	}
	return published{}
}

func (c *fakeConn) nothing() {
	c.t.Helper()
	synctest.Wait()
	select {
	case p := <-c.sent:
		c.t.Fatalf("published %s %s, want nothing", p.name, p.payload)
	default:
	}
}

func (c *fakeConn) state() protocol.State {
	c.t.Helper()
	s, err := protocol.Decode[protocol.State](c.next(protocol.TopicState).payload)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *fakeConn) ack() protocol.Ack {
	c.t.Helper()
	a, err := protocol.Decode[protocol.Ack](c.next(protocol.TopicAck).payload)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// serviceAhead is how far service time is ahead of the controller's clock.
const serviceAhead = time.Hour

func serviceNow() int64 { return time.Now().Add(serviceAhead).UnixMilli() }

// open takes hello and the time request, and tells the time.
func (c *fakeConn) open() {
	c.t.Helper()
	h, err := protocol.Decode[protocol.Hello](c.next(protocol.TopicHello).payload)
	if err != nil || h.Session != c.session {
		c.t.Fatalf("hello %+v, %v", h, err)
	}
	r, err := protocol.Decode[protocol.TimeRequest](c.next(protocol.TopicTimeRequest).payload)
	if err != nil {
		c.t.Fatal(err)
	}
	c.messages <- Message{Name: protocol.TopicTime, Payload: protocol.Encode(&protocol.Time{
		Version: 1, Session: c.session, Nonce: r.Nonce, Now: serviceNow()})}
}

const commandID = "0b0c0d0e-1111-4222-8333-444455556666"

func (c *fakeConn) command(action string, change func(*protocol.Command)) {
	c.seq++
	m := &protocol.Command{Version: 1, ID: commandID, Session: c.session, Sequence: c.seq, Door: 1, Action: action, Deadline: serviceNow() + 5000}
	if change != nil {
		change(m)
	}
	c.messages <- Message{Name: protocol.TopicCommand, Payload: protocol.Encode(m)}
}

// bench is hardware that the test moves by hand.
type bench struct {
	inputs  chan Input
	effects []door.Effect
	err     error
}

func (b *bench) Inputs() <-chan Input { return b.inputs }
func (b *bench) Actuate(_ int, e door.Effect) error {
	if b.err == nil {
		b.effects = append(b.effects, e)
	}
	return b.err
}
func (b *bench) shows(closed, open door.Reading) {
	b.inputs <- Input{1, door.Sensed{End: door.ClosedEnd, Reading: closed}}
	b.inputs <- Input{1, door.Sensed{End: door.OpenEnd, Reading: open}}
}

// inBubble runs a test with a controller of one discrete door, seen closed.
func inBubble(t *testing.T, run func(t *testing.T, p *peer, b *bench)) {
	warnedBubble(t, 0, run)
}

// warnedBubble is inBubble with a door that warns for so long before it closes.
func warnedBubble(t *testing.T, warning time.Duration, run func(t *testing.T, p *peer, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{t: t, conns: make(chan *fakeConn, 10)}
		b := &bench{inputs: make(chan Input, 10)}
		b.shows(door.At, door.Away)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := New(Config{
			Doors:    map[int]door.Config{1: {Opener: door.Discrete, ClosedSensor: true, OpenSensor: true, Travel: 10 * time.Second, Warning: warning}},
			Hardware: b, Dialer: p, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		go c.Run(ctx)
		run(t, p, b)
	})
}

// connected returns a connection on which the door has been reported closed.
func connected(t *testing.T, p *peer) *fakeConn {
	t.Helper()
	c := <-p.conns
	c.open()
	if s := c.state(); s.Value != "closed" || s.Source != "sensor" || s.Sensor != "ok" || s.Event != "" || s.Sequence != 1 {
		t.Fatalf("first report %+v", s)
	}
	return c
}

func TestACommandIsAnsweredThenReported(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := connected(t, p)
		c.command("open", nil)
		if a := c.ack(); a.Code != 200 || a.ID != commandID || a.Reason != "" {
			t.Fatalf("%+v", a)
		}
		if s := c.state(); s.Value != "opening" || s.Cause != "command" || s.Command != commandID || s.Event == "" || s.Since != serviceNow()+1 {
			t.Fatalf("%+v at %d", s, serviceNow())
		}
		b.shows(door.Away, door.At)
		for _, want := range []string{"opening", "open"} {
			if s := c.state(); s.Value != want || s.Source != "sensor" {
				t.Fatalf("%+v, want %s", s, want)
			}
		}
		b.shows(door.Away, door.Away)
		if s := c.state(); s.Value != "closing" || s.Cause != "unknown" || s.Command != "" {
			t.Fatalf("a movement nobody asked for: %+v", s)
		}
		if len(b.effects) != 1 || b.effects[0] != door.DriveOpen {
			t.Fatalf("effects %v", b.effects)
		}
	})
}

// TestNothingActsTwiceOrLate: replays, other sessions' commands, late ones and
// retained ones reach no relay.
func TestNothingActsTwiceOrLate(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := connected(t, p)
		rows := []struct {
			change func(*protocol.Command)
			code   int
			reason string
		}{
			{func(m *protocol.Command) { m.Session = "ZYXWVUTSRQPONMLKJIHGFEDCBA" }, 400, protocol.ReasonSession},
			{func(m *protocol.Command) { m.Deadline = serviceNow() - 1 }, 404, protocol.ReasonLate},
			{func(m *protocol.Command) { m.Sequence = 1 }, 400, protocol.ReasonRepeated},
			{func(m *protocol.Command) { m.Door = 2 }, 501, protocol.ReasonNoDoor},
		}
		for _, row := range rows {
			c.command("open", row.change)
			if a := c.ack(); a.Code != row.code || a.Reason != row.reason {
				t.Errorf("%+v, want %d %s", a, row.code, row.reason)
			}
		}
		c.seq++
		retained := protocol.Encode(&protocol.Command{Version: 1, ID: commandID, Session: c.session, Sequence: c.seq, Door: 1, Action: "open", Deadline: serviceNow() + 5000})
		c.messages <- Message{Name: protocol.TopicCommand, Payload: retained, Retained: true}
		c.nothing()
		c.messages <- Message{Name: protocol.TopicCommand, Payload: []byte(`{"id":"` + commandID + `","v":1}`)}
		if a := c.ack(); a.Code != 400 || a.Reason != protocol.ReasonMalformed {
			t.Errorf("%+v", a)
		}
		if len(b.effects) != 0 {
			t.Errorf("effects %v", b.effects)
		}
	})
}

// TestSensorsComeBeforeCommands: whatever the sensors have shown by the time a
// command is looked at counts, in whichever order the two are noticed.
func TestSensorsComeBeforeCommands(t *testing.T) {
	for range 20 {
		inBubble(t, func(t *testing.T, p *peer, b *bench) {
			c := connected(t, p)
			b.shows(door.Lost, door.Lost)
			c.command("open", nil)
			synctest.Wait()
			for len(c.sent) > 0 {
				if m := <-c.sent; m.name == protocol.TopicAck {
					if a, _ := protocol.Decode[protocol.Ack](m.payload); a.Reason != string(door.RefuseSensor) {
						t.Errorf("%+v on a door whose sensors were lost before", a)
					}
				}
			}
			if len(b.effects) != 0 {
				t.Errorf("effects %v", b.effects)
			}
		})
	}
}

func TestFailedHardwareIsNotTaken(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := connected(t, p)
		b.err = errors.New("no line")
		c.command("open", nil)
		if a := c.ack(); a.Code != 501 || a.Reason != "hardware_failed" {
			t.Errorf("%+v", a)
		}
		c.nothing() // the door is believed where it was
		b.err = nil
		c.command("open", nil)
		if a := c.ack(); a.Code != 200 {
			t.Errorf("%+v", a)
		}
	})
}

// TestChangesSurviveALostConnection: what was not confirmed is sent again under
// the same name in the next session, and what was is not.
func TestChangesSurviveALostConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := connected(t, p)
		b.shows(door.Away, door.Away)
		opening := c.next(protocol.TopicState)
		opening.stored()
		b.shows(door.Away, door.At)
		lost := c.state()
		close(c.done)
		synctest.Wait()
		b.shows(door.Away, door.Away)

		c = <-p.conns
		c.open()
		if again := c.state(); again.Event != lost.Event || again.Value != "open" || again.Session == lost.Session {
			t.Errorf("%+v, want the event %s again", again, lost.Event)
		}
		if s := c.state(); s.Value != "closing" || s.Event == "" || s.Sequence != 2 {
			t.Errorf("what happened while offline: %+v", s)
		}
		if s := c.state(); s.Value != "closing" || s.Event != "" {
			t.Errorf("the present state: %+v", s)
		}
		c.nothing()
	})
}

// TestASessionBeginsWithAPlainReport also where the door changes before the time is
// known: changes of before are no evidence to the service of where the door is now.
func TestASessionBeginsWithAPlainReport(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := <-p.conns
		synctest.Wait()
		b.shows(door.Away, door.Away)
		synctest.Wait()
		c.open()
		if s := c.state(); s.Value != "opening" || s.Event == "" {
			t.Errorf("the change: %+v", s)
		}
		if s := c.state(); s.Value != "opening" || s.Event != "" {
			t.Errorf("the present state: %+v", s)
		}
		c.nothing()
	})
}

func TestReportsAndTimeAreRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, _ *bench) {
		c := connected(t, p)
		<-time.After(protocol.ReportEvery)
		if s := c.state(); s.Value != "closed" || s.Event != "" || s.Sequence != 2 {
			t.Errorf("%+v", s)
		}
		<-time.After(protocol.TimeEvery - protocol.ReportEvery)
		synctest.Wait()
		var names []string
		for len(c.sent) > 0 {
			names = append(names, (<-c.sent).name)
		}
		if len(names) != 2 {
			t.Errorf("after %v: %v, want the time and a report", protocol.TimeEvery, names)
		}
	})
}

// TestWithoutTheTimeNothingIsReportedOrDone: a service that does not tell the
// time gets refusals only.
func TestWithoutTheTimeNothingIsReportedOrDone(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := <-p.conns
		c.next(protocol.TopicHello)
		c.next(protocol.TopicTimeRequest)
		c.nothing()
		c.command("open", nil)
		if a := c.ack(); a.Code != 404 || a.Reason != protocol.ReasonNoTime || len(b.effects) != 0 {
			t.Errorf("%+v, effects %v", a, b.effects)
		}
	})
}

func TestTriesToConnectLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{t: t, fail: true}
		ctx, cancel := context.WithCancel(t.Context())
		c := New(Config{Hardware: &bench{}, Dialer: p, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		go c.Run(ctx)
		<-time.After(10 * time.Minute)
		cancel()
		synctest.Wait()
		if n := len(p.dials); n < 15 || n > 60 {
			t.Errorf("%d tries in 10 minutes", n)
		}
		last := p.dials[len(p.dials)-1].Sub(p.dials[len(p.dials)-2])
		if last < maxDelay/2 || last > 2*maxDelay {
			t.Errorf("the last pause was %v", last)
		}
	})
}

func TestLeavesWithItsWill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{t: t, conns: make(chan *fakeConn, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		c := New(Config{Doors: map[int]door.Config{1: {}}, Hardware: &bench{}, Dialer: p, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		go c.Run(ctx)
		conn := <-p.conns
		conn.open()
		synctest.Wait()
		for len(conn.sent) > 0 {
			<-conn.sent
		}
		cancel()
		conn.next(protocol.TopicWill)
		if !conn.closed {
			t.Error("the connection was left open")
		}
	})
}
