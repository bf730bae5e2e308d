package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"lintel"
	"lintel/door"
	"lintel/driver"
)

const theDevice = lintel.ID("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")

// plain is the plainest firmware there could be.
type plain struct{}

func (plain) Name() string                      { return "plain" }
func (plain) Capabilities() driver.Capabilities { return driver.Capabilities{} }
func (plain) Check(driver.Settings) error       { return nil }
func (plain) Topics(s driver.Settings) driver.Topics {
	return driver.Topics{Publish: []string{s.Base + "/#"}, Subscribe: []string{s.Base + "/cmd/#"}, Commands: []string{s.Base + "/cmd/#"},
		Presence: s.Base + "/online", Gone: "no"}
}
func (plain) Setup(driver.Settings, driver.Login) string   { return "" }
func (plain) Device(driver.Settings) driver.Device         { return plain{} }
func (plain) Door() door.Config                            { return door.Config{} }
func (plain) Receive(driver.Message) []door.Input          { return nil }
func (plain) Actuate(door.Effect) ([]driver.Message, bool) { return nil, false }
func (plain) Connected() []driver.Message {
	return []driver.Message{{Topic: "d/cmd/ask", Payload: []byte("where")}}
}

// enrolled is what is enrolled, and hears what is there.
type enrolled struct {
	mu      sync.Mutex // guards devices
	devices []Device

	connected    chan *Connection
	received     chan string
	disconnected chan *Connection
}

func (e *enrolled) Upstream(context.Context) ([]Device, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.devices, nil
}
func (e *enrolled) Connected(c *Connection, _ Device) { e.connected <- c }
func (e *enrolled) Received(_ *Connection, topic string, p []byte) {
	e.received <- topic + " " + string(p)
}
func (e *enrolled) Disconnected(c *Connection) { e.disconnected <- c }

// fake is a broker of which the test says every word.
type fake struct {
	t *testing.T
	net.Listener
	devices *enrolled
	ahead   atomic.Int64 // of the clock that the client sees, in nanoseconds
}

func start(t *testing.T) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, Listener: l, devices: &enrolled{devices: []Device{{ID: theDevice, Driver: plain{}, Settings: driver.Settings{Base: "d"}}},
		connected: make(chan *Connection, 10), received: make(chan string, 10), disconnected: make(chan *Connection, 10)}}
	c := New(Config{Address: l.Addr().String(), Username: "lintel", Password: "a password", Now: f.now, Log: slog.New(slog.DiscardHandler)}, f.devices, f.devices)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		l.Close()
		running.Wait()
	})
	return f
}

func (f *fake) now() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }

// later lets time pass for the client.
func (f *fake) later(d time.Duration) { f.ahead.Add(int64(d)) }

// enrol changes what is enrolled.
func (e *enrolled) enrol(devices ...Device) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.devices = devices
}

// peer is one connection of the client, at the broker.
type peer struct {
	t *testing.T
	net.Conn
}

func (f *fake) accept() *peer {
	f.t.Helper()
	conn, err := f.Accept()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	return &peer{f.t, conn}
}

// next reads a packet.
func (p *peer) next() *packets.ControlPacket {
	p.t.Helper()
	got, err := packets.ReadPacket(p.Conn)
	if err != nil {
		p.t.Fatal(err)
	}
	return got
}

func (p *peer) write(packet interface {
	WriteTo(io.Writer) (int64, error)
}) {
	p.t.Helper()
	if _, err := packet.WriteTo(p.Conn); err != nil {
		p.t.Fatal(err)
	}
}

// ready takes the connection to where questions have been asked.
func (p *peer) ready() {
	p.t.Helper()
	connect, ok := p.next().Content.(*packets.Connect)
	if !ok || !connect.CleanStart || *connect.Properties.SessionExpiryInterval != 0 || string(connect.Password) != "a password" {
		p.t.Fatalf("connect %+v", connect)
	}
	p.write(&packets.Connack{Properties: &packets.Properties{}})
	asked := p.next()
	subscribe, ok := asked.Content.(*packets.Subscribe)
	if !ok || len(subscribe.Subscriptions) != 1 {
		p.t.Fatalf("subscribe %+v", asked)
	}
	if s := subscribe.Subscriptions[0]; s.Topic != "d/#" || s.RetainHandling != 2 || s.RetainAsPublished || !s.NoLocal {
		p.t.Errorf("subscribed to %+v", s)
	}
	p.write(&packets.Suback{PacketID: subscribe.PacketID, Reasons: []byte{1}, Properties: &packets.Properties{}})
	if m, ok := p.next().Content.(*packets.Publish); !ok || m.Topic != "d/cmd/ask" || m.Retain || *m.Properties.MessageExpiry == 0 {
		p.t.Errorf("asked %+v", m)
	}
}

