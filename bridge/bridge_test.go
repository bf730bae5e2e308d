package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel"
	"lintel/broker"
	"lintel/control"
	"lintel/controller"
	"lintel/door"
	"lintel/driver"
	"lintel/link"
	"lintel/protocol"
)

const (
	theController = lintel.ID("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
	theDoor       = lintel.ID("dddddddd-dddd-4ddd-8ddd-dddddddddddd")
)

// plain is the plainest firmware there could be: it says where its door is, and
// is told where to go.
type plain struct{}

func (plain) Name() string                      { return "plain" }
func (plain) Capabilities() driver.Capabilities { return driver.Capabilities{} }
func (plain) Check(driver.Settings) error       { return nil }
func (plain) Topics(driver.Settings) driver.Topics {
	return driver.Topics{Publish: []string{"d/state"}, Subscribe: []string{"d/cmd"}, Commands: []string{"d/cmd"}}
}
func (plain) Setup(driver.Settings, driver.Login) string { return "" }
func (plain) Device(driver.Settings) driver.Device       { return plain{} }
func (plain) Door() door.Config {
	return door.Config{Opener: door.Discrete, Reports: true, Travel: time.Second}
}
func (plain) Connected() []driver.Message {
	return []driver.Message{{Topic: "d/cmd", Payload: []byte("where")}}
}
func (plain) Receive(m driver.Message) []door.Input {
	for _, v := range door.Values {
		if string(m.Payload) == v.String() {
			return []door.Input{door.Reported{Value: v}}
		}
	}
	return nil
}
func (plain) Actuate(e door.Effect) ([]driver.Message, bool) {
	return []driver.Message{{Topic: "d/cmd", Payload: []byte(e.String())}}, e != door.DriveStop
}

// service is a bridge behind a real broker. It stands for the store and control, too.
type service struct {
	t       *testing.T
	link    *link.Link
	bridge  *Bridge
	address string
	answers chan control.Answer
	reports chan control.Report
	ended   chan int64

	mu       sync.Mutex // guards sessions
	sessions int64
}

func (s *service) AuthenticateController(context.Context, lintel.ID, string) (broker.Rules, bool, error) {
	topics := plain{}.Topics(driver.Settings{})
	return broker.Rules{Publish: topics.Publish, Subscribe: topics.Subscribe}, true, nil
}

func (s *service) Device(context.Context, lintel.ID) (driver.Driver, driver.Settings, error) {
	return plain{}, driver.Settings{}, nil
}

func (s *service) SessionBegan(context.Context, lintel.ID, string) (control.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	return control.Session{Number: s.sessions, Doors: map[int]lintel.ID{1: theDoor}}, nil
}
func (s *service) SessionEnded(_ context.Context, _ lintel.ID, number int64) { s.ended <- number }
func (s *service) Answered(_ context.Context, _ lintel.ID, a control.Answer) { s.answers <- a }
func (s *service) Reported(_ context.Context, _ lintel.ID, r control.Report) error {
	s.reports <- r
	return nil
}

func start(t *testing.T) *service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := &service{t: t, answers: make(chan control.Answer, 10), reports: make(chan control.Report, 100), ended: make(chan int64, 10)}
	s.link = link.New(time.Now, time.Now, log)
	s.link.Bind(s)
	s.bridge = New(s.link, s, 5*time.Second, time.Now, log)
	b, err := broker.New(s, s.bridge, broker.Topics{Topic: protocol.Topic, Up: protocol.Up, Down: protocol.Down, Will: protocol.TopicWill}, broker.DefaultLimits(), log)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Serve(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.Close()
		s.bridge.Wait()
	})
	s.address = l.Addr().String()
	return s
}

// firmware connects a device; what it is told comes through the channel.
func (s *service) firmware() (paho.Client, <-chan string) {
	s.t.Helper()
	told := make(chan string, 10)
	c := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + s.address).SetClientID("x").SetUsername(string(theController)).
		SetPassword("x").SetProtocolVersion(4).SetAutoReconnect(false))
	s.wait(c.Connect())
	s.wait(c.Subscribe("d/cmd", 0, func(_ paho.Client, m paho.Message) { told <- string(m.Payload()) }))
	s.t.Cleanup(func() { c.Disconnect(0) })
	return c, told
}

