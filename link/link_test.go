package link

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel"
	"lintel/broker"
	"lintel/control"
	"lintel/protocol"
)

const (
	theController = lintel.ID("22222222-2222-4222-8222-222222222222")
	theDoor       = lintel.ID("11111111-1111-4111-8111-111111111111")
	theCommand    = lintel.ID("0b0c0d0e-1111-4222-8333-444455556666")
	oneSession    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

type anybody struct{}

func (anybody) AuthenticateController(context.Context, lintel.ID, string) (broker.Rules, bool, error) {
	return broker.Rules{}, true, nil
}

// doors is a Doors that keeps what it is told; its controller has door 1 only.
type doors struct {
	mu       sync.Mutex // guards sessions
	sessions int64
	ended    chan int64
	answers  chan control.Answer
	reports  chan control.Report
}

func (d *doors) SessionBegan(context.Context, lintel.ID, string) (control.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions++
	return control.Session{Number: d.sessions, Doors: map[int]lintel.ID{1: theDoor}}, nil
}
func (d *doors) SessionEnded(_ context.Context, _ lintel.ID, number int64) { d.ended <- number }
func (d *doors) Answered(_ context.Context, _ lintel.ID, a control.Answer) { d.answers <- a }
func (d *doors) Reported(_ context.Context, _ lintel.ID, r control.Report) error {
	d.reports <- r
	return nil
}

// service is a link behind a real broker.
type service struct {
	t       *testing.T
	link    *Link
	doors   *doors
	address string
}

// serviceAhead keeps service time apart from the wall clock.
const serviceAhead = 12 * time.Hour

func newService(t *testing.T) *service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := &service{t: t, doors: &doors{ended: make(chan int64, 100), answers: make(chan control.Answer, 100), reports: make(chan control.Report, 100)}}
	s.link = New(time.Now, func() time.Time { return time.Now().Add(serviceAhead) }, log)
	s.link.Bind(s.doors)
	b, err := broker.New(anybody{}, s.link, broker.Topics{Topic: protocol.Topic, Up: protocol.Up, Down: protocol.Down, Will: protocol.TopicWill},
		broker.DefaultLimits(), log)
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
	t.Cleanup(func() { _ = b.Close() })
	s.address = l.Addr().String()
	return s
}

// firmware is a controller written against the specification alone.
type firmware struct {
	t    *testing.T
	mqtt paho.Client
	got  chan paho.Message
	lost chan error
}

func (s *service) firmware() *firmware {
	s.t.Helper()
	f := &firmware{t: s.t, got: make(chan paho.Message, 100), lost: make(chan error, 1)}
	f.mqtt = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + s.address).
		SetClientID(string(theController)).SetUsername(string(theController)).SetPassword("x").
		SetProtocolVersion(4).SetAutoReconnect(false).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { f.got <- m }).
		SetConnectionLostHandler(func(_ paho.Client, err error) { f.lost <- err }))
	f.done(f.mqtt.Connect())
	s.t.Cleanup(func() { f.mqtt.Disconnect(0) })
	return f
}

func (f *firmware) done(token paho.Token) {
	f.t.Helper()
	if !token.WaitTimeout(20*time.Second) || token.Error() != nil {
		f.t.Fatalf("no answer: %v", token.Error())
	}
}

func (f *firmware) subscribe() {
	f.t.Helper()
	for _, name := range protocol.Down {
		f.done(f.mqtt.Subscribe(protocol.Topic(string(theController), name), 0, nil))
	}
}

// publish returns when the broker has confirmed, and so handled, the message,
// or has ended the connection.
func (f *firmware) publish(name, payload string) {
	f.mqtt.Publish(protocol.Topic(string(theController), name), 1, false, payload).WaitTimeout(20 * time.Second)
}

func (f *firmware) hello() {
	f.t.Helper()
	f.subscribe()
	f.publish("hello", `{"v":1,"session":"`+oneSession+`","firmware":"test","doors":[1,2]}`)
}

func (f *firmware) wantReset(why string) {
	f.t.Helper()
	select {
	case <-f.lost:
	case <-time.After(20 * time.Second):
		f.t.Errorf("%s: the connection was not ended", why)
	}
}

func state(session string, seq int, door int) string {
	return fmt.Sprintf(`{"v":1,"session":%q,"seq":%d,"door":%d,"value":"open","source":"sensor","sensor":"ok","since":%d}`,
		session, seq, door, time.Now().Add(serviceAhead).UnixMilli())
}

