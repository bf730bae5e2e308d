package broker

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// TestAFloodIsAFewLines: from one network, and from many, and the next line says how
// many were left out.
func TestAFloodIsAFewLines(t *testing.T) {
	var said bytes.Buffer
	now := time.Unix(1_000_000, 0)
	l := newLines(slog.New(slog.NewTextHandler(&said, nil)), func() time.Time { return now })
	count := func() int { return strings.Count(said.String(), "refused") }
	for range 1000 {
		l.say(slog.LevelWarn, networkOf("192.0.2.1:1000"), "refused")
	}
	if count() != linesOfOne.Burst {
		t.Errorf("%d lines of one network", count())
	}
	now = now.Add(linesOfOne.Each)
	l.say(slog.LevelWarn, networkOf("192.0.2.1:2000"), "refused")
	if want := fmt.Sprintf("left_out_before=%d\n", 1000-linesOfOne.Burst); !strings.HasSuffix(said.String(), want) {
		t.Errorf("%s ends without %s", said.String(), want)
	}
	now = now.Add(time.Hour)
	said.Reset()
	for i := range 1000 {
		l.say(slog.LevelWarn, networkOf(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256)), "refused")
	}
	if count() != linesInAll.Burst {
		t.Errorf("%d lines in all", count())
	}
	l.say(slog.LevelWarn, "another", "something else")
	if !strings.Contains(said.String(), "something else") {
		t.Error("one message hides another")
	}
}

// TestStrangersLines holds the broker to that, with an unknown user, a wrong secret, and
// a controller that connects again and again to publish where it may not.
func TestStrangersLines(t *testing.T) {
	b, _, address := serve(t, DefaultLimits())
	var said bytes.Buffer
	b.lines = newLines(slog.New(slog.NewTextHandler(&said, nil)), func() time.Time { return time.Unix(1_000_000, 0) })
	for range 10 {
		for _, o := range []*paho.ClientOptions{options(address, alice).SetUsername("nobody"), options(address, alice).SetPassword("wrong")} {
			if token := paho.NewClient(o).Connect(); !token.WaitTimeout(20*time.Second) || token.Error() == nil {
				t.Fatal("let in")
			}
		}
		c := paho.NewClient(options(address, bob))
		must(t, c.Connect())
		c.Subscribe("t/"+string(alice)+"/down", 1, nil).WaitTimeout(20 * time.Second)
		c.Disconnect(0)
	}
	b.Close()
	for _, message := range []string{"refused a client", "refused a topic"} {
		if n := strings.Count(said.String(), message); n != linesOfOne.Burst {
			t.Errorf("%q is said %d times", message, n)
		}
	}
}
