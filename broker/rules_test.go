package broker

import (
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// TestForeignFirmware: it chooses its client id itself, and keeps to its own topics.
func TestForeignFirmware(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	for _, id := range []string{"OG_123456", "garage-door", ""} {
		c := connect(t, options(address, vendor).SetClientID(id).SetWill("home/garage/LWT", "offline", 1, true))
		made := <-r.connected
		if made.Controller != vendor || !made.Rules.Foreign() {
			t.Fatalf("client id %q: connected as %s", id, made.Controller)
		}
		must(t, c.Subscribe("home/garage/command/#", 0, nil))
		if !made.SubscribedTo("home/garage/command/#") {
			t.Errorf("client id %q: not subscribed", id)
		}
		must(t, c.Publish("home/garage/status/door", 1, true, "open"))
		if got := <-r.received; got != string(vendor)+" home/garage/status/door open" {
			t.Errorf("received %q", got)
		}
		got := make(chan string, 1)
		must(t, c.Subscribe("home/garage/command/#", 0, func(_ paho.Client, m paho.Message) {
			got <- m.Topic() + " " + string(m.Payload())
			if m.Retained() {
				t.Error("a command is marked as retained")
			}
		}))
		if err := made.SendTo("home/garage/command/door", []byte("close")); err != nil || !made.Delivered(time.Now().Add(10*time.Second), time.Now) {
			t.Fatalf("sent: %v", err)
		}
		if m := <-got; m != "home/garage/command/door close" {
			t.Errorf("it got %q", m)
		}
		c.Disconnect(0)
		<-r.disconnected
	}
}

// TestForeignTopics: nothing beyond its rules, in either direction.
func TestForeignTopics(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	for _, filter := range []string{"#", "home/#", "home/garage/#", "home/garage/command/door", "home/garage/status/#", "t/" + string(alice) + "/down"} {
		c := connect(t, options(address, vendor))
		token := c.Subscribe(filter, 0, nil)
		token.WaitTimeout(20 * time.Second)
		made := <-r.connected
		if made.SubscribedTo(filter) {
			t.Errorf("subscribed to %s", filter)
		}
		c.Disconnect(0)
		<-r.disconnected
	}
	c := connect(t, options(address, vendor))
	for _, topic := range []string{"home/garage/command/door", "home/garage", "home/garage/statusx", "home/other/status/door", "t/" + string(vendor) + "/up"} {
		c.Publish(topic, 0, true, "stolen")
	}
	must(t, c.Publish("home/garage/status/door", 1, false, "own"))
	if got := <-r.received; got != string(vendor)+" home/garage/status/door own" || len(r.received) != 0 {
		t.Errorf("received %q and %d more", got, len(r.received))
	}
	refused := options(address, vendor).SetWill("t/"+string(alice)+"/down", "x", 0, false)
	if token := paho.NewClient(refused).Connect(); !token.WaitTimeout(20*time.Second) || token.Error() == nil {
		t.Error("a will on somebody else's topic was taken")
	}
}

// TestForeignClientIDsThrowNobodyOff: a device that calls itself by the client id of
// another controller ends no connection but its own.
func TestForeignClientIDsThrowNobodyOff(t *testing.T) {
	_, r, address := serve(t, DefaultLimits())
	connect(t, options(address, alice))
	own := <-r.connected
	connect(t, options(address, vendor).SetClientID(string(alice)))
	<-r.connected
	if own.Ended() {
		t.Fatal("the other controller's connection has ended")
	}
	connect(t, options(address, vendor).SetClientID("another"))
	newer := <-r.connected
	if gone := <-r.disconnected; gone.Controller != vendor || gone == newer {
		t.Errorf("of two connections of one identity %s's ended", gone.Controller)
	}
	if own.Ended() {
		t.Error("the other controller's connection has ended")
	}
}
