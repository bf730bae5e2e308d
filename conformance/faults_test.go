package conformance

import (
	"encoding/json"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel"
	"lintel/controller"
	"lintel/protocol"
)

// faults are the bad controllers, by the rule that finds each.
var faults = map[string]fault{
	"connect":       {options: func(o *paho.ClientOptions) { o.SetPassword("wrong") }},
	"hello":         onPublish(protocol.TopicHello, func(m map[string]any) { m["doors"] = []int{} }),
	"asks-time":     dropping(protocol.TopicTimeRequest, func(*conn, map[string]any) bool { return true }),
	"reports-doors": dropping(protocol.TopicState, func(_ *conn, m map[string]any) bool { return m["event"] == nil }),

	"ack":                onPublish(protocol.TopicAck, func(m map[string]any) { m["session"] = "some-other-session" }),
	"ack: of another id": onPublish(protocol.TopicAck, func(m map[string]any) { m["id"] = lintel.NewID() }),
	"ack: of a code that is not in the table": onPublish(protocol.TopicAck, func(m map[string]any) { m["code"] = 202 }),
	"ack: none":     dropping(protocol.TopicAck, func(*conn, map[string]any) bool { return true }),
	"service-time":  onCommand(func(_ *conn, c *protocol.Command) { c.Deadline += ahead.Milliseconds() }),
	"wrong-session": onCommand(func(c *conn, m *protocol.Command) { m.Session = c.session }),
	"late":          onCommand(func(_ *conn, c *protocol.Command) { c.Deadline = max(c.Deadline, soon()) }),
	"too-far-ahead": onCommand(func(_ *conn, c *protocol.Command) { c.Deadline = min(c.Deadline, soon()) }),
	"repeated":      countsForItself,
	"out-of-order":  countsForItself,
	"sequence-used": countsForItself,
	"no-such-door":  onCommand(func(_ *conn, c *protocol.Command) { c.Door = 1 }),
	"retained": {receive: func(_ *conn, m controller.Message) []controller.Message {
		m.Retained = false
		return []controller.Message{m}
	}},

	"unknown-field": {receive: func(_ *conn, m controller.Message) []controller.Message {
		if strings.Contains(string(m.Payload), "x_later_version") {
			m.Payload = []byte(strings.Replace(string(m.Payload), `"action"`, `"other"`, 1))
		}
		return []controller.Message{m}
	}},
	"longest-message": {receive: func(_ *conn, m controller.Message) []controller.Message {
		if len(m.Payload) >= protocol.MaxPayload {
			return nil
		}
		return []controller.Message{m}
	}},
	"oversized":       lenient,
	"malformed-json":  lenient,
	"duplicate-name":  lenient,
	"invalid-utf8":    lenient,
	"unknown-version": lenient,
	"missing-field":   lenient,
	"wrong-value":     lenient,
	"integers":        lenient,
	"letter-case":     lenient,

	"change":    onPublish(protocol.TopicState, func(m map[string]any) { delete(m, "command"); m["cause"] = "unknown" }),
	"ack-first": answersLast,
	"report-interval": dropping(protocol.TopicState, func(c *conn, m map[string]any) bool {
		return m["event"] == nil && time.Since(c.began) > 5*time.Second
	}),
	"time-interval": asksOnce,

	"event-again": dropping(protocol.TopicState, func(c *conn, m map[string]any) bool {
		event, _ := m["event"].(string)
		before := c.device.events[event]
		c.device.events[event] = event != ""
		return before
	}),
	"fresh-session":   sameSession,
	"no-time":         knowsTimeAlready,
	"foreign-time":    takesAnyTime,
	"slow-time":       asksOnce,
	"reconnect-delay": {hasty: true},

	"mqtt-version":              {options: func(o *paho.ClientOptions) { o.SetProtocolVersion(3) }},
	"clean-session":             {options: func(o *paho.ClientOptions) { o.SetCleanSession(false) }},
	"keep-alive":                {options: func(o *paho.ClientOptions) { o.SetKeepAlive(time.Minute) }},
	"will: on another topic":    {options: func(o *paho.ClientOptions) { o.WillTopic = "home/garage" }},
	"will":                      {options: func(o *paho.ClientOptions) { o.WillRetained = true }},
	"subscribe-first":           {eager: true},
	"own-topics":                alsoPublishing(protocol.TopicHello, outgoing{topic: "home/garage", payload: []byte("closed")}),
	"own-topics: subscribed to": {elsewhere: "lintel/v1/#"},
	"retain-flag": {publish: func(_ *conn, p outgoing) []outgoing {
		p.retain = p.name == protocol.TopicState
		return []outgoing{p}
	}},
	"qos": {publish: func(_ *conn, p outgoing) []outgoing {
		p.qos = 0
		return []outgoing{p}
	}},

	"qos: of a change": {publish: func(_ *conn, p outgoing) []outgoing {
		if p.name == protocol.TopicState {
			p.qos = 0
		}
		return []outgoing{p}
	}},

	"hello-first: twice": {publish: func(_ *conn, p outgoing) []outgoing {
		if p.name == protocol.TopicHello {
			return []outgoing{p, p}
		}
		return []outgoing{p}
	}},
	"hello-first": {publish: func(c *conn, p outgoing) []outgoing {
		if p.name != protocol.TopicHello {
			return []outgoing{p}
		}
		early := protocol.Encode(&protocol.TimeRequest{Version: 1, Session: c.session, Nonce: -1})
		return []outgoing{{name: protocol.TopicTimeRequest, payload: early}, p}
	}},
	"valid-messages":  alsoPublishing(protocol.TopicHello, outgoing{name: protocol.TopicState, payload: []byte(`{"v":1,"value":"ajar"}`)}),
	"present-session": onPublish(protocol.TopicTimeRequest, func(m map[string]any) { m["session"] = "some-other-session" }),
	"sequence-rises":  onPublish(protocol.TopicState, func(m map[string]any) { m["seq"] = 1 }),
	"nonce":           oneNonce,
	"one-answer": {publish: func(_ *conn, p outgoing) []outgoing {
		if p.name == protocol.TopicAck {
			return []outgoing{p, p}
		}
		return []outgoing{p}
	}},
	"reason-code": onPublish(protocol.TopicAck, func(m map[string]any) {
		if m["reason"] == "already_there" {
			m["code"] = 428
		}
	}),
}