// publish passes on what the device said.
func (p *peer) publish(topic, payload string, retained bool) {
	p.t.Helper()
	p.write(&packets.Publish{Topic: topic, Payload: []byte(payload), Retain: retained, Properties: &packets.Properties{}})
}

func next[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("waited for: %s", what)
	}
	panic("unreachable")
}

// there is a device that has spoken.
func there(t *testing.T) (*fake, *peer, *Connection) {
	t.Helper()
	f := start(t)
	p := f.accept()
	p.ready()
	p.publish("d/state", "closed", false)
	c := next(t, "the device", f.devices.connected)
	next(t, "its word", f.devices.received)
	return f, p, c
}

// deliver gives a device a command, aside.
func deliver(c *Connection, limit time.Duration) <-chan error {
	done := make(chan error, 1)
	until := c.session.owner.cfg.Now().Add(limit)
	go func() { done <- c.Deliver("d/cmd/door", []byte("open"), until) }()
	return done
}

// cut reports whether the other side has reset the connection, after what it wrote before.
func (p *peer) cut() (rest []byte, err error) {
	rest, err = io.ReadAll(p.Conn)
	return rest, err
}

// TestPresence: the broker's memory makes no device, a command to it neither; its live
// word does, and its will ends it.
func TestPresence(t *testing.T) {
	f := start(t)
	p := f.accept()
	p.ready()
	p.publish("d/online", "yes", true)
	p.publish("d/state", "closed", true)
	p.publish("d/cmd/door", "open", false)
	p.publish("e/state", "closed", false)
	p.publish("d/online", "no", false)
	p.publish("d/state", "open", false)
	first := next(t, "the device", f.devices.connected)
	if got := next(t, "its word", f.devices.received); got != "d/state open" {
		t.Errorf("first it said %q", got)
	}
	p.publish("d/online", "no", false)
	if gone := next(t, "its end", f.devices.disconnected); gone != first || !gone.Ended() {
		t.Error("another connection ended")
	}
	p.publish("d/online", "yes", false)
	next(t, "its return", f.devices.connected)
	p.Close()
	next(t, "its end with the broker's connection", f.devices.disconnected)
	f.accept().ready()
}

// TestADeviceThatConnectsAnew is another one: what was known of it is of before. What it
// says in the moment of its beginning belongs together.
func TestADeviceThatConnectsAnew(t *testing.T) {
	f, p, first := there(t)
	p.publish("d/online", "yes", false)
	if got := next(t, "its word", f.devices.received); got != "d/online yes" || first.Ended() {
		t.Errorf("it said %q, and ended: %v", got, first.Ended())
	}
	f.later(settles)
	p.publish("d/online", "yes", false)
	if gone := next(t, "its end", f.devices.disconnected); gone != first {
		t.Error("another connection ended")
	}
	if again := next(t, "its return", f.devices.connected); again == first || again.Ended() {
		t.Error("it is the same connection")
	}
}

// TestAResetDeviceIsNotHeardForAWhile: one that says more than can be dealt with would
// begin again and again.
func TestAResetDeviceIsNotHeardForAWhile(t *testing.T) {
	f, p, c := there(t)
	c.Reset()
	next(t, "its end", f.devices.disconnected)
	p.publish("d/state", "unheard", false)
	p.write(&packets.Publish{QoS: 1, PacketID: 7, Topic: "d/state", Payload: []byte("unheard"), Properties: &packets.Properties{}})
	if _, ok := p.next().Content.(*packets.Puback); !ok {
		t.Fatal("no confirmation")
	}
	// Confirmed is what has been handed on: wait until it has been looked at, too.
	f.devices.enrol(Device{ID: theDevice, Driver: plain{}, Settings: driver.Settings{Base: "d"}}, Device{ID: "another", Driver: plain{}, Settings: driver.Settings{Base: "e"}})
	subscribe := p.next().Content.(*packets.Subscribe)
	p.write(&packets.Suback{PacketID: subscribe.PacketID, Reasons: []byte{1}, Properties: &packets.Properties{}})
	f.later(resetPause)
	p.publish("d/state", "heard", false)
	next(t, "its return", f.devices.connected)
	if got := next(t, "its word", f.devices.received); got != "d/state heard" {
		t.Errorf("it said %q", got)
	}
}