func (s *service) wait(token paho.Token) {
	s.t.Helper()
	if !token.WaitTimeout(20*time.Second) || token.Error() != nil {
		s.t.Fatalf("no answer: %v", token.Error())
	}
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

// reported waits for a value of the door.
func (s *service) reported(value string) control.Report {
	s.t.Helper()
	for {
		if r := next(s.t, "the door to be "+value, s.reports); r.State.Value == value {
			return r
		}
	}
}

func (s *service) order(action lintel.Action, within time.Duration) lintel.ID {
	s.t.Helper()
	id := lintel.NewID()
	if err := s.link.Send(control.Order{CommandID: id, Controller: theController, DoorNumber: 1, Action: action, Deadline: time.Now().Add(within)}); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// TestADeviceIsAController: it is asked where its door is, and moves it.
func TestADeviceIsAController(t *testing.T) {
	s := start(t)
	device, told := s.firmware()
	if got := next(t, "a question", told); got != "where" {
		t.Errorf("told %q", got)
	}
	s.wait(device.Publish("d/state", 1, true, "closed"))
	if r := s.reported("closed"); r.Door != theDoor || r.State.Source != "opener" {
		t.Errorf("reported %+v", r)
	}
	id := s.order(lintel.ActionOpen, 5*time.Second)
	if got := next(t, "a command", told); got != "drive open" {
		t.Errorf("told %q", got)
	}
	if a := next(t, "an answer", s.answers); a.CommandID != id || a.Code != 200 {
		t.Errorf("answered %+v", a)
	}
	s.wait(device.Publish("d/state", 1, false, "opening"))
	if r := s.reported("opening"); r.Cause != "command" || r.CommandID != id {
		t.Errorf("reported %+v", r)
	}
}

// TestADeviceThatSaysNothingIsNotMoved holds what the machine says of a door that
// nothing is known of.
func TestADeviceThatSaysNothingIsNotMoved(t *testing.T) {
	s := start(t)
	_, told := s.firmware()
	next(t, "a question", told)
	s.reported("unknown")
	s.order(lintel.ActionClose, 5*time.Second)
	if a := next(t, "an answer", s.answers); a.Code != 428 {
		t.Errorf("answered %+v", a)
	}
	if len(told) > 0 {
		t.Errorf("told %q", <-told)
	}
}

// TestALateCommandDoesNotMoveADevice: its deadline is judged in the service.
func TestALateCommandDoesNotMoveADevice(t *testing.T) {
	s := start(t)
	device, told := s.firmware()
	next(t, "a question", told)
	s.wait(device.Publish("d/state", 1, false, "closed"))
	s.reported("closed")
	s.order(lintel.ActionOpen, -time.Millisecond)
	if a := next(t, "an answer", s.answers); a.Code == 200 {
		t.Errorf("answered %+v", a)
	}
	if len(told) > 0 {
		t.Errorf("told %q", <-told)
	}
}

// TestNothingIsConfirmedAfterTheDeadline: a command that was sent late, because the
// disk was slow, is given up with its deadline and not a second after it was sent.
func TestNothingIsConfirmedAfterTheDeadline(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	u := &unit{limit: time.Second, now: func() time.Time { return now }}
	p := &pipe{unit: u, messages: make(chan controller.Message, 10), done: make(chan struct{})}
	for _, row := range []struct{ until, want time.Duration }{
		{5 * time.Second, time.Second},
		{300 * time.Millisecond, 300 * time.Millisecond},
		{-time.Millisecond, -time.Millisecond},
	} {
		command := &protocol.Command{Version: protocol.Version, ID: string(lintel.NewID()), Session: "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			Sequence: 1, Door: 1, Action: "open", Deadline: now.Add(row.until).UnixMilli()}
		if err := p.Send(protocol.TopicCommand, protocol.Encode(command)); err != nil {
			t.Fatal(err)
		}
		if got := u.until().Sub(now); got != row.want {
			t.Errorf("due in %s: confirmed within %s, want %s", row.until, got, row.want)
		}
	}
	bridge := &Bridge{now: func() time.Time { return now }}
	if err := (own{nil, bridge}).Deliver("d/cmd", nil, now); !errors.Is(err, errNoTime) {
		t.Errorf("at its deadline a command is sent: %v", err)
	}
}

// TestTheEndOfADevice is the end of its session, at once.
func TestTheEndOfADevice(t *testing.T) {
	s := start(t)
	device, told := s.firmware()
	next(t, "a question", told)
	s.wait(device.Publish("d/state", 1, false, "open"))
	s.reported("open")
	device.Disconnect(0)
	next(t, "the end of the session", s.ended)
	err := s.link.Send(control.Order{CommandID: lintel.NewID(), Controller: theController, DoorNumber: 1, Action: lintel.ActionClose, Deadline: time.Now().Add(time.Second)})
	if err == nil || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("a command to nobody: %v", err)
	}
}

// TestADeviceThatUnsubscribedIsNotTold: nobody takes its commands any more.
func TestADeviceThatUnsubscribedIsNotTold(t *testing.T) {
	s := start(t)
	device, told := s.firmware()
	next(t, "a question", told)
	s.wait(device.Publish("d/state", 1, false, "closed"))
	s.reported("closed")
	s.wait(device.Unsubscribe("d/cmd"))
	s.order(lintel.ActionOpen, 5*time.Second)
	if a := next(t, "an answer", s.answers); a.Code != 404 {
		t.Errorf("answered %+v", a)
	}
	if len(told) > 0 {
		t.Errorf("told %q", <-told)
	}
}

// TestADeviceThatFloodsIsCutOff: also before it takes commands, and nothing waits
// for it afterwards; the test's end closes everything.
func TestADeviceThatFloodsIsCutOff(t *testing.T) {
	s := start(t)
	lost := make(chan error, 1)
	c := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + s.address).SetClientID("x").SetUsername(string(theController)).
		SetPassword("x").SetProtocolVersion(4).SetAutoReconnect(false).
		SetConnectionLostHandler(func(_ paho.Client, err error) { lost <- err }))
	s.wait(c.Connect())
	for range 2 * maxWaiting {
		c.Publish("d/state", 0, false, "open")
	}
	next(t, "the connection to end", lost)
}

