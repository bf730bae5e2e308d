package bridge

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lintel/control"
	"lintel/controller"
	"lintel/door"
	"lintel/driver"
)

// distant is a device behind the owner's broker.
type distant struct {
	mute
	unit    *unit
	answers []string // to each question
	asked   atomic.Int64
	expired chan struct{}
	inputs  chan door.Input
}

func (d *distant) Expire() { close(d.expired) }

func (d *distant) SendTo(string, []byte) error {
	d.asked.Add(1)
	d.says(d.answers...)
	return nil
}

func (d *distant) says(words ...string) {
	for _, w := range words {
		d.unit.hear(driver.Message{Topic: "d/state", Payload: []byte(w)})
	}
}

// far runs a device, which first says that its door is closed, until f is over. It is
// called in a bubble.
func far(answers []string, f func(d *distant)) {
	d := &distant{answers: answers, expired: make(chan struct{}), inputs: make(chan door.Input, 1000)}
	d.reset = make(chan struct{})
	u := newUnit(d, plain{}, driver.Settings{Upstream: true}, time.Now, time.Second)
	d.unit = u
	go u.pump()
	go u.askOn(slog.New(slog.DiscardHandler))
	go func() {
		for {
			select {
			case in := <-u.inputs:
				d.inputs <- in.In
			case <-u.ended:
				return
			}
		}
	}()
	d.says("closed")
	f(d)
	u.end()
}

// TestASilentDeviceIsGone holds that nobody is told for longer than a report lasts that a
// dead device's door is closed: without its will, nobody else would notice.
func TestASilentDeviceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far(nil, func(d *distant) {
			began := time.Now()
			select {
			case <-d.expired:
			case <-time.After(time.Hour):
				t.Fatal("it is there for ever")
			}
			if gone := time.Since(began); gone < silentFor || gone >= control.FreshFor {
				t.Errorf("gone after %s", gone)
			}
			if asked := d.asked.Load(); asked < 3 {
				t.Errorf("asked %d times, at its beginning included", asked)
			}
			if _, err := d.unit.messages(door.DriveOpen); !errors.Is(err, controller.ErrUncertain) {
				t.Errorf("a command to it: %v", err)
			}
		})
	})
}

// TestADeviceThatAnswersStays for as long as it likes, and its answers are no changes: also
// where it says first that it knows nothing.
func TestADeviceThatAnswersStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far([]string{"unknown", "closed"}, func(d *distant) {
			synctest.Wait()
			for len(d.inputs) > 0 {
				<-d.inputs // of the first question, which everybody may be told of
			}
			select {
			case <-d.expired:
				t.Error("it is gone")
			case <-time.After(time.Hour):
			}
			if asked := d.asked.Load(); asked < 50 || asked > 70 {
				t.Errorf("asked %d times in an hour", asked)
			}
			for len(d.inputs) > 0 {
				if in := <-d.inputs; in != (door.Reported{Value: door.Closed}) {
					t.Errorf("the machine is told %+v", in)
				}
			}
			if _, err := d.unit.messages(door.DriveOpen); err != nil {
				t.Errorf("a command to it: %v", err)
			}
		})
	})
}

// TestADeviceThatAnswersUnknown is believed, a little later, and not moved until then.
func TestADeviceThatAnswersUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far(nil, func(d *distant) {
			synctest.Wait()
			for len(d.inputs) > 0 {
				<-d.inputs
			}
			<-time.After(silentFor + time.Second)
			d.says("unknown")
			synctest.Wait()
			if _, err := d.unit.messages(door.DriveOpen); len(d.inputs) > 0 || !errors.Is(err, controller.ErrUncertain) {
				t.Errorf("%d inputs; a command to it: %v", len(d.inputs), err)
			}
			<-time.After(2 * askEvery)
			if in := <-d.inputs; in != (door.Reported{Value: door.Unknown}) {
				t.Errorf("the machine is told %+v", in)
			}
		})
	})
}

// TestAnUnknownOfItsOwn is passed on at once: it is no answer.
func TestAnUnknownOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far(nil, func(d *distant) {
			synctest.Wait()
			<-d.inputs
			d.says("unknown")
			synctest.Wait()
			if len(d.inputs) != 1 {
				t.Errorf("%d inputs", len(d.inputs))
			}
		})
	})
}
