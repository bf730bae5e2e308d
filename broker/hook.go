package broker

import (
	"bytes"
	"log/slog"
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
		mqtt.OnSubscribed, mqtt.OnPublish, mqtt.OnWill, mqtt.OnDisconnect,
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
// and another's client id would throw the other off. Firmware of others chooses
// its client id itself: it is given the controller's instead of its own.
func (h *hook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	b := h.broker
	id, network := string(pk.Connect.Username), networkOf(cl.Net.Remote)
	parsed, err := lintel.ParseID(id)
	if err != nil || string(parsed) != id {
		b.lines.say(slog.LevelWarn, network, "refused a client", "remote", cl.Net.Remote, "reason", "the user name is not a controller's ID")
		return false
	}
	var ok bool
	var rules Rules
	aside(func() { rules, ok, err = b.auth.AuthenticateController(b.ctx, parsed, string(pk.Connect.Password)) })
	if err != nil {
		b.lines.say(slog.LevelError, network, "cannot check a client's secret", "remote", cl.Net.Remote, "controller", id, "error", err)
		return false
	}
	reason := ""
	switch {
	case !ok:
		reason = "wrong or revoked secret"
	case !rules.Foreign() && onlyForeign(cl):
		reason = "its firmware speaks the controller protocol, which needs the other address, with TLS"
	case !rules.Foreign() && cl.ID != id:
		reason = "user name and client id are not one controller's ID"
	case pk.Connect.WillFlag && !b.mayPublish(id, rules, pk.Connect.WillTopic, b.topics.Will):
		reason = "its will is not on its own topic"
	}
	if reason != "" {
		b.lines.say(slog.LevelWarn, network, "refused a client", "remote", cl.Net.Remote, "controller", id, "reason", reason)
		return false
	}
	cl.ID = id
	if conn, ok := cl.Net.Conn.(*guardedConn); ok {
		conn.rules, conn.replaces = rules, b.present(parsed)
		conn.authenticated(b.generation.Add(1))
	}
	return true
}

func onlyForeign(cl *mqtt.Client) bool {
	conn, ok := cl.Net.Conn.(*guardedConn)
	return ok && conn.listener.foreign
}

// mayPublish reports whether a topic is one of an identity's own: by its rules, or
// by the controller protocol one of the names.
func (b *Broker) mayPublish(id string, rules Rules, topic string, names ...string) bool {
	if rules.Foreign() {
		return rules.mayPublish(topic)
	}
	return slices.ContainsFunc(names, func(name string) bool { return topic == b.topics.Topic(id, name) })
}

// OnACLCheck lets an identity publish and subscribe to its own topics only.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	b := h.broker
	var rules Rules
	if conn, ok := cl.Net.Conn.(*guardedConn); ok {
		rules = conn.rules
	}
	var own bool
	switch {
	case write:
		own = b.mayPublish(cl.ID, rules, topic, b.topics.Up...)
	case rules.Foreign():
		own = slices.Contains(rules.Subscribe, topic)
	default:
		own = slices.ContainsFunc(b.topics.Down, func(name string) bool { return topic == b.topics.Topic(cl.ID, name) })
	}
	if !own {
		h.warnTopic(cl, topic, write)
	}
	return own
}

// maxWarnings is how many refused topics of one connection are logged: firmware that
// says more than it may says it again and again.
const maxWarnings = 5

func (h *hook) warnTopic(cl *mqtt.Client, topic string, write bool) {
	conn, ok := cl.Net.Conn.(*guardedConn)
	if !ok {
		return
	}
	if n := conn.refused.Add(1); n <= maxWarnings {
		h.broker.lines.say(slog.LevelWarn, cl.ID, "refused a topic", "controller", cl.ID, "topic", topic, "publish", write, "last_logged", n == maxWarnings)
	}
}

// OnSessionEstablished announces a connection and ends any older one of the
// same identity. The server does that too, but in a race of many reconnects it
// loses sight of some.
func (h *hook) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) {
	c := &Connection{Controller: lintel.ID(cl.ID), Remote: cl.Net.Remote, client: cl, topics: h.broker.topics}
	if conn, ok := cl.Net.Conn.(*guardedConn); ok {
		c.generation, c.Rules, c.Replaces = conn.generation, conn.rules, conn.replaces
	}
	if older := h.broker.register(cl, c); older != nil {
		older.Reset()
	}
	if c.Replaces == "" {
		h.broker.handler.Connected(c)
		return
	}
	h.broker.log.Warn("a second connection of one controller: the older one is ended",
		"controller", cl.ID, "older", c.Replaces, "newer", cl.Net.Remote)
	aside(func() { h.broker.handler.Connected(c) }) // it tells the owner
}

// OnSubscribed announces that a client has subscribed.
func (h *hook) OnSubscribed(cl *mqtt.Client, _ packets.Packet, _ []byte) {
	if c := h.broker.connection(cl); c != nil {
		aside(func() { h.broker.handler.Subscribed(c) })
	}
}

// OnPublish passes a message on and keeps the server from routing or retaining it.
func (h *hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if c := h.broker.connection(cl); c != nil {
		name := pk.TopicName
		if !c.Rules.Foreign() {
			name = name[len(h.broker.topics.Topic(cl.ID, "")):]
		}
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