// TestADriverAheadOfTheMachineDoesNothing: the machine has decided by what it knew,
// and a driver that has heard more might send the door the other way.
func TestADriverAheadOfTheMachineDoesNothing(t *testing.T) {
	u := &unit{kind: plain{}, device: plain{}}
	if m, err := u.messages(door.DriveOpen); err != nil || len(m) != 1 {
		t.Fatalf("%v, %v", m, err)
	}
	u.translate(driver.Message{Topic: "d/state", Payload: []byte("open")})
	if m, err := u.messages(door.DriveOpen); err != controller.ErrUncertain || m != nil {
		t.Errorf("ahead: %v, %v", m, err)
	}
	u.taken()
	if _, err := u.messages(door.DriveOpen); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestAnIgnoredCommandIsFoundOut: a device that says nothing after a command is
// asked, and its own word stands again, with the reason, once a door that warns by
// itself would have left.
func TestAnIgnoredCommandIsFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a device is given to speak")
	}
	t.Parallel()
	s := start(t)
	device, told := s.firmware()
	next(t, "a question", told)
	s.wait(device.Publish("d/state", 1, false, "open"))
	s.reported("open")
	id := s.order(lintel.ActionClose, 5*time.Second)
	if got := next(t, "a command", told); got != "drive close" {
		t.Fatalf("told %q", got)
	}
	s.reported("closing")
	if got := next(t, "a question", told); got != "where" {
		t.Fatalf("told %q", got)
	}
	s.wait(device.Publish("d/state", 1, false, "open"))
	if r := s.reported("open"); r.State.Source != "opener" || r.Reason != "did_not_move" || r.CommandID != id {
		t.Errorf("reported %+v", r)
	}
}

