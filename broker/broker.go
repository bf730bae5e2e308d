// Package broker is the MQTT endpoint that controllers connect to: identities,
// topic rules, live connections, and their ends. It knows nothing of what the
// messages mean.
//
// Nothing is ever routed from one client to another, retained or queued: what a
// controller publishes goes to the Handler, and what the service sends is
// written to one live connection.
package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"lintel"
	"lintel/tcp"
)

// Authenticator knows the controllers' secrets.
type Authenticator interface {
	// AuthenticateController reports whether secret is the present secret of the
	// controller, and by which rules it speaks. An error means that it could not be
	// found out.
	AuthenticateController(ctx context.Context, controller lintel.ID, secret string) (rules Rules, ok bool, err error)
}

// Rules are what one identity may do, where it does not speak the controller
// protocol. The zero Rules are those of the protocol, which Topics says.
type Rules struct {
	Publish   []string // full topics; one that ends in /# is all below it
	Subscribe []string // filters, exactly

	// Mark is kept with the connection for whoever asks for it with Live, such as a
	// digest of the secret that was shown. It is no rule.
	Mark string
}

// Foreign reports whether the rules are not those of the controller protocol.
func (r Rules) Foreign() bool { return len(r.Publish)+len(r.Subscribe) > 0 }

func (r Rules) mayPublish(topic string) bool {
	return slices.ContainsFunc(r.Publish, func(rule string) bool {
		prefix, all := strings.CutSuffix(rule, "#")
		return topic == rule || all && strings.HasPrefix(topic, prefix)
	})
}

// Handler is told what happens on connections. The calls of one connection come
// one after another, Connected first and Disconnected last; those of different
// connections come at once.
type Handler interface {
	Connected(c *Connection)
	// Subscribed is told after a connection has subscribed to something.
	Subscribed(c *Connection)
	// Received is a message on one of the controller's own topics; name is the
	// last part, or with Rules of its own the whole. A QoS 1 message is confirmed
	// to the sender after it returns.
	Received(c *Connection, name string, payload []byte)
	Disconnected(c *Connection)
}

// Topics are the topic rules.
type Topics struct {
	Topic func(controller, name string) string // the full topic of a name
	Up    []string                             // names that a controller may publish
	Down  []string                             // names that a controller may subscribe to
	Will  string                               // name that its will may have
}

// Limits bound what clients can cost.
type Limits struct {
	MaxPacket      uint32        // bytes of one MQTT packet
	MaxConnections int64         // authenticated connections
	MaxHandshakes  int           // connections that have not authenticated yet
	MaxPerAddress  int           // of those, from one address
	Handshake      time.Duration // from accept to a valid CONNECT
	MaxKeepAlive   uint16        // seconds; also for clients that ask for none
	WriteTimeout   time.Duration // for one write to a client that does not read
}

// DefaultLimits suit a garage and a fleet alike.
func DefaultLimits() Limits {
	return Limits{
		MaxPacket: 16 << 10, MaxConnections: 100_000, MaxHandshakes: 4096, MaxPerAddress: 1024,
		Handshake: 10 * time.Second, MaxKeepAlive: 120, WriteTimeout: 5 * time.Second,
	}
}

// Broker accepts controllers' connections. It is safe for concurrent use.
type Broker struct {
	server  *mqtt.Server
	handler Handler
	auth    Authenticator
	topics  Topics
	limits  Limits
	log     *slog.Logger
	lines   *lines // of clients that are refused
	ctx     context.Context
	cancel  context.CancelFunc
	closing func() error // close, once

	listeners []*listener // set before the first connection

	generation atomic.Uint64 // of authentications

	mu          sync.Mutex // guards what follows
	connections map[*mqtt.Client]*Connection
	newest      map[lintel.ID]*Connection // of each identity
}

// New returns a broker that accepts nothing until Serve.
func New(auth Authenticator, handler Handler, topics Topics, limits Limits, log *slog.Logger) (*Broker, error) {
	capabilities := mqtt.NewDefaultServerCapabilities()
	capabilities.MaximumClients = limits.MaxConnections
	capabilities.MaximumPacketSize = limits.MaxPacket
	capabilities.MaximumClientWritesPending = 16
	capabilities.MaximumSessionExpiryInterval = 0
	capabilities.MaximumInflight = 32
	capabilities.ReceiveMaximum = 128
	capabilities.TopicAliasMaximum = 0
	capabilities.SharedSubAvailable = 0
	capabilities.WildcardSubAvailable = 0
	b := &Broker{
		server: mqtt.New(&mqtt.Options{
			Capabilities: capabilities, Logger: slog.New(slog.DiscardHandler),
			ClientNetReadBufferSize: 512, ClientNetWriteBufferSize: 512,
			SysTopicResendInterval: 3600,
		}),
		handler: handler, auth: auth, topics: topics, limits: limits, log: log, lines: newLines(log, time.Now),
		connections: map[*mqtt.Client]*Connection{}, newest: map[lintel.ID]*Connection{},
	}
	b.closing = sync.OnceValue(b.close)
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if err := b.server.AddHook(&hook{broker: b}, nil); err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	if err := b.server.Serve(); err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	return b, nil
}

