package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// TestPublishingAsAnotherController has no effect: with a command under way at
// the other one, nothing that is published in its name is taken for its word.
func TestPublishingAsAnotherController(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "25s")
	own, victim := h.addController(h.Email, "Shed"), h.addController(h.Email, "Garage")
	s := newStranger(t, &h.site)
	c := connect(t, h.MQTT, victim)
	c.report("closed", "sensor", "ok")
	answer := h.background(t.Context(), victim.door(), "OPEN")
	asked := c.command()
	for name, payload := range forged(c, asked) {
		for _, how := range [][]string{{}, {"-q", "1"}, {"-q", "2"}, {"-r"}, {"-q", "1", "-V", "mqttv5"}} {
			args := append(append(as(own), how...), "-t", topic(victim.ID, name), "-m", payload)
			if code, said := s.run("mosquitto_pub", args...); code != 0 && code != 2 { // 2: the broker hung up
				t.Fatalf("publishing %s %q: exit code %d: %s", name, how, code, said)
			}
		}
	}
	if shown := h.listed(victim.door()).String(); shown != "closed/sensor/true/CLOSED" {
		t.Errorf("the door is shown as %s", shown)
	}
	c.answer(asked, 428)
	if got := receive(t, "the answer", answer); got.Status != http.StatusPreconditionRequired {
		t.Errorf("the toggle got %d %v, not the controller's own answer", got.Status, got.err)
	}
	c.exchangeTime(1)
	select {
	case order := <-c.commands:
		t.Errorf("the controller was sent a forged command: %+v", order)
	case other := <-c.others:
		t.Errorf("the controller was sent %s", other)
	default:
	}
	// It still has its session, and its door answers as before.
	answer = h.background(t.Context(), victim.door(), "OPEN")
	c.answer(c.command(), 200)
	if got := receive(t, "the answer", answer); got.Status != http.StatusOK {
		t.Errorf("afterwards the door answers %d %v", got.Status, got.err)
	}
}

// forged are messages that would be believed of the controller itself.
func forged(c *foreign, asked order) map[string]string {
	now := time.Now().UnixMilli()
	return map[string]string{
		"ack": acknowledgement(asked, 200),
		"state": fmt.Sprintf(`{"v":1,"session":%q,"seq":100,"door":1,"value":"open","source":"sensor","sensor":"ok","since":%d}`,
			c.session, now),
		"will":  fmt.Sprintf(`{"v":1,"session":%q}`, c.session),
		"hello": fmt.Sprintf(`{"v":1,"session":%q,"firmware":"forged","doors":[1]}`, c.session),
		"cmd": fmt.Sprintf(`{"v":1,"id":%q,"session":%q,"seq":100,"door":1,"action":"open","deadline":%d}`,
			unknownID, c.session, now+20_000),
		"time": fmt.Sprintf(`{"v":1,"session":%q,"nonce":1,"now":1}`, c.session),
	}
}

// TestNothingIsKeptForLater: no message waits in the broker, neither retained nor
// in a session that outlives its connection.
func TestNothingIsKeptForLater(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "1s")
	made := h.addController(h.Email, "Garage")
	s := newStranger(t, &h.site)
	command := fmt.Sprintf(`{"v":1,"id":%q,"session":"0123456789abcdef","seq":1,"door":1,"action":"open","deadline":%d}`,
		unknownID, time.Now().Add(20*time.Second).UnixMilli())
	for name, payload := range map[string]string{
		"will": `{"v":1,"session":"0123456789abcdef"}`, "cmd": command, "time": `{"v":1,"session":"0123456789abcdef","nonce":7,"now":1}`,
	} {
		for _, quality := range []string{"0", "1"} {
			s.run("mosquitto_pub", append(as(made), "-r", "-q", quality, "-t", topic(made.ID, name), "-m", payload)...)
		}
	}
	// A client that asks the broker to keep its session, with its subscription at QoS 1.
	if code, said := s.run("mosquitto_sub", append(as(made), "-c", "-q", "1", "-E", "-t", topic(made.ID, "cmd"))...); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if r := h.toggle(made.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("the absent controller's door answers %d", r.Status)
	}
	c := dial(t, h.MQTT, made, func(o *paho.ClientOptions) { o.SetCleanSession(false) })
	answer := c.exchangeTime(1)
	if answer.retained || answer.Nonce != 1 || len(c.commands)+len(c.others)+len(c.times) > 0 {
		t.Errorf("kept for later: %+v, and %d commands, %d times, %d others", answer, len(c.commands), len(c.times), len(c.others))
	}
}