// mute is a connection of a device that says nothing.
type mute struct {
	Connection
	reset chan struct{}
}

func (m *mute) ID() lintel.ID                           { return theController }
func (m *mute) SubscribedTo(string) bool                { return true }
func (m *mute) Reset()                                  { close(m.reset) }
func (m *mute) SendTo(string, []byte) error             { return nil }
func (m *mute) Deliver(string, []byte, time.Time) error { return nil }

// TestADeviceThatStaysSilentHasToComeBack: once its door must be somewhere. Without a
// command it may be silent for as long as it likes.
func TestADeviceThatStaysSilentHasToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mute{reset: make(chan struct{})}
		u := newUnit(m, plain{}, driver.Settings{}, time.Now, time.Second)
		defer u.end()
		go u.askOn(slog.New(slog.DiscardHandler))
		<-time.After(time.Hour)
		if err := u.Actuate(1, door.DriveOpen); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-m.reset
		if d := time.Since(began); d < u.patience() {
			t.Errorf("reset after %s", d)
		}
	})
}

// TestADeviceThatOnlyRepeatsItselfIsAskedOnceMore: its word may be older than the command.
func TestADeviceThatOnlyRepeatsItselfIsAskedOnceMore(t *testing.T) {
	for said, want := range map[string]int{"closed": 1, "opening": 0} {
		synctest.Test(t, func(t *testing.T) {
			c := &asked{mute: mute{reset: make(chan struct{})}}
			u := newUnit(c, plain{}, driver.Settings{}, time.Now, time.Second)
			defer u.end()
			hears := func(value string) {
				u.translate(driver.Message{Topic: "d/state", Payload: []byte(value)})
				u.taken()
			}
			hears("closed")
			go u.askOn(slog.New(slog.DiscardHandler))
			<-time.After(time.Minute)
			if err := u.Actuate(1, door.DriveOpen); err != nil {
				t.Fatal(err)
			}
			hears(said)
			before := c.times.Load()
			<-time.After(time.Minute)
			if n := int(c.times.Load() - before); n != want {
				t.Errorf("after %s it was asked %d times more, want %d", said, n, want)
			}
		})
	}
}

// asked is a mute connection that counts questions.
type asked struct {
	mute
	times atomic.Int64
}

func (a *asked) SendTo(string, []byte) error { a.times.Add(1); return nil }

// TestNoCommandComesBetweenAQuestionAndItsAnswer: firmware that is asked may have
// forgotten where its door is, and would press the button whichever way that goes.
func TestNoCommandComesBetweenAQuestionAndItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &asked{mute: mute{reset: make(chan struct{})}}
		u := newUnit(c, plain{}, driver.Settings{}, time.Now, time.Second)
		defer u.end()
		hears := func(payload string) {
			u.translate(driver.Message{Topic: "d/state", Payload: []byte(payload)})
			u.mu.Lock()
			u.ahead = 0
			u.mu.Unlock()
		}
		hears("closed")
		if err := u.Actuate(1, door.DriveOpen); err != nil {
			t.Fatal(err)
		}
		hears("closed")
		u.ask(slog.New(slog.DiscardHandler))
		for _, said := range []string{"", "unknown", "nothing that it knows"} {
			hears(said)
			if err := u.Actuate(1, door.DriveOpen); err != controller.ErrUncertain {
				t.Errorf("asked, and it has said %q: %v", said, err)
			}
		}
		hears("closed")
		if err := u.Actuate(1, door.DriveOpen); err != nil {
			t.Errorf("after its answer: %v", err)
		}
		hears("open")
		u.ask(slog.New(slog.DiscardHandler))
		<-time.After(2 * askEvery)
		u.waits(0)
		if err := u.Actuate(1, door.DriveClose); err != nil {
			t.Errorf("a question that is never answered: %v", err)
		}
	})
}
