package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"lintel/tcp"
)

// conn is a connection to the broker. Closing it resets it: what was not confirmed by
// then is not delivered any more.
type conn struct {
	net.Conn            // TCP, or TLS on it
	sync.Mutex          // the parts of a packet are written together
	plain      net.Conn // TCP
	first      []byte   // the beginning of what was read
}

// Close ends the connection without a word of TLS, which could wait.
func (c *conn) Close() error { return c.plain.Close() }

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if missing := len(oldRefusal) - len(c.first); missing > 0 {
		c.first = append(c.first, b[:min(n, missing)]...)
	}
	return n, err
}

// oldRefusal is the CONNACK by which a broker of MQTT 3 says that it knows no other
// version. As one of MQTT 5 it is malformed.
const oldRefusal = "\x20\x02\x00\x01"

// failure is why there is no connection: a sentence for the log, and what is behind it.
type failure struct {
	message string
	cause   error
}

func (f *failure) Error() string { return f.message + ": " + f.cause.Error() }

func (f *failure) Unwrap() error { return f.cause }

// dialTimeout bounds one attempt, from TCP to CONNACK, and each subscription.
const dialTimeout = 10 * time.Second

// Limits of what the broker may send at once.
const (
	receiveMaximum = 1024
	maxPacket      = 64 << 10 // bytes
)

// connect makes a connection with a clean session that ends with it, so that neither
// side keeps anything for later.
func (c *Client) connect(ctx context.Context) (*session, *failure) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	wire, failed := c.dial(ctx)
	if failed != nil {
		return nil, failed
	}
	s := newSession(c, wire)
	s.client = paho.NewClient(paho.ClientConfig{
		Conn: wire, PingHandler: s.ping, PacketTimeout: dialTimeout,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){s.received},
	})
	var expiry uint32
	maximum, most := uint16(receiveMaximum), uint32(maxPacket)
	ack, err := s.client.Connect(ctx, &paho.Connect{
		ClientID: c.id, CleanStart: true, KeepAlive: keepAlive,
		Username: c.cfg.Username, UsernameFlag: c.cfg.Username != "",
		Password: []byte(c.cfg.Password), PasswordFlag: c.cfg.Password != "",
		Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry, ReceiveMaximum: &maximum, MaximumPacketSize: &most},
	})
	if err == nil && ack.Properties != nil && ack.Properties.MaximumQoS != nil && *ack.Properties.MaximumQoS == 0 {
		err = errNoQoS
	}
	if err != nil {
		s.reset()
		return nil, refusal(ack, string(wire.first), err)
	}
	return s, nil
}

func (c *Client) dial(ctx context.Context) (*conn, *failure) {
	plain, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.cfg.Address)
	if err != nil {
		return nil, &failure{"the broker cannot be reached", err}
	}
	if t, ok := plain.(*net.TCPConn); ok {
		tcp.Harden(t)
	}
	wire := &conn{Conn: plain, plain: plain}
	if c.cfg.TLS == nil {
		return wire, nil
	}
	secure := tls.Client(plain, c.cfg.TLS)
	if err := secure.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, &failure{"there is no TLS with the broker", err}
	}
	wire.Conn = secure
	return wire, nil
}

var errNoQoS = errors.New("it has QoS 0 only, and so confirms nothing")

// refusal says what a person can do about a broker that does not take the client.
func refusal(ack *paho.Connack, first string, err error) *failure {
	message := "the broker does not take the connection"
	switch {
	case first == oldRefusal, ack != nil && ack.ReasonCode == packets.ConnackUnsupportedProtocolVersion:
		message = "the broker does not speak MQTT 5, without which a command would not expire"
	case ack != nil && (ack.ReasonCode == packets.ConnackBadUsernameOrPassword || ack.ReasonCode == packets.ConnackNotAuthorized):
		message = "the broker refuses the user name or the password"
	case ack != nil && ack.ReasonCode >= 0x80:
		message = fmt.Sprintf("the broker refuses the connection, code %#x", ack.ReasonCode)
	}
	return &failure{message, err}
}
