package conformance

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel/protocol"
)

// kind is what a note is about.
type kind int

const (
	opened    kind = iota // a TCP connection
	ended                 // its end
	joined                // CONNECT was accepted
	received              // an MQTT packet of the controller
	written               // an MQTT packet to the controller
	commanded             // a command of the kit, about to be written
	told                  // the controller was told the time
)

// note is one thing that happened.
type note struct {
	at     time.Time
	kind   kind
	wire   *wire
	packet packets.Packet // of received and written
	name   string         // the last part of the topic of a received PUBLISH; empty where it is not a controller's own
	id     string         // of commanded: what the controller can read of the id
}

// isPublish reports whether the note is a PUBLISH of the controller on its own
// topic of a name.
func (n note) isPublish(name string) bool {
	return n.kind == received && n.packet.FixedHeader.Type == packets.Publish && n.name == name
}

// is reports whether the note is a packet of a type.
func (n note) is(k kind, packetType byte) bool {
	return n.kind == k && n.packet.FixedHeader.Type == packetType
}

// message decodes the payload of a PUBLISH on a topic of a name.
func message[M any, P interface {
	*M
	protocol.Message
}](n note, name string) (M, bool) {
	if !n.isPublish(name) {
		var none M
		return none, false
	}
	m, err := protocol.Decode[M, P](n.packet.Payload)
	return m, err == nil
}

func (n note) ack() (protocol.Ack, bool)     { return message[protocol.Ack](n, protocol.TopicAck) }
func (n note) state() (protocol.State, bool) { return message[protocol.State](n, protocol.TopicState) }
func (n note) hello() (protocol.Hello, bool) { return message[protocol.Hello](n, protocol.TopicHello) }

// transcript is all that happened, in order.
type transcript struct {
	mu    sync.Mutex // guards what follows
	all   []note
	grown chan struct{} // closed with the next note
}

func newTranscript() *transcript { return &transcript{grown: make(chan struct{})} }

func (t *transcript) add(n note) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, n)
	close(t.grown)
	t.grown = make(chan struct{})
}

// since returns the notes from a mark on, and when there will be more.
func (t *transcript) since(mark int) (notes []note, more <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[mark:len(t.all):len(t.all)], t.grown
}

// mark is a place in the transcript: its end at present.
func (t *transcript) mark() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// until waits until done says true of the notes from a mark on, for at most limit.
func (t *transcript) until(ctx context.Context, mark int, limit time.Duration, done func([]note) bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		notes, more := t.since(mark)
		if done(notes) {
			return true
		}
		select {
		case <-more:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// next waits for a note that matches, from a mark on.
func (t *transcript) next(ctx context.Context, mark int, limit time.Duration, match func(note) bool) (found note, ok bool) {
	ok = t.until(ctx, mark, limit, func(notes []note) bool {
		for _, n := range notes {
			if match(n) {
				found = n
				return true
			}
		}
		return false
	})
	return found, ok
}

// on returns the notes of one connection.
func (t *transcript) on(w *wire) []note {
	all, _ := t.since(0)
	var own []note
	for _, n := range all {
		if n.wire == w {
			own = append(own, n)
		}
	}
	return own
}

// nameOf returns the last part of one of the topics that a controller may publish.
func nameOf(controller, topic string) string {
	name, own := strings.CutPrefix(topic, protocol.Topic(controller, ""))
	if !own {
		return ""
	}
	for _, up := range protocol.Up {
		if name == up {
			return name
		}
	}
	return ""
}