func TestRefusalsEndTheConnection(t *testing.T) {
	for why, misbehave := range map[string]func(f *firmware){
		"a hello before the subscriptions": func(f *firmware) { f.publish("hello", `{"v":1,"session":"`+oneSession+`","firmware":"","doors":[1]}`) },
		"a second hello":                   func(f *firmware) { f.hello(); f.hello() },
		"a report without a session":       func(f *firmware) { f.subscribe(); f.publish("state", state(oneSession, 1, 1)) },
		"a report of another session":      func(f *firmware) { f.hello(); f.publish("state", state("another-session-entirely", 1, 1)) },
		"a report on another's door":       func(f *firmware) { f.hello(); f.publish("state", state(oneSession, 1, 2)) },
		"a malformed report":               func(f *firmware) { f.hello(); f.publish("state", `{"v":1}`) },
		"a malformed answer":               func(f *firmware) { f.hello(); f.publish("ack", `{}`) },
		"another version":                  func(f *firmware) { f.subscribe(); f.publish("hello", `{"v":2,"session":"`+oneSession+`","doors":[1]}`) },
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			f := newService(t).firmware()
			misbehave(f)
			f.wantReset(why)
		})
	}
}

func TestACommandCarriesItsSessionNumberAndDeadline(t *testing.T) {
	s := newService(t)
	order := control.Order{CommandID: theCommand, Controller: theController, DoorNumber: 1, Action: lintel.ActionOpen, Deadline: time.Now().Add(serviceAhead + 5*time.Second)}
	if err := s.link.Send(order); err != control.ErrOffline {
		t.Errorf("to nobody: %v", err)
	}
	f := s.firmware()
	f.subscribe()
	if err := s.link.Send(order); err != control.ErrOffline {
		t.Errorf("before hello: %v", err)
	}
	f.hello()
	for n := int64(1); n <= 3; n++ {
		if err := s.link.Send(order); err != nil {
			t.Fatal(err)
		}
		c, err := protocol.Decode[protocol.Command]((<-f.got).Payload())
		if err != nil || c.Session != oneSession || c.Sequence != n || c.ID != string(theCommand) || c.Action != "open" ||
			c.Deadline != order.Deadline.UnixMilli() {
			t.Errorf("%+v, %v", c, err)
		}
	}
	order.DoorNumber = 3
	if err := s.link.Send(order); err != control.ErrNoDoor {
		t.Errorf("to a door it does not serve: %v", err)
	}
}

func TestTellsTheTimeAndPassesOn(t *testing.T) {
	s := newService(t)
	f := s.firmware()
	f.hello()
	f.publish("time/request", `{"v":1,"session":"`+oneSession+`","nonce":42}`)
	told, err := protocol.Decode[protocol.Time]((<-f.got).Payload())
	if ahead := time.Until(time.UnixMilli(told.Now)); err != nil || told.Nonce != 42 || told.Session != oneSession ||
		ahead < serviceAhead-time.Minute || ahead > serviceAhead {
		t.Errorf("%+v, %v", told, err)
	}
	f.publish("ack", `{"v":1,"id":"`+string(theCommand)+`","session":"`+oneSession+`","code":428,"reason":"moving"}`)
	if a := <-s.doors.answers; a != (control.Answer{CommandID: theCommand, Code: 428, Reason: "moving"}) {
		t.Errorf("%+v", a)
	}
	f.publish("state", state(oneSession, 7, 1))
	if r := <-s.doors.reports; r.Door != theDoor || r.Session != 1 || r.Sequence != 7 || time.Since(r.State.Since).Abs() > time.Minute {
		t.Errorf("%+v: service time was not turned into wall time", r)
	}
	f.publish("will", `{"v":1,"session":"`+oneSession+`"}`)
	if n := <-s.doors.ended; n != 1 {
		t.Errorf("session %d ended", n)
	}
	if err := s.link.Send(control.Order{CommandID: theCommand, Controller: theController, DoorNumber: 1, Action: "open"}); err != control.ErrOffline {
		t.Errorf("after its will: %v", err)
	}
}

// TestAnOldConnectionEndsNothing: when a controller comes back before the
// service has noticed that it was gone, the end of the old connection leaves
// the new session alone.
func TestAnOldConnectionEndsNothing(t *testing.T) {
	s := newService(t)
	for n := int64(1); n <= 30; n++ {
		f := s.firmware()
		f.hello()
		if err := s.link.Send(control.Order{CommandID: theCommand, Controller: theController, DoorNumber: 1, Action: "open", Deadline: time.Now().Add(serviceAhead)}); err != nil {
			t.Fatalf("connection %d cannot be reached: %v", n, err)
		}
		<-f.got
	}
}