// TestAnExpiredDevice is there again with its next word.
func TestAnExpiredDevice(t *testing.T) {
	f, p, c := there(t)
	c.Expire()
	if gone := next(t, "its end", f.devices.disconnected); gone != c || !gone.Ended() {
		t.Error("another connection ended")
	}
	p.publish("d/state", "open", false)
	if again := next(t, "its return", f.devices.connected); again == c || again.Ended() {
		t.Error("it is the same connection")
	}
}

// TestEnrolledWhileItRuns: devices come and go without a restart, and a second controller
// for the same device is left out.
func TestEnrolledWhileItRuns(t *testing.T) {
	f, p, c := there(t)
	other := Device{ID: "another", Driver: plain{}, Settings: driver.Settings{Base: "e"}}
	f.devices.enrol(Device{ID: "twin", Driver: plain{}, Settings: driver.Settings{Base: "e"}}, other)
	if gone := next(t, "the revoked one's end", f.devices.disconnected); gone != c {
		t.Error("another connection ended")
	}
	subscribe, ok := p.next().Content.(*packets.Subscribe)
	if !ok || len(subscribe.Subscriptions) != 1 || subscribe.Subscriptions[0].Topic != "e/#" {
		t.Fatalf("subscribed to %+v", subscribe)
	}
	p.write(&packets.Suback{PacketID: subscribe.PacketID, Reasons: []byte{1}, Properties: &packets.Properties{}})
	unsubscribe, ok := p.next().Content.(*packets.Unsubscribe)
	if !ok || len(unsubscribe.Topics) != 1 || unsubscribe.Topics[0] != "d/#" {
		t.Fatalf("unsubscribed from %+v", unsubscribe)
	}
	p.write(&packets.Unsuback{PacketID: unsubscribe.PacketID, Reasons: []byte{0}, Properties: &packets.Properties{}})
	p.publish("d/state", "closed", false)
	p.publish("e/state", "closed", false)
	if there := next(t, "the other device", f.devices.connected); there.ID() != "twin" {
		t.Errorf("connected as %s", there.ID())
	}
	next(t, "its word", f.devices.received)
	if len(f.devices.connected) != 0 {
		t.Error("one device is two")
	}
}

// TestACommandIsConfirmed after the broker has shown that it is there.
func TestACommandIsConfirmed(t *testing.T) {
	_, p, c := there(t)
	done := deliver(c, 10*time.Second)
	if _, ok := p.next().Content.(*packets.Pingreq); !ok {
		t.Fatal("no question whether the broker is there")
	}
	p.write(packets.NewControlPacket(packets.PINGRESP))
	m, ok := p.next().Content.(*packets.Publish)
	if !ok || m.Topic != "d/cmd/door" || string(m.Payload) != "open" || m.QoS != 1 || m.Retain || m.Duplicate || *m.Properties.MessageExpiry != 10 {
		t.Fatalf("published %+v", m)
	}
	p.write(&packets.Puback{PacketID: m.PacketID, Properties: &packets.Properties{}})
	if err := next(t, "the confirmation", done); err != nil {
		t.Error(err)
	}
}

// TestNobodyThere is what the broker says of a device that takes no commands.
func TestNobodyThere(t *testing.T) {
	f, p, c := there(t)
	done := deliver(c, 10*time.Second)
	p.next()
	p.write(packets.NewControlPacket(packets.PINGRESP))
	m := p.next().Content.(*packets.Publish)
	p.write(&packets.Puback{PacketID: m.PacketID, ReasonCode: packets.PubackNoMatchingSubscribers, Properties: &packets.Properties{}})
	if err := next(t, "the answer", done); !errors.Is(err, errNobody) {
		t.Errorf("%v", err)
	}
	next(t, "the device's end", f.devices.disconnected)
}

// TestABrokerThatStandsStillIsGivenNoCommand: it would find the command in its machine
// when it goes on.
func TestABrokerThatStandsStillIsGivenNoCommand(t *testing.T) {
	f, p, c := there(t)
	if err := c.Deliver("d/cmd/door", []byte("open"), f.now().Add(200*time.Millisecond)); !errors.Is(err, errSilent) {
		t.Errorf("%v", err)
	}
	if rest, err := p.cut(); bytes.Contains(rest, []byte("open")) || err == nil {
		t.Errorf("it finds %q (%v)", rest, err)
	}
	if err := c.Deliver("d/cmd/door", []byte("open"), f.now().Add(time.Second)); !errors.Is(err, errEnded) {
		t.Errorf("afterwards: %v", err)
	}
	next(t, "the device's end", f.devices.disconnected)
}

