package firmware

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
)

// cut ends a device's connection.
func cut(t *testing.T, s *mqtt.Server, id string) {
	t.Helper()
	client, ok := s.Clients.Get(id)
	if !ok {
		t.Fatalf("there is no client %s", id)
	}
	client.Stop(net.ErrClosed)
}

// listening says when a device has dealt with what it was told.
type listening struct {
	behaviour
	dealt chan string
}

func (l listening) told(topic, payload string) {
	l.behaviour.told(topic, payload)
	l.dealt <- topic + " " + payload
}

// TestRatgdoGuards: it is deaf for ten seconds, once. From then on it obeys a command that
// somebody has left at the broker whenever it connects.
func TestRatgdoGuards(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	dealt := make(chan string, 100)
	made := func(c Config) *Device {
		d := Ratgdo(c)
		d.does = listening{d.does, dealt}
		return d
	}
	s, h := play(t, made, Config{Base: "home/Door", Now: now, Faults: Faults{Guard: RatgdoGuard, LateWill: true}})
	await(t, h.listen, "Door")
	await(t, h.said, "home/Door/status/availability online")
	tell(t, s, "home/Door/command/door", "open")
	await(t, dealt, "home/Door/command/door open")
	later.Store(int64(RatgdoGuard))
	tell(t, s, "home/Door/command/query", "query")
	await(t, h.said, "home/Door/status/door closed") // it has ignored the first, or would be opening
	if err := s.Publish("home/Door/command/door", []byte("open"), true, 0); err != nil {
		t.Fatal(err)
	}
	await(t, h.said, "home/Door/status/door open")
	tell(t, s, "home/Door/command/door", "close")
	await(t, h.said, "home/Door/status/door closed")
	cut(t, s, "Door")
	await(t, h.said, "home/Door/status/door opening")
	await(t, h.said, "home/Door/status/door open")
}

// TestOpenGarageBeeps: its door moves five seconds after the command, and a second
// command begins that anew.
func TestOpenGarageBeeps(t *testing.T) {
	t.Parallel()
	beeped := make(chan time.Duration, 1)
	made := func(c Config) *Device {
		d := OpenGarage(c)
		o := d.does.(*opengarage)
		changed, began := o.changed, c.Now()
		o.changed = func() {
			if changed(); o.moves() {
				beeped <- c.Now().Sub(began)
			}
		}
		return d
	}
	s, h := play(t, made, Config{Base: "OG", Faults: Faults{Alarm: OpenGarageAlarm, LosesReports: true}})
	await(t, h.listen, "OG_ABCDEF")
	await(t, h.said, "OG/OUT/STATUS online")
	tell(t, s, "OG/IN/STATE", "open")
	select {
	case after := <-beeped:
		if after < OpenGarageAlarm {
			t.Errorf("it moved after %s", after)
		}
	case <-time.After(patience):
		t.Error("it did not move")
	}
}

// TestShelly1 ends its pulse by itself and answers an update with every value.
func TestShelly1(t *testing.T) {
	t.Parallel()
	s, h := play(t, Shelly1, Config{Base: "shelly1-68C63AFA0C2B"})
	const base = "shellies/shelly1-68C63AFA0C2B"
	await(t, h.listen, "shelly1-68C63AFA0C2B")
	await(t, h.said, base+"/online true")
	tell(t, s, base+"/command", "update")
	await(t, h.said, base+"/input/0 1")
	tell(t, s, base+"/relay/0/command", "on")
	await(t, h.said, base+"/relay/0 on")
	await(t, h.said, base+"/input/0 0")
	await(t, h.said, base+"/relay/0 off")
	cut(t, s, "shelly1-68C63AFA0C2B")
	await(t, h.said, base+"/online true")
	await(t, h.said, base+"/input/0 0")
}
