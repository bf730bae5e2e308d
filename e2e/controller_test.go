package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// foreign is a controller of another make: it speaks the controller protocol by
// its document alone, over a client library, and does what the test tells it to.
type foreign struct {
	t        *testing.T
	client   paho.Client
	id       string
	session  string
	sequence int64
	commands chan order
	times    chan serviceTime
	others   chan string // topics that it has no business to see
}

// order is a cmd message.
type order struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Door    int    `json:"door"`
	Action  string `json:"action"`
}

// serviceTime is a time message.
type serviceTime struct {
	Session  string `json:"session"`
	Nonce    int64  `json:"nonce"`
	retained bool
}

// topic is the full name of a controller's topic.
func topic(id, name string) string { return "lintel/v1/" + id + "/" + name }

// dial connects a controller, subscribed and without a session.
func dial(t *testing.T, broker string, c credentials, more ...func(*paho.ClientOptions)) *foreign {
	t.Helper()
	f := &foreign{
		t: t, id: c.ID, session: fmt.Sprintf("session-of-%d", time.Now().UnixNano()),
		commands: make(chan order, 16), times: make(chan serviceTime, 16), others: make(chan string, 16),
	}
	options := paho.NewClientOptions().AddBroker("tcp://" + broker).SetClientID(c.ID).SetUsername(c.ID).SetPassword(c.Secret).
		SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false).SetDefaultPublishHandler(f.received)
	for _, change := range more {
		change(options)
	}
	f.client = paho.NewClient(options)
	f.finish(f.client.Connect())
	t.Cleanup(func() { f.client.Disconnect(0) })
	f.finish(f.client.SubscribeMultiple(map[string]byte{topic(c.ID, "cmd"): 0, topic(c.ID, "time"): 0}, nil))
	return f
}

// connect is dial and the hello that opens a session.
func connect(t *testing.T, broker string, c credentials) *foreign {
	t.Helper()
	f := dial(t, broker, c)
	f.publish("hello", fmt.Sprintf(`{"v":1,"session":%q,"firmware":"foreign 1.0","doors":[1]}`, f.session))
	return f
}

func (f *foreign) received(_ paho.Client, m paho.Message) {
	switch m.Topic() {
	case topic(f.id, "cmd"):
		var o order
		if json.Unmarshal(m.Payload(), &o) == nil && !m.Retained() {
			f.commands <- o
			return
		}
	case topic(f.id, "time"):
		answer := serviceTime{retained: m.Retained()}
		if json.Unmarshal(m.Payload(), &answer) == nil {
			f.times <- answer
			return
		}
	}
	f.others <- fmt.Sprintf("%s %q retained %t", m.Topic(), m.Payload(), m.Retained())
}

func (f *foreign) finish(token paho.Token) {
	f.t.Helper()
	if !token.WaitTimeout(patience) || token.Error() != nil {
		f.t.Fatalf("MQTT: %v", token.Error())
	}
}

// publish sends a message and returns when the service has dealt with it: it
// confirms QoS 1 after that.
func (f *foreign) publish(name, payload string) {
	f.t.Helper()
	f.finish(f.client.Publish(topic(f.id, name), 1, false, payload))
}

// answer answers a command.
func (f *foreign) answer(o order, code int) {
	f.t.Helper()
	f.publish("ack", acknowledgement(o, code))
}

func acknowledgement(o order, code int) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"session":%q,"code":%d}`, o.ID, o.Session, code)
}

// report says where its door is.
func (f *foreign) report(value, source, sensor string) {
	f.t.Helper()
	f.sequence++
	f.publish("state", fmt.Sprintf(`{"v":1,"session":%q,"seq":%d,"door":1,"value":%q,"source":%q,"sensor":%q,"since":%d}`,
		f.session, f.sequence, value, source, sensor, time.Now().UnixMilli()))
}

// command waits for the next command.
func (f *foreign) command() order {
	f.t.Helper()
	return receive(f.t, "a command at the controller", f.commands)
}

// exchangeTime asks for the time and returns the answer. Messages of one connection
// come in order: whatever was sent to it before is there when it returns.
func (f *foreign) exchangeTime(nonce int64) serviceTime {
	f.t.Helper()
	f.publish("time/request", fmt.Sprintf(`{"v":1,"session":%q,"nonce":%d}`, f.session, nonce))
	return receive(f.t, "the time at the controller", f.times)
}

// leave ends the session as a controller does that is switched off.
func (f *foreign) leave() {
	f.t.Helper()
	f.publish("will", fmt.Sprintf(`{"v":1,"session":%q}`, f.session))
	f.client.Disconnect(0)
}
