// Package firmware plays the firmware of door hardware that people own, each at a
// simulated door: it connects by MQTT like the device, and publishes and obeys what
// the device is known to. It knows nothing of the service.
package firmware

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"lintel/door"
	"lintel/sim"
)

// Config is what somebody enters on a device's own pages, and its door.
type Config struct {
	Broker   string      // host:port
	TLS      *tls.Config // nil for plain TCP
	Username string
	Password string
	Base     string // its topic, prefix or name; each firmware says which
	Entity   string // of ESPHome: the cover's object id
	Travel   time.Duration
	Faults   Faults
	Now      func() time.Time
}

// Device is one running firmware and its door.
type Device struct {
	Config
	does   behaviour
	starts func() // called at power on; may be nil
	has    profile
	door   *sim.Hardware
	seen   int         // readings of its sensors, of Run alone
	closed atomic.Bool // the door is down
	events chan func() // run one after the other, by Run
	ended  <-chan struct{}
	client paho.Client // nil while there is no connection
}

// profile is how a firmware connects.
type profile struct {
	clientID     string
	keepsSession bool // it asks for its old session
	keepAlive    time.Duration
	will         message
	subscribes   []string
	retry        time.Duration // before the second attempt to connect; then longer
	retryMost    time.Duration
	sensors      int // that its door has: 1 at the closed end, 2 at both
}

type message struct {
	topic    string
	payload  string
	qos      byte
	retained bool
}

// behaviour is what a firmware does. It is called by one goroutine.
type behaviour interface {
	connected()
	told(topic, payload string)
	sensed(end door.End, there bool)
}

func newDevice(c Config, has profile) *Device {
	return &Device{Config: c, has: has, events: make(chan func(), 16),
		door: sim.NewHardware([]sim.Door{{EveryInput: true, Sensors: has.sensors, Travel: c.Travel}}, c.Now)}
}

// Run is the device from power on until ctx ends. It goes on moving its door, and
// connects again, after its connection was lost.
func (d *Device) Run(ctx context.Context) {
	d.ended = ctx.Done()
	if d.starts != nil {
		d.starts()
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { d.door.Run(ctx) })
	running.Go(func() { d.stayConnected(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-d.events:
			event()
		case in := <-d.door.Inputs():
			if s, ok := in.In.(door.Sensed); ok {
				if s.End == door.ClosedEnd {
					d.closed.Store(s.Reading == door.At)
				}
				d.does.sensed(s.End, s.Reading == door.At)
				d.seen++
			}
		}
	}
}

// Door is the device's own: its log, and a way to move it by hand.
func (d *Device) Door() *sim.Hardware { return d.door }

// Closed reports whether the door is down, whatever the device says of it.
func (d *Device) Closed() bool { return d.closed.Load() }

// post has Run call something; after it, nothing is called.
func (d *Device) post(event func()) {
	select {
	case d.events <- event:
	case <-d.ended:
	}
}

// after has Run call something later.
func (d *Device) after(wait time.Duration, event func()) *time.Timer {
	return time.AfterFunc(wait, func() { d.post(event) })
}

// every has Run call something again and again.
func (d *Device) every(period time.Duration, event func()) {
	d.after(period, func() {
		event()
		d.every(period, event)
	})
}

// say publishes, if there is a connection.
func (d *Device) say(topic, payload string) { d.publish(message{topic: topic, payload: payload}) }

// retain is say with the retain flag.
func (d *Device) retain(topic, payload string) {
	d.publish(message{topic: topic, payload: payload, retained: true})
}

func (d *Device) publish(m message) {
	if d.client != nil {
		d.client.Publish(m.topic, m.qos, m.retained, m.payload)
	}
}

// dialTimeout bounds one attempt to connect, and each of its steps.
const dialTimeout = 10 * time.Second

func (d *Device) stayConnected(ctx context.Context) {
	wait := d.has.retry
	for ctx.Err() == nil {
		if d.connection(ctx) {
			wait = d.has.retry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, d.has.retryMost)
	}
}

// connection makes one connection and returns at its end, and whether there was one.
func (d *Device) connection(ctx context.Context) bool {
	lost := make(chan struct{})
	client := paho.NewClient(d.options().SetConnectionLostHandler(func(paho.Client, error) { close(lost) }))
	defer client.Disconnect(50)
	if !succeeds(client.Connect()) {
		return false
	}
	d.post(func() { d.client = client })
	defer d.post(func() { d.client = nil })
	for _, filter := range d.has.subscribes {
		if !succeeds(client.Subscribe(filter, 0, nil)) {
			return false
		}
	}
	d.post(d.does.connected)
	select {
	case <-lost:
	case <-ctx.Done():
	}
	return true
}

func succeeds(token paho.Token) bool {
	return token.WaitTimeout(dialTimeout) && token.Error() == nil
}

func (d *Device) options() *paho.ClientOptions {
	scheme := "tcp"
	if d.TLS != nil {
		scheme = "ssl"
	}
	will := d.has.will
	return paho.NewClientOptions().
		AddBroker(scheme+"://"+d.Broker).SetTLSConfig(d.TLS).
		SetClientID(d.has.clientID).SetUsername(d.Username).SetPassword(d.Password).
		SetProtocolVersion(4).SetCleanSession(!d.has.keepsSession).SetKeepAlive(d.has.keepAlive).
		SetConnectTimeout(dialTimeout).SetWriteTimeout(5*time.Second).SetDialer(&net.Dialer{Timeout: dialTimeout}).
		SetAutoReconnect(false).SetConnectRetry(false).
		SetWill(will.topic, will.payload, will.qos, will.retained).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			d.post(func() { d.does.told(m.Topic(), string(m.Payload())) })
		})
}

// number is what the device's client id ends with, as the end of a MAC address would.
func (c Config) number() string {
	digits := strings.ToUpper(strings.ReplaceAll(c.Username, "-", ""))
	return digits[max(0, len(digits)-6):]
}