// TestAnUnconfirmedCommandIsNotRepeated: the connection is reset, and the next one has
// nothing of it.
func TestAnUnconfirmedCommandIsNotRepeated(t *testing.T) {
	f, p, c := there(t)
	done := deliver(c, 500*time.Millisecond)
	p.next()
	p.write(packets.NewControlPacket(packets.PINGRESP))
	p.next()
	if err := next(t, "the answer", done); err == nil {
		t.Error("taken without a confirmation")
	}
	if _, err := p.cut(); err == nil {
		t.Error("the connection was closed, not reset")
	}
	again := f.accept()
	again.ready()
	again.publish("d/state", "closed", false)
	next(t, "the device", f.devices.connected)
	fresh := deliver(next(t, "the device", f.connectedAgain(again)), 10*time.Second)
	if _, ok := again.next().Content.(*packets.Pingreq); !ok {
		t.Error("something was repeated")
	}
	again.write(packets.NewControlPacket(packets.PINGRESP))
	m := again.next().Content.(*packets.Publish)
	again.write(&packets.Puback{PacketID: m.PacketID, Properties: &packets.Properties{}})
	if err := next(t, "the confirmation", fresh); err != nil || m.Duplicate {
		t.Errorf("%v, duplicate %v", err, m.Duplicate)
	}
}

// connectedAgain has the device go and come.
func (f *fake) connectedAgain(p *peer) <-chan *Connection {
	p.publish("d/online", "no", false)
	p.publish("d/online", "yes", false)
	return f.devices.connected
}

// TestRefusals are told apart, so that somebody can act on them. The password is not said.
func TestRefusals(t *testing.T) {
	for answer, want := range map[string]string{
		oldRefusal:                     "does not speak MQTT 5",
		"\x20\x03\x00\x84\x00":         "does not speak MQTT 5",
		"\x20\x03\x00\x86\x00":         "refuses the user name or the password",
		"\x20\x03\x00\x87\x00":         "refuses the user name or the password",
		"\x20\x03\x00\x89\x00":         "refuses the connection, code 0x89",
		"\x20\x05\x00\x00\x02\x24\x00": "confirms nothing",
		"HTTP/1.1 400 Bad Request":     "does not take the connection",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = packets.ReadPacket(conn)
				_, _ = io.WriteString(conn, answer)
				conn.Close()
			}
		}()
		c := New(Config{Address: l.Addr().String(), Username: "lintel", Password: "a password", Now: time.Now, Log: slog.New(slog.DiscardHandler)}, nil, nil)
		if _, failed := c.connect(t.Context()); failed == nil || !strings.Contains(failed.Error(), want) || strings.Contains(failed.Error(), "a password") {
			t.Errorf("%q: %v", answer, failed)
		}
		l.Close()
	}
}

func TestSameDoor(t *testing.T) {
	commands := func(filters ...string) driver.Topics { return driver.Topics{Commands: filters} }
	for _, row := range []struct {
		a, b driver.Topics
		same bool
	}{
		{commands("x/cmd/#"), commands("x/cmd/#"), true},
		{commands("x/cmd/#"), commands("x/cmd/door"), true},
		{commands("x/#"), commands("x/cmd/#"), true},
		{commands("x/cmd"), commands("x/cmd"), true},
		{commands("x/a/cmd"), commands("x/b/cmd"), false},
		{commands("x/cmd/#"), commands("x/cmdother/#"), false},
	} {
		if SameDoor(row.a, row.b) != row.same || SameDoor(row.b, row.a) != row.same {
			t.Errorf("%v and %v", row.a.Commands, row.b.Commands)
		}
	}
}

// TestWrites is no more than what is published: a firmware may subscribe to more.
func TestWrites(t *testing.T) {
	if got := Writes(plain{}, driver.Settings{Base: "d"}); len(got) != 1 || got[0] != "d/cmd/#" {
		t.Errorf("%q", got)
	}
	if got := Writes(plain{}, driver.Settings{Base: "e"}); len(got) != 2 || got[1] != "d/cmd/ask" {
		t.Errorf("%q", got)
	}
}