// soon is a good deadline.
func soon() int64 { return time.Now().Add(ahead + 5*time.Second).UnixMilli() }

// onPublish changes the messages of a name.
func onPublish(name string, change func(m map[string]any)) fault {
	return fault{publish: func(_ *conn, p outgoing) []outgoing {
		if p.name == name {
			m := objectOf(p.payload)
			change(m)
			p.payload, _ = json.Marshal(m)
		}
		return []outgoing{p}
	}}
}

// objectOf keeps integers as they are.
func objectOf(payload []byte) map[string]any {
	m := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(string(payload)))
	decoder.UseNumber()
	_ = decoder.Decode(&m)
	return m
}

// dropping does not publish some messages of a name.
func dropping(name string, which func(c *conn, m map[string]any) bool) fault {
	return fault{publish: func(c *conn, p outgoing) []outgoing {
		if p.name == name && which(c, objectOf(p.payload)) {
			return nil
		}
		return []outgoing{p}
	}}
}

// alsoPublishing publishes something more behind each message of a name.
func alsoPublishing(name string, more outgoing) fault {
	return fault{publish: func(_ *conn, p outgoing) []outgoing {
		if p.name == name {
			return []outgoing{p, more}
		}
		return []outgoing{p}
	}}
}

// onCommand changes the valid commands before the runtime sees them.
func onCommand(change func(c *conn, m *protocol.Command)) fault {
	return fault{receive: func(c *conn, m controller.Message) []controller.Message {
		if cmd, err := protocol.Decode[protocol.Command](m.Payload); err == nil && m.Name == protocol.TopicCommand {
			change(c, &cmd)
			m.Payload = protocol.Encode(&cmd)
		}
		return []controller.Message{m}
	}}
}

