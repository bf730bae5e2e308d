package controller

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel/protocol"
)

// MQTT dials a broker as one controller.
type MQTT struct {
	Broker string // host:port
	ID     string // the controller's ID: client id and user name
	Secret string
	TLS    *tls.Config // nil for plain TCP
}

// dialTimeout bounds one attempt, from TCP to the last subscription.
const dialTimeout = 10 * time.Second

// Dial implements Dialer with a clean MQTT 3.1.1 session.
func (d MQTT) Dial(ctx context.Context, will []byte) (Conn, error) {
	c := &mqttConn{
		prefix:   protocol.Topic(d.ID, ""),
		messages: make(chan Message, 16),
		done:     make(chan struct{}),
	}
	c.client = paho.NewClient(d.options(c, will))
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := wait(ctx, c.client.Connect()); err != nil {
		c.Close()
		return nil, fmt.Errorf("connect to %s: %w", d.Broker, err)
	}
	filters := map[string]byte{}
	for _, name := range protocol.Down {
		filters[protocol.Topic(d.ID, name)] = 0
	}
	if err := wait(ctx, c.client.SubscribeMultiple(filters, nil)); err != nil {
		c.Close()
		return nil, fmt.Errorf("subscribe at %s: %w", d.Broker, err)
	}
	return c, nil
}

func (d MQTT) options(c *mqttConn, will []byte) *paho.ClientOptions {
	scheme := "tcp"
	if d.TLS != nil {
		scheme = "ssl"
	}
	return paho.NewClientOptions().
		AddBroker(scheme+"://"+d.Broker).
		SetClientID(d.ID).SetUsername(d.ID).SetPassword(d.Secret).
		SetProtocolVersion(4).SetCleanSession(true).
		SetKeepAlive(protocol.KeepAlive).SetPingTimeout(5*time.Second).
		SetConnectTimeout(dialTimeout).SetWriteTimeout(5*time.Second).
		SetDialer(&net.Dialer{Timeout: dialTimeout}).
		SetAutoReconnect(false).SetConnectRetry(false).
		SetTLSConfig(d.TLS).
		SetBinaryWill(protocol.Topic(d.ID, protocol.TopicWill), will, 0, false).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { c.deliver(m) }).
		SetConnectionLostHandler(func(paho.Client, error) { c.end() })
}

func wait(ctx context.Context, t paho.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mqttConn is one MQTT connection.
type mqttConn struct {
	client   paho.Client
	prefix   string
	messages chan Message
	done     chan struct{}
	once     sync.Once
}

func (c *mqttConn) Messages() <-chan Message { return c.messages }

func (c *mqttConn) Done() <-chan struct{} { return c.done }

func (c *mqttConn) deliver(m paho.Message) {
	name := strings.TrimPrefix(m.Topic(), c.prefix)
	select {
	case c.messages <- Message{Name: name, Payload: m.Payload(), Retained: m.Retained()}:
	case <-c.done:
	}
}

// Publish uses QoS 0, or QoS 1 where the broker's word is wanted. The goroutine
// that waits for it ends with the connection at the latest.
func (c *mqttConn) Publish(name string, payload []byte, stored func()) {
	if stored == nil {
		c.client.Publish(c.prefix+name, 0, false, payload)
		return
	}
	token := c.client.Publish(c.prefix+name, 1, false, payload)
	go func() {
		select {
		case <-token.Done():
			if token.Error() == nil {
				stored()
			}
		case <-c.done:
		}
	}()
}

func (c *mqttConn) end() { c.once.Do(func() { close(c.done) }) }

func (c *mqttConn) Close() {
	c.client.Disconnect(50)
	c.end()
}
