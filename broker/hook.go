package broker

import (
	"bytes"
	"slices"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"lintel"
)

// hook connects the MQTT server to the broker's rules.
type hook struct {
	mqtt.HookBase
	broker *Broker
}

// ID names the hook for the server.
func (h *hook) ID() string { return "lintel" }

// Provides lists the events that the hook takes.
func (h *hook) Provides(event byte) bool {
	return bytes.IndexByte([]byte{
		mqtt.OnConnect, mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnSessionEstablished,
		mqtt.OnPublish, mqtt.OnWill, mqtt.OnDisconnect,
	}, event) >= 0
}

// OnConnect bounds the keep-alive: a client that asks for none would stay for
// ever after its network is gone.
func (h *hook) OnConnect(cl *mqtt.Client, _ packets.Packet) error {
	if limit := h.broker.limits.MaxKeepAlive; cl.State.Keepalive == 0 || cl.State.Keepalive > limit {
		cl.State.Keepalive, cl.State.ServerKeepalive = limit, true
	}
	return nil
}

// OnConnectAuthenticate accepts a client whose user name and client id are the
// same controller's ID, whose password is that controller's secret, and whose
// will, if any, is its own. With the user name alone, one controller's secret
// and another's client id would throw the other off.
func (h *hook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	b := h.broker
	id := string(pk.Connect.Username)
	parsed, err := lintel.ParseID(id)
	if err != nil || string(parsed) != id || cl.ID != id {
		b.log.Warn("refused a client", "remote", cl.Net.Remote, "reason", "user name and client id are not one controller's ID")
		return false
	}
	if pk.Connect.WillFlag && pk.Connect.WillTopic != b.topics.Topic(id, b.topics.Will) {
		b.log.Warn("refused a client", "remote", cl.Net.Remote, "controller", id, "reason", "its will is not on its own topic")
		return false
	}
	var ok bool
	aside(func() { ok, err = b.auth.AuthenticateController(b.ctx, parsed, string(pk.Connect.Password)) })
	if err != nil {
		b.log.Error("cannot check a client's secret", "remote", cl.Net.Remote, "controller", id, "error", err)
		return false
	}
	if !ok {
		b.log.Warn("refused a client", "remote", cl.Net.Remote, "controller", id, "reason", "wrong or revoked secret")
		return false
	}
	if conn, ok := cl.Net.Conn.(*guardedConn); ok {
		conn.authenticated(b.generation.Add(1))
	}
	return true
}

// OnACLCheck lets an identity publish and subscribe to its own topics only,
// each by its full name.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	names := h.broker.topics.Down
	if write {
		names = h.broker.topics.Up
	}
	own := slices.ContainsFunc(names, func(name string) bool { return topic == h.broker.topics.Topic(cl.ID, name) })
	if !own {
		h.broker.log.Warn("refused a topic", "controller", cl.ID, "topic", topic, "publish", write)
	}
	return own
}

// OnSessionEstablished announces a connection and ends any older one of the
// same identity. The server does that too, but in a race of many reconnects it
// loses sight of some.
func (h *hook) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) {
	c := &Connection{Controller: lintel.ID(cl.ID), Remote: cl.Net.Remote, client: cl, topics: h.broker.topics}
	if conn, ok := cl.Net.Conn.(*guardedConn); ok {
		c.generation = conn.generation
	}
	older := h.broker.register(cl, c)
	h.broker.handler.Connected(c)
	if older != nil {
		h.broker.log.Warn("a second connection of one controller: the older one is ended",
			"controller", cl.ID, "older", older.Remote, "newer", cl.Net.Remote)
		older.Reset()
	}
}

// OnPublish passes a message on and keeps the server from routing or retaining it.
func (h *hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if c := h.broker.connection(cl); c != nil {
		name := pk.TopicName[len(h.broker.topics.Topic(cl.ID, "")):]
		aside(func() { h.broker.handler.Received(c, name, pk.Payload) })
	}
	return pk, packets.CodeSuccessIgnore
}

// aside runs f on a goroutine of its own and waits for it. What goes through the
// database needs a deep stack, and a connection's own goroutine, once grown for
// its hello, would keep it for as long as the controller stays.
func aside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// OnWill drops wills: the end of the connection itself is what counts.
func (h *hook) OnWill(*mqtt.Client, mqtt.Will) (mqtt.Will, error) {
	return mqtt.Will{TopicName: "$dropped"}, nil
}

// OnDisconnect announces the end of a connection.
func (h *hook) OnDisconnect(cl *mqtt.Client, _ error, _ bool) {
	if c := h.broker.unregister(cl); c != nil {
		h.broker.handler.Disconnected(c)
	}
}
