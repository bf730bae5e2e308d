package conformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel/protocol"
)

// each judges every note; what returns what is wrong with one, and empty for nothing.
func (k *kit) each(matters func(note) bool, what func(note) string) verdict {
	all, _ := k.notes.since(0)
	seen := false
	for _, n := range all {
		if !matters(n) {
			continue
		}
		seen = true
		if wrong := what(n); wrong != "" {
			return failed("%s", wrong)
		}
	}
	if !seen {
		return skipped("there was nothing to judge it by")
	}
	return passed
}

func isPublish(n note) bool { return n.is(received, packets.Publish) }

func isState(n note) bool {
	_, ok := n.state()
	return ok
}

func neverRetains(_ context.Context, k *kit) verdict {
	return k.each(isPublish, func(n note) string {
		if n.packet.FixedHeader.Retain {
			return n.packet.TopicName + " was published with the retain flag"
		}
		return ""
	})
}

func usesQoS(_ context.Context, k *kit) verdict {
	return k.each(isPublish, func(n note) string {
		s, _ := n.state()
		if qos := n.packet.FixedHeader.Qos; (n.name == protocol.TopicHello || s.Event != "") && qos != 1 {
			return fmt.Sprintf("%s was published with QoS %d: %s", n.name, qos, n.packet.Payload)
		}
		return ""
	})
}

func helloFirst(_ context.Context, k *kit) verdict {
	began := map[*wire]bool{}
	return k.each(isPublish, func(n note) string {
		isHello, before := n.name == protocol.TopicHello, began[n.wire]
		began[n.wire] = true
		switch {
		case isHello && before:
			return "a hello that was not the first message of its connection"
		case !isHello && !before:
			return n.packet.TopicName + " came before hello"
		}
		return ""
	})
}

// decoders read the messages that a controller publishes.
var decoders = map[string]func([]byte) (session string, err error){
	protocol.TopicHello: func(b []byte) (string, error) {
		m, err := protocol.Decode[protocol.Hello](b)
		return m.Session, err
	},
	protocol.TopicAck: func(b []byte) (string, error) {
		m, err := protocol.Decode[protocol.Ack](b)
		return m.Session, err
	},
	protocol.TopicState: func(b []byte) (string, error) {
		m, err := protocol.Decode[protocol.State](b)
		return m.Session, err
	},
	protocol.TopicTimeRequest: func(b []byte) (string, error) {
		m, err := protocol.Decode[protocol.TimeRequest](b)
		return m.Session, err
	},
	protocol.TopicWill: func(b []byte) (string, error) {
		m, err := protocol.Decode[protocol.Will](b)
		return m.Session, err
	},
}

func isMessage(n note) bool { return isPublish(n) && n.name != "" }

func saysValidly(_ context.Context, k *kit) verdict {
	return k.each(isMessage, func(n note) string {
		if _, err := decoders[n.name](n.packet.Payload); err != nil {
			return fmt.Sprintf("%s %.200q: %s", n.name, n.packet.Payload, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return ""
	})
}

func namesSession(_ context.Context, k *kit) verdict {
	return k.each(isMessage, func(n note) string {
		session, err := decoders[n.name](n.packet.Payload)
		if hello, ok := k.hello(n.wire); ok && err == nil && session != hello.Session {
			return fmt.Sprintf("%s is of the session %s, and the hello was of %s", n.name, session, hello.Session)
		}
		return ""
	})
}

func countsUp(_ context.Context, k *kit) verdict {
	highest := map[*wire]int64{}
	return k.each(isState, func(n note) string {
		s, _ := n.state()
		before := highest[n.wire]
		highest[n.wire] = s.Sequence
		if s.Sequence <= before {
			return fmt.Sprintf("a report of seq %d came after one of seq %d", s.Sequence, before)
		}
		return ""
	})
}

func newNonces(_ context.Context, k *kit) verdict {
	type request struct {
		session string
		nonce   int64
	}
	used := map[request]bool{}
	return k.each(func(n note) bool { return n.isPublish(protocol.TopicTimeRequest) }, func(n note) string {
		m, ok := message[protocol.TimeRequest](n, protocol.TopicTimeRequest)
		r := request{m.Session, m.Nonce}
		if ok && used[r] {
			return fmt.Sprintf("nonce %d was used twice", m.Nonce)
		}
		used[r] = true
		return ""
	})
}

func answersOnce(_ context.Context, k *kit) verdict {
	open := map[string]int{}
	all, _ := k.notes.since(0)
	for _, n := range all {
		if a, ok := n.ack(); ok {
			open[a.ID]--
		}
		if n.kind == commanded {
			open[n.id]++
		}
	}
	return k.each(func(n note) bool { return n.kind == commanded && n.id != "" }, func(n note) string {
		switch left := open[n.id]; {
		case left > 0:
			return fmt.Sprintf("command %s was not answered", n.id)
		case left < 0:
			return fmt.Sprintf("command %s was answered %d times too often", n.id, -left)
		}
		return ""
	})
}

func fitsReasons(_ context.Context, k *kit) verdict {
	return k.each(func(n note) bool { return n.isPublish(protocol.TopicAck) }, func(n note) string {
		a, ok := n.ack()
		if code, listed := reasons[a.Reason]; ok && listed && code != a.Code {
			return fmt.Sprintf("%s came with %d and is %d", a.Reason, a.Code, code)
		}
		return ""
	})
}