// Serve accepts connections until Close. It returns at once.
func (b *Broker) Serve(listener net.Listener) error { return b.serve(listener, false) }

// ServeForeign is Serve for identities with Rules of their own alone: an endpoint beside
// another, which asks less of clients than the controller protocol does.
func (b *Broker) ServeForeign(listener net.Listener) error { return b.serve(listener, true) }

func (b *Broker) serve(listener net.Listener, foreign bool) error {
	guarded := newListener(listener, b.limits, b.log)
	guarded.name, guarded.foreign = fmt.Sprintf("mqtt%d", len(b.listeners)), foreign
	if err := b.server.AddListener(guarded); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	b.listeners = append(b.listeners, guarded)
	go guarded.Serve(b.server.EstablishConnection)
	return nil
}

// Close ends all connections, and returns when their handlers have been told.
// It may be called again.
func (b *Broker) Close() error {
	return b.closing()
}

func (b *Broker) close() error {
	b.cancel()
	for _, l := range b.listeners {
		l.stop()
	}
	return b.server.Close()
}

// End resets the live connection of an identity, and reports whether there was one.
func (b *Broker) End(controller lintel.ID) bool {
	b.mu.Lock()
	c := b.newest[controller]
	b.mu.Unlock()
	if c != nil {
		c.Reset()
	}
	return c != nil
}

// Live returns the mark of the live connection of an identity; false for none.
func (b *Broker) Live(controller lintel.ID) (mark string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.newest[controller]
	if c == nil {
		return "", false
	}
	return c.Rules.Mark, true
}

// present returns the address of the live connection of an identity, empty for none.
// The MQTT server ends it by itself once another has authenticated, and may have done
// so by the time that the other is announced.
func (b *Broker) present(controller lintel.ID) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.newest[controller]; c != nil {
		return c.Remote
	}
	return ""
}

// register keeps a connection, and returns the one that must give way: of two
// connections of one identity, the one that authenticated later lives.
func (b *Broker) register(cl *mqtt.Client, c *Connection) (older *Connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.connections[cl] = c
	present := b.newest[c.Controller]
	if present != nil && present.generation > c.generation {
		return c
	}
	b.newest[c.Controller] = c
	return present
}

func (b *Broker) unregister(cl *mqtt.Client) *Connection {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.connections[cl]
	delete(b.connections, cl)
	if c != nil && b.newest[c.Controller] == c {
		delete(b.newest, c.Controller)
	}
	return c
}

func (b *Broker) connection(cl *mqtt.Client) *Connection {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.connections[cl]
}

// Connection is one authenticated connection of a controller.
type Connection struct {
	Controller lintel.ID
	Remote     string
	Replaces   string // the address of an older connection of the controller, which this one ends; empty for none
	Rules      Rules

	client     *mqtt.Client
	topics     Topics
	generation uint64
}

// ErrClosed says that a connection has ended.
var ErrClosed = errors.New("the connection has ended")

// Send writes a message to the connection now, at QoS 0 and never retained. It
// does not go through topics: it reaches this connection or fails.
func (c *Connection) Send(name string, payload []byte) error {
	return c.SendTo(c.topics.Topic(string(c.Controller), name), payload)
}

// SendTo is Send to a full topic, for connections with Rules of their own.
func (c *Connection) SendTo(topic string, payload []byte) error {
	err := c.client.WritePacket(packets.Packet{
		FixedHeader: packets.FixedHeader{Type: packets.Publish},
		TopicName:   topic,
		Payload:     payload,
	})
	if err != nil {
		c.Reset()
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

// Subscribed reports whether the client has subscribed to the topic of a name.
func (c *Connection) Subscribed(name string) bool {
	_, ok := c.client.State.Subscriptions.Get(c.topics.Topic(string(c.Controller), name))
	return ok
}

// SubscribedTo reports whether the client has subscribed by the filter.
func (c *Connection) SubscribedTo(filter string) bool {
	_, ok := c.client.State.Subscriptions.Get(filter)
	return ok
}

// Delivered returns once the client's machine has confirmed all bytes that were
// sent, and false where it has not by a time of the clock now: then the connection is
// reset, so that they are not delivered after all. On systems that cannot tell, it
// is always true.
func (c *Connection) Delivered(until time.Time, now func() time.Time) bool {
	conn, ok := c.client.Net.Conn.(*guardedConn)
	if !ok || tcp.Confirmed(tcpOf(conn.Conn), until, now) {
		return true
	}
	c.Reset()
	return false
}

// ID returns the controller's.
func (c *Connection) ID() lintel.ID { return c.Controller }

// Ended reports whether the connection is over. It is true of every older
// connection of a controller once a newer one has been announced and speaks.
func (c *Connection) Ended() bool { return c.client.Closed() }

// Reset ends the connection so that bytes still on their way die with it: a
// close would let the kernel deliver them when the network comes back.
func (c *Connection) Reset() { c.client.Stop(errReset) }

var errReset = errors.New("reset by the service")
