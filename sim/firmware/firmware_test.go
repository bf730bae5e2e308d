package firmware

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

const patience = 20 * time.Second

// heard collects what clients publish and subscribe to.
type heard struct {
	mqtt.HookBase
	said   chan string
	listen chan string
}

func (h *heard) Provides(b byte) bool {
	return bytes.Contains([]byte{mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnPublished, mqtt.OnSubscribed}, []byte{b})
}

func (h *heard) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

func (h *heard) OnACLCheck(*mqtt.Client, string, bool) bool { return true }

func (h *heard) OnPublished(_ *mqtt.Client, p packets.Packet) {
	h.said <- p.TopicName + " " + string(p.Payload)
}

func (h *heard) OnSubscribed(c *mqtt.Client, p packets.Packet, _ []byte) { h.listen <- c.ID }

// await waits until something is said, and forgets what came before.
func await(t *testing.T, from <-chan string, want string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case got := <-from:
			if got == want {
				return
			}
		case <-late:
			t.Fatalf("waited %s for %q", patience, want)
		}
	}
}

// play runs a device at a broker that lets everybody do everything.
func play(t *testing.T, made func(Config) *Device, c Config) (*mqtt.Server, *heard) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := mqtt.New(&mqtt.Options{InlineClient: true})
	h := &heard{said: make(chan string, 1000), listen: make(chan string, 100)}
	for _, err := range []error{server.AddHook(h, nil),
		server.AddListener(listeners.NewNet("t", listener)), server.Serve()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Broker, c.Travel, c.Username = listener.Addr().String(), 200*time.Millisecond, "0001-abcdef"
	if c.Now == nil {
		c.Now = time.Now
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		made(c).Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = server.Close()
	})
	return server, h
}

func tell(t *testing.T, s *mqtt.Server, topic, payload string) {
	t.Helper()
	if err := s.Publish(topic, []byte(payload), false, 0); err != nil {
		t.Fatal(err)
	}
}

// TestRatgdoStopsAndGoesBack: from a stop it presses its one button, whichever way
// that goes, as the firmware does.
func TestRatgdoStopsAndGoesBack(t *testing.T) {
	t.Parallel()
	s, h := play(t, Ratgdo, Config{Base: "home/Door"})
	await(t, h.listen, "Door")
	await(t, h.said, "home/Door/status/availability online")
	tell(t, s, "home/Door/command/query", "query")
	await(t, h.said, "home/Door/status/door closed")
	tell(t, s, "home/Door/command/door", "open")
	await(t, h.said, "home/Door/status/door opening")
	tell(t, s, "home/Door/command/door", "stop")
	await(t, h.said, "home/Door/status/door stopped")
	tell(t, s, "home/Door/command/door", "open")
	await(t, h.said, "home/Door/status/door closing")
	await(t, h.said, "home/Door/status/door closed")
}

// TestConnectsAgain: a device whose connection is cut comes back and
// says again where its door is.
func TestConnectsAgain(t *testing.T) {
	t.Parallel()
	s, h := play(t, ESPHome, Config{Base: "garage", Entity: "door"})
	const id = "garage-abcdef"
	await(t, h.listen, id)
	await(t, h.said, "garage/cover/door/state closed")
	tell(t, s, "garage/cover/door/command", "OPEN")
	await(t, h.said, "garage/cover/door/position/state 100")
	await(t, h.said, "garage/cover/door/state open")
	client, ok := s.Clients.Get(id)
	if !ok {
		t.Fatalf("there is no client %s", id)
	}
	client.Stop(net.ErrClosed)
	await(t, h.said, "garage/status online")
	await(t, h.said, "garage/cover/door/state open")
}

// TestGaradgetReckons: what it cannot see it says after a while.
func TestGaradgetReckons(t *testing.T) {
	t.Parallel()
	s, h := play(t, Garadget, Config{Base: "Main Door"})
	status := func(word string) {
		t.Helper()
		await(t, h.said, `garadget/Main Door/status {"status":"`+word+`","time":"0s","sensor":`+map[bool]string{true: "84", false: "6"}[word == "closed"]+`,"bright":12,"signal":-61}`)
	}
	status("closed")
	await(t, h.listen, "Main Door")
	tell(t, s, "garadget/Main Door/command", "open")
	status("opening")
	status("open")
	tell(t, s, "garadget/Main Door/command", "close")
	status("closing")
	status("closed")
}
