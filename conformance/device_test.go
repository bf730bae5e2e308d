package conformance

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel"
	"lintel/controller"
	"lintel/door"
	"lintel/protocol"
	"lintel/secret"
	"lintel/sim"
)

const testController = lintel.ID("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")

// network is a listener and its clients within the process, so that a bubble's
// clock runs for both.
type network struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	mu     sync.Mutex // guards made
	made   int
}

func newNetwork() *network {
	return &network{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// end is one end of a connection, with an address of its own.
type end struct {
	net.Conn
	address address
}

type address string

func (address) Network() string    { return "pipe" }
func (a address) String() string   { return string(a) }
func (e end) RemoteAddr() net.Addr { return e.address }
func (n *network) Addr() net.Addr  { return address("the kit") }
func (n *network) Close() error    { n.once.Do(func() { close(n.closed) }); return nil }
func (n *network) refused() error  { return net.ErrClosed }
func (n *network) name() (a address) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.made++
	return address(fmt.Sprint("pipe ", n.made))
}
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) dial() (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case n.conns <- end{there, n.name()}:
		return here, nil
	case <-n.closed:
		return nil, n.refused()
	}
}

// device is a controller's way to the network, with a fault in it.
type device struct {
	network *network
	secret  string
	fault   fault
	events  map[string]bool // for faults: changes that were published
	first   string          // for faults: the first session
}

// fault is how a controller is bad. What is nil is as it should be.
type fault struct {
	options   func(o *paho.ClientOptions)
	eager     bool   // does not wait for SUBACK
	hasty     bool   // connects again at once
	elsewhere string // also subscribes to this
	publish   func(c *conn, p outgoing) []outgoing
	receive   func(c *conn, m controller.Message) []controller.Message
}

// outgoing is one message to be published.
type outgoing struct {
	name    string // of the controller's own topics, unless topic is set
	topic   string
	qos     byte
	retain  bool
	payload []byte
	stored  func()
}

// conn implements controller.Conn.
type conn struct {
	device   *device
	client   paho.Client
	messages chan controller.Message
	done     chan struct{}
	once     sync.Once

	// For faults. Nothing publishes while something is received that it has to do with.
	session  string
	sequence int64
	requests int
	nonce    int64
	began    time.Time
	held     []outgoing
}

// Dial implements controller.Dialer.
func (d *device) Dial(_ context.Context, will []byte) (controller.Conn, error) {
	c := &conn{device: d, messages: make(chan controller.Message, 64), done: make(chan struct{}), began: time.Now()}
	id := string(testController)
	o := paho.NewClientOptions().AddBroker("tcp://kit").SetClientID(id).SetUsername(id).SetPassword(d.secret).
		SetProtocolVersion(4).SetCleanSession(true).SetKeepAlive(protocol.KeepAlive).SetAutoReconnect(false).SetConnectRetry(false).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return d.network.dial() }).
		SetBinaryWill(protocol.Topic(id, protocol.TopicWill), will, 0, false).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { c.received(m) }).
		SetConnectionLostHandler(func(paho.Client, error) { c.lost() })
	if d.fault.options != nil {
		d.fault.options(o)
	}
	c.client = paho.NewClient(o)
	if t := c.client.Connect(); t.Wait() && t.Error() != nil {
		return nil, t.Error()
	}
	filters := map[string]byte{}
	for _, name := range protocol.Down {
		filters[protocol.Topic(id, name)] = 0
	}
	if d.fault.elsewhere != "" {
		filters[d.fault.elsewhere] = 0
	}
	t := c.client.SubscribeMultiple(filters, nil)
	if !d.fault.eager {
		t.Wait()
	}
	return c, nil
}

func (c *conn) received(m paho.Message) {
	name := m.Topic()[len(protocol.Topic(string(testController), "")):]
	messages := []controller.Message{{Name: name, Payload: m.Payload(), Retained: m.Retained()}}
	if c.device.fault.receive != nil {
		messages = c.device.fault.receive(c, messages[0])
	}
	for _, m := range messages {
		c.deliver(m)
	}
}

func (c *conn) deliver(m controller.Message) {
	select {
	case c.messages <- m:
	case <-c.done:
	}
}

func (c *conn) lost() {
	if c.device.fault.hasty {
		if extra, err := c.device.network.dial(); err == nil {
			extra.Close()
		}
	}
	c.once.Do(func() { close(c.done) })
}

func (c *conn) Messages() <-chan controller.Message { return c.messages }
func (c *conn) Done() <-chan struct{}               { return c.done }

func (c *conn) Close() {
	c.client.Disconnect(0)
	c.once.Do(func() { close(c.done) })
}

func (c *conn) Publish(name string, payload []byte, stored func()) {
	p := outgoing{name: name, payload: payload, stored: stored}
	if stored != nil {
		p.qos = 1
	}
	if m, err := protocol.Decode[protocol.Hello](payload); err == nil && name == protocol.TopicHello {
		c.session = m.Session
	}
	all := []outgoing{p}
	if c.device.fault.publish != nil {
		all = c.device.fault.publish(c, p)
	}
	for _, p := range all {
		c.write(p)
	}
}

func (c *conn) write(p outgoing) {
	if p.topic == "" {
		p.topic = protocol.Topic(string(testController), p.name)
	}
	token := c.client.Publish(p.topic, p.qos, p.retain, p.payload)
	if p.stored == nil {
		return
	}
	go func() {
		select {
		case <-token.Done():
			if token.Error() == nil {
				p.stored()
			}
		case <-c.done:
		}
	}()
}

// examine runs the kit against the runtime with simulated hardware and a fault.
func examine(t *testing.T, f fault, change func(*Config)) (report Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork()
		cfg := Config{
			Controller: testController, Secret: secret.New(secret.ControllerSecret), Door: 1, Move: true,
			Timeout: time.Minute, Travel: 10 * time.Second, Now: time.Now, Wall: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		if change != nil {
			change(&cfg)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		hardware := sim.NewHardware([]sim.Door{
			{Opener: door.Discrete, Sensors: 2, Travel: 2 * time.Second}, {Opener: door.Discrete, Sensors: 2, Travel: 2 * time.Second},
		}, time.Now)
		running.Go(func() { hardware.Run(ctx) })
		running.Go(func() {
			controller.New(controller.Config{
				Firmware: "test", Doors: hardware.Config(), Hardware: hardware, Now: time.Now, Log: slog.New(slog.DiscardHandler),
				Dialer: &device{network: network, secret: cfg.Secret, fault: f, events: map[string]bool{}},
			}).Run(ctx)
		})
		var err error
		if report, err = Run(ctx, network, cfg); err != nil {
			t.Error(err)
		}
	})
	return report
}