// countsForItself does not look at sequence numbers.
var countsForItself = onCommand(func(c *conn, m *protocol.Command) {
	c.sequence++
	m.Sequence = c.sequence
})

// lenient takes for a command whatever looks like one.
var lenient = fault{receive: func(c *conn, m controller.Message) []controller.Message {
	if m.Name != protocol.TopicCommand {
		return []controller.Message{m}
	}
	text := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(string(m.Payload), "["), "]"), "{}")
	if !strings.HasSuffix(text, "}") {
		text += "}"
	}
	var loose struct{ ID, Action string }
	_ = json.Unmarshal([]byte(text), &loose)
	if loose.Action != "open" {
		loose.Action = "close"
	}
	c.sequence++
	m.Payload = protocol.Encode(&protocol.Command{
		Version: 1, ID: loose.ID, Session: c.session, Sequence: c.sequence, Door: 1, Action: loose.Action, Deadline: soon(),
	})
	return []controller.Message{m}
}}

// answersLast sends the answer to a movement after the report on it.
var answersLast = fault{publish: func(c *conn, p outgoing) []outgoing {
	if p.name == protocol.TopicAck && objectOf(p.payload)["reason"] == nil {
		c.held = append(c.held, p)
		return nil
	}
	if p.name != protocol.TopicState {
		return []outgoing{p}
	}
	all := append([]outgoing{p}, c.held...)
	c.held = nil
	return all
}}

// asksOnce asks for the time once on each connection.
var asksOnce = dropping(protocol.TopicTimeRequest, func(c *conn, _ map[string]any) bool {
	c.requests++
	return c.requests > 1
})

// sameSession keeps its first session for ever.
var sameSession = fault{
	publish: func(c *conn, p outgoing) []outgoing {
		if c.device.first == "" {
			c.device.first = c.session
		}
		p.payload = []byte(strings.ReplaceAll(string(p.payload), c.session, c.device.first))
		return []outgoing{p}
	},
	receive: func(c *conn, m controller.Message) []controller.Message {
		m.Payload = []byte(strings.ReplaceAll(string(m.Payload), c.device.first, c.session))
		return []controller.Message{m}
	},
}

// knowsTimeAlready does not wait for the service to say the time.
var knowsTimeAlready = fault{publish: func(c *conn, p outgoing) []outgoing {
	if m, err := protocol.Decode[protocol.TimeRequest](p.payload); err == nil && p.name == protocol.TopicTimeRequest {
		c.deliver(controller.Message{Name: protocol.TopicTime, Payload: protocol.Encode(&protocol.Time{
			Version: 1, Session: m.Session, Nonce: m.Nonce, Now: time.Now().Add(ahead).UnixMilli(),
		})})
	}
	return []outgoing{p}
}}

// takesAnyTime does not compare what a time belongs to.
var takesAnyTime = fault{
	publish: func(c *conn, p outgoing) []outgoing {
		if m, err := protocol.Decode[protocol.TimeRequest](p.payload); err == nil && p.name == protocol.TopicTimeRequest {
			c.nonce = m.Nonce
		}
		return []outgoing{p}
	},
	receive: func(c *conn, m controller.Message) []controller.Message {
		if answer, err := protocol.Decode[protocol.Time](m.Payload); err == nil && m.Name == protocol.TopicTime {
			answer.Session, answer.Nonce = c.session, c.nonce
			m.Payload = protocol.Encode(&answer)
		}
		return []controller.Message{m}
	},
}

// oneNonce uses the same nonce for every request.
var oneNonce = fault{
	publish: func(c *conn, p outgoing) []outgoing {
		return onPublish(protocol.TopicTimeRequest, func(m map[string]any) {
			c.nonce, _ = m["nonce"].(json.Number).Int64()
			m["nonce"] = 1
		}).publish(c, p)
	},
	receive: takesAnyTime.receive,
}
