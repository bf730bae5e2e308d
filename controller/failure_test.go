package controller

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lintel/door"
	"lintel/protocol"
)

// TestAFailedMovementIsAChangeWithItsReason: under the command that it was for.
func TestAFailedMovementIsAChangeWithItsReason(t *testing.T) {
	inBubble(t, func(t *testing.T, p *peer, b *bench) {
		c := connected(t, p)
		c.command("open", nil)
		c.ack()
		if s := c.state(); s.Value != "opening" || s.Reason != "" {
			t.Fatalf("%+v", s)
		}
		<-time.After(12 * time.Second) // as long as openers may warn by themselves
		if s := c.state(); s.Value != "closed" || s.Reason != "did_not_move" || s.Cause != "command" || s.Command != commandID || s.Event == "" {
			t.Errorf("%+v", s)
		}
		b.shows(door.Away, door.Away)
		if s := c.state(); s.Value != "opening" || s.Reason != "" || s.Cause != "unknown" || s.Command != "" {
			t.Errorf("a movement that nobody asked for: %+v", s)
		}
	})
}

// opened returns a connection on which the door has been reported open.
func opened(t *testing.T, p *peer, b *bench) *fakeConn {
	t.Helper()
	c := connected(t, p)
	b.shows(door.Away, door.At)
	for range 2 {
		c.next(protocol.TopicState)
	}
	return c
}

func TestAWarnedCloseIsTakenAndThenCarriedOut(t *testing.T) {
	warnedBubble(t, 5*time.Second, func(t *testing.T, p *peer, b *bench) {
		c := opened(t, p, b)
		c.command("close", nil)
		if a := c.ack(); a.Code != 200 || a.Reason != "warning" {
			t.Fatalf("%+v", a)
		}
		c.nothing()
		<-time.After(5 * time.Second)
		if s := c.state(); s.Value != "closing" || s.Cause != "command" || s.Command != commandID {
			t.Errorf("%+v", s)
		}
		if got, want := b.effects, []door.Effect{door.Warn, door.DriveClose}; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("effects %v, want %v", got, want)
		}
	})
}

// TestAWarnedCloseThatIsGivenUpIsAnEvent: the caller was told that it was taken.
func TestAWarnedCloseThatIsGivenUpIsAnEvent(t *testing.T) {
	for name, row := range map[string]struct {
		happens func(*bench)
		value   string
	}{
		"somebody moves the door": {func(b *bench) { b.shows(door.Away, door.Away) }, "closing"},
		"the hardware cannot do it": {func(b *bench) {
			b.err = errors.New("no line")
			b.inputs <- Input{1, door.Obstruction{}} // the controller sees both
		}, "open"},
	} {
		t.Run(name, func(t *testing.T) {
			warnedBubble(t, 5*time.Second, func(t *testing.T, p *peer, b *bench) {
				c := opened(t, p, b)
				c.command("close", nil)
				c.ack()
				c.nothing() // it warns, and waits
				row.happens(b)
				<-time.After(6 * time.Second)
				if s := c.state(); s.Value != row.value || s.Reason != "close_dropped" || s.Cause != "unknown" || s.Command != commandID || s.Event == "" {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// TestAWarnedCloseEndsWithItsSession: whoever revoked the right to it, or cut the
// network, must not see the door close afterwards.
func TestAWarnedCloseEndsWithItsSession(t *testing.T) {
	warnedBubble(t, 5*time.Second, func(t *testing.T, p *peer, b *bench) {
		c := opened(t, p, b)
		c.command("close", nil)
		c.ack()
		<-time.After(time.Second)
		close(c.done)
		c = <-p.conns
		c.open()
		s := c.state()
		for s.Reason == "" && s.Event != "" {
			s = c.state() // what came before, told again
		}
		if s.Value != "open" || s.Reason != "close_dropped" || s.Command != commandID {
			t.Errorf("%+v", s)
		}
		<-time.After(10 * time.Second)
		if got := b.effects; len(got) != 2 || got[1] != door.Quiet {
			t.Errorf("effects %v", got)
		}
	})
}

// TestAskingForSomethingElseEndsAWarning: also where the hardware cannot do that just then,
// and a warning that cannot be ended at once is ended later.
func TestAskingForSomethingElseEndsAWarning(t *testing.T) {
	warnedBubble(t, 5*time.Second, func(t *testing.T, p *peer, b *bench) {
		c := connected(t, p)
		b.shows(door.Away, door.Away) // somebody opens it
		c.next(protocol.TopicState)
		c.command("close", nil)
		c.ack()
		b.err = errors.New("no line")
		c.command("open", nil)
		if a := c.ack(); a.Code != 200 && a.Code != 501 {
			t.Errorf("%+v", a)
		}
		c.command("stop", nil)
		c.ackAmongReports()
		synctest.Wait()
		b.err = nil
		b.inputs <- Input{1, door.Obstruction{}} // the controller sees it
		<-time.After(20 * time.Second)
		if got := b.effects; len(got) != 2 || got[1] != door.Quiet {
			t.Errorf("effects %v", got)
		}
	})
}

// TestEveryChangeIsOne: however many wait when a command comes.
func TestEveryChangeIsOne(t *testing.T) {
	for range 50 {
		inBubble(t, func(t *testing.T, p *peer, b *bench) {
			c := connected(t, p)
			b.shows(door.Away, door.Away)
			b.shows(door.At, door.Away)
			c.command("open", func(m *protocol.Command) { m.Door = 2 })
			synctest.Wait()
			var values []string
			for len(c.sent) > 0 {
				if m := <-c.sent; m.name == protocol.TopicState {
					s, err := protocol.Decode[protocol.State](m.payload)
					if err != nil {
						t.Fatal(err)
					}
					if s.Event != "" {
						values = append(values, s.Value)
					}
				}
			}
			if len(values) != 2 || values[0] != "opening" || values[1] != "closed" {
				t.Fatalf("changes %v", values)
			}
		})
	}
}

// ackAmongReports waits for an answer, whatever is reported before it.
func (c *fakeConn) ackAmongReports() {
	c.t.Helper()
	synctest.Wait()
	for len(c.sent) > 0 {
		if m := <-c.sent; m.name == protocol.TopicAck {
			return
		}
	}
	c.t.Fatal("no answer")
}

func TestAskingToOpenEndsAWarning(t *testing.T) {
	warnedBubble(t, 5*time.Second, func(t *testing.T, p *peer, b *bench) {
		c := opened(t, p, b)
		c.command("close", nil)
		c.ack()
		c.command("open", nil)
		if a := c.ack(); a.Code != 200 || a.Reason != "close_dropped" {
			t.Errorf("%+v", a)
		}
		<-time.After(10 * time.Second)
		if got := b.effects; len(got) != 2 || got[1] != door.Quiet {
			t.Errorf("effects %v", got)
		}
		c.nothing()
	})
}
