package broker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel"
)

const (
	alice = lintel.ID("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
	bob   = lintel.ID("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb")

	vendor = lintel.ID("cccccccc-cccc-4ccc-8ccc-cccccccccccc") // has rules of its own
)

// everybody's secret is "secret of" and their ID.
type everybody struct{}

func (everybody) AuthenticateController(_ context.Context, id lintel.ID, given string) (Rules, bool, error) {
	var rules Rules
	if id == vendor {
		rules = Rules{Publish: []string{"home/garage/status/#", "home/garage/LWT"}, Subscribe: []string{"home/garage/command/#"}}
	}
	return rules, given == "secret of "+string(id), nil
}

// recorder is a Handler that keeps what it is told.
type recorder struct {
	connected    chan *Connection
	disconnected chan *Connection
	received     chan string

	mu   sync.Mutex // guards live
	live map[lintel.ID]int
}

func newRecorder() *recorder {
	return &recorder{connected: make(chan *Connection, 10_000), disconnected: make(chan *Connection, 10_000),
		received: make(chan string, 10_000), live: map[lintel.ID]int{}}
}

func (r *recorder) Connected(c *Connection) {
	r.mu.Lock()
	r.live[c.Controller]++
	r.mu.Unlock()
	r.connected <- c
}

func (r *recorder) Subscribed(*Connection) {}

func (r *recorder) Received(c *Connection, name string, payload []byte) {
	r.received <- string(c.Controller) + " " + name + " " + string(payload)
}

func (r *recorder) Disconnected(c *Connection) {
	r.mu.Lock()
	r.live[c.Controller]--
	r.mu.Unlock()
	r.disconnected <- c
}

// serve runs a broker on a free port until the test ends.
func serve(t *testing.T, limits Limits) (*Broker, *recorder, string) {
	t.Helper()
	r := newRecorder()
	b, err := New(everybody{}, r, Topics{
		Topic: func(controller, name string) string { return "t/" + controller + "/" + name },
		Up:    []string{"up"}, Down: []string{"down"}, Will: "will",
	}, limits, slog.New(slog.DiscardHandler))
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
	return b, r, l.Addr().String()
}

func options(address string, id lintel.ID) *paho.ClientOptions {
	return paho.NewClientOptions().AddBroker("tcp://" + address).
		SetClientID(string(id)).SetUsername(string(id)).SetPassword("secret of " + string(id)).
		SetProtocolVersion(4).SetAutoReconnect(false).SetConnectTimeout(10 * time.Second)
}

func connect(t *testing.T, o *paho.ClientOptions) paho.Client {
	t.Helper()
	c := paho.NewClient(o)
	must(t, c.Connect())
	t.Cleanup(func() { c.Disconnect(0) })
	return c
}

func must(t *testing.T, token paho.Token) {
	t.Helper()
	if !token.WaitTimeout(20 * time.Second) {
		t.Fatal("no answer from the broker")
	}
	if err := token.Error(); err != nil {
		t.Fatal(err)
	}
}

func TestIdentities(t *testing.T) {
	_, _, address := serve(t, DefaultLimits())
	refused := map[string]func(o *paho.ClientOptions){
		"anonymous":             func(o *paho.ClientOptions) { o.SetUsername("").SetPassword("") },
		"a wrong secret":        func(o *paho.ClientOptions) { o.SetPassword("secret of " + string(bob)) },
		"another's client id":   func(o *paho.ClientOptions) { o.SetClientID(string(bob)) },
		"no client id":          func(o *paho.ClientOptions) { o.SetClientID("") },
		"upper case":            func(o *paho.ClientOptions) { o.SetUsername("AAAAAAAA-aaaa-4aaa-8aaa-aaaaaaaaaaaa") },
		"a will on another's":   func(o *paho.ClientOptions) { o.SetWill("t/"+string(bob)+"/down", "x", 0, false) },
		"a will on its own cmd": func(o *paho.ClientOptions) { o.SetWill("t/"+string(alice)+"/down", "x", 0, false) },
	}
	for name, change := range refused {
		o := options(address, alice)
		change(o)
		c := paho.NewClient(o)
		if token := c.Connect(); !token.WaitTimeout(20*time.Second) || token.Error() == nil {
			t.Errorf("%s was let in", name)
		}
	}
	connect(t, options(address, alice).SetWill("t/"+string(alice)+"/will", "x", 1, false))
}

func TestOwnTopicsOnly(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	a := connect(t, options(address, alice))
	for _, filter := range []string{"#", "t/#", "t/+/down", "t/" + string(alice) + "/#", "t/" + string(bob) + "/down", "t/" + string(alice) + "/up", "$SYS/#", "$share/x/t/" + string(alice) + "/down"} {
		token := a.Subscribe(filter, 0, nil).(*paho.SubscribeToken)
		if !token.WaitTimeout(20 * time.Second) {
			t.Fatal("no answer from the broker")
		}
		for _, granted := range token.Result() {
			if granted != 0x80 {
				t.Errorf("subscribed to %s: %v", filter, token.Result())
			}
		}
	}
	must(t, a.Subscribe("t/"+string(alice)+"/down", 0, nil))
	for _, topic := range []string{"t/" + string(bob) + "/up", "t/" + string(alice) + "/down", "t/" + string(alice) + "/other", "other", "t//up"} {
		a.Publish(topic, 0, true, "stolen")
	}
	must(t, a.Publish("t/"+string(alice)+"/up", 1, true, "own"))
	if got := <-r.received; got != string(alice)+" up own" || len(r.received) != 0 {
		t.Errorf("received %q and %d more", got, len(r.received))
	}
}

// TestNothingIsRoutedOrKept: one client's message never reaches another, nor
// itself, and a retained one is not there for who comes later.
func TestNothingIsRoutedOrKept(t *testing.T) {
	b, _, address := serve(t, DefaultLimits())
	must(t, connect(t, options(address, alice)).Publish("t/"+string(alice)+"/up", 1, true, "x"))
	if n := b.server.Topics.Retained.Len(); n != sysTopics(b) {
		t.Errorf("%d retained messages", n)
	}
}

// sysTopics counts the server's own retained statistics, which nobody may read.
func sysTopics(b *Broker) int {
	n := 0
	for topic := range b.server.Topics.Retained.GetAll() {
		if topic[0] == '$' {
			n++
		}
	}
	return n
}

func TestSendReachesOneLiveConnection(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	got := make(chan paho.Message, 1)
	a := connect(t, options(address, alice).SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { got <- m }))
	c := <-r.connected
	if c.Subscribed("down") {
		t.Error("subscribed before it subscribed")
	}
	must(t, a.Subscribe("t/"+string(alice)+"/down", 0, nil))
	if !c.Subscribed("down") {
		t.Error("not subscribed")
	}
	if err := c.Send("down", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m.Topic() != "t/"+string(alice)+"/down" || string(m.Payload()) != "hello" || m.Retained() || m.Qos() != 0 {
		t.Errorf("%s %s retained %v QoS %d", m.Topic(), m.Payload(), m.Retained(), m.Qos())
	}
	a.Disconnect(0)
	<-r.disconnected
	if err := c.Send("down", []byte("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("sent on an ended connection: %v", err)
	}
}

// TestTakeOver: of many connections of one identity the last one lives, and
// every other one is told to be over.
func TestTakeOver(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	const times = 200
	got := make(chan string, 1)
	var last paho.Client
	for i := range times {
		o := options(address, alice)
		if i == times-1 {
			o.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { got <- string(m.Payload()) })
		}
		last = paho.NewClient(o)
		must(t, last.Connect())
	}
	lives := map[*Connection]bool{}
	for range times {
		lives[<-r.connected] = true
	}
	for range times - 1 {
		delete(lives, <-r.disconnected)
	}
	if len(lives) != 1 {
		t.Fatalf("%d connections live", len(lives))
	}
	for c := range lives {
		if err := c.Send("down", []byte("still there")); err != nil {
			t.Error(err)
		}
	}
	if m := <-got; m != "still there" {
		t.Errorf("the last client received %q", m)
	}
	last.Disconnect(0)
}

// TestHandshakesAreBounded: silence, half a CONNECT and a huge one end by
// themselves, and cost others nothing.
func TestHandshakesAreBounded(t *testing.T) {
	limits := DefaultLimits()
	limits.Handshake = 200 * time.Millisecond
	limits.MaxHandshakes, limits.MaxPerAddress = 100, 50
	_, _, address := serve(t, limits)
	openings := map[string][]byte{
		"silence":        nil,
		"half a CONNECT": {0x10, 0x40, 0x00, 0x04, 'M', 'Q'},
		"a huge CONNECT": {0x10, 0xff, 0xff, 0xff, 0x7f, 0x00, 0x04},
		"no CONNECT":     {0x30, 0x02, 0x00, 0x00},
		"garbage":        []byte("GET / HTTP/1.1\r\n\r\n"),
	}
	for name, opening := range openings {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write(opening)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		_, err = io.Copy(io.Discard, conn)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			t.Errorf("%s was left open", name)
		}
	}
	flood := make([]net.Conn, 200)
	for i := range flood {
		flood[i], _ = net.Dial("tcp", address)
	}
	for _, conn := range flood {
		if conn != nil {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}
	connect(t, options(address, alice))
}

// TestOneAddressKeepsNobodyOut: while one address holds all the places it may,
// another still gets in.
func TestOneAddressKeepsNobodyOut(t *testing.T) {
	limits := DefaultLimits()
	limits.MaxHandshakes, limits.MaxPerAddress = 30, 20
	_, _, address := serve(t, limits)
	for range 40 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	elsewhere := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	connect(t, options(address, alice).SetDialer(elsewhere))
}

func TestOversizedPacketsEndTheConnection(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	a := connect(t, options(address, alice))
	b := connect(t, options(address, bob))
	a.Publish("t/"+string(alice)+"/up", 0, false, make([]byte, 1<<20))
	if c := <-r.disconnected; c.Controller != alice {
		t.Errorf("%s was disconnected", c.Controller)
	}
	must(t, b.Publish("t/"+string(bob)+"/up", 1, false, "still here"))
}

// TestAReaderThatDoesNotReadIsCutOff: the service does not wait for it for ever.
func TestAReaderThatDoesNotReadIsCutOff(t *testing.T) {
	limits := DefaultLimits()
	limits.WriteTimeout = 100 * time.Millisecond
	_, r, address := serve(t, limits)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(rawConnect(alice)); err != nil {
		t.Fatal(err)
	}
	c := <-r.connected
	payload := make([]byte, 8<<10)
	for range 100_000 {
		if err = c.Send("down", payload); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrClosed) {
		t.Errorf("800 MB were taken for a client that does not read: %v", err)
	}
	if got := <-r.disconnected; got != c {
		t.Error("another connection ended")
	}
}

// rawConnect is an MQTT 3.1.1 CONNECT with a clean session and no keep-alive.
func rawConnect(id lintel.ID) []byte {
	text := func(s string) []byte { return append([]byte{byte(len(s) >> 8), byte(len(s))}, s...) }
	body := append(text("MQTT"), 4, 0xc2, 0, 0)
	for _, s := range []string{string(id), string(id), "secret of " + string(id)} {
		body = append(body, text(s)...)
	}
	return append([]byte{0x10, byte(len(body)&0x7f | 0x80), byte(len(body) >> 7)}, body...)
}

func TestCloseTellsEveryHandler(t *testing.T) {
	b, r, address := serve(t, DefaultLimits())
	for _, id := range []lintel.ID{alice, bob} {
		connect(t, options(address, id))
		<-r.connected
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if len(r.disconnected) != 2 {
		t.Errorf("%d of 2 ends were told", len(r.disconnected))
	}
	if _, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		t.Error("still accepting")
	}
}
