package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"lintel/protocol"
)

func isConnect(n note) bool { return n.is(received, packets.Connect) }

func speaksMQTT311(_ context.Context, k *kit) verdict {
	return k.each(isConnect, func(n note) string {
		if v := n.packet.ProtocolVersion; v != 4 {
			return fmt.Sprintf("CONNECT has protocol level %d, and 3.1.1 is 4", v)
		}
		return ""
	})
}

func cleansSession(_ context.Context, k *kit) verdict {
	return k.each(isConnect, func(n note) string {
		if !n.packet.Connect.Clean {
			return "CONNECT without the flag"
		}
		return ""
	})
}

func keepsAlive(_ context.Context, k *kit) verdict {
	want := int(protocol.KeepAlive / time.Second)
	return k.each(isConnect, func(n note) string {
		if got := int(n.packet.Connect.Keepalive); got != want {
			return fmt.Sprintf("%d s", got)
		}
		return ""
	})
}

func leavesWill(_ context.Context, k *kit) verdict {
	own := protocol.Topic(string(k.cfg.Controller), protocol.TopicWill)
	v := k.each(func(n note) bool { return isConnect(n) && n.packet.Connect.WillFlag }, func(n note) string {
		c := n.packet.Connect
		m, err := protocol.Decode[protocol.Will](c.WillPayload)
		hello, said := k.hello(n.wire)
		switch {
		case c.WillTopic != own:
			return "it is on " + c.WillTopic
		case c.WillQos != 0 || c.WillRetain:
			return fmt.Sprintf("QoS %d, retained %t", c.WillQos, c.WillRetain)
		case err != nil:
			return fmt.Sprintf("%.200q: %v", c.WillPayload, err)
		case said && m.Session != hello.Session:
			return fmt.Sprintf("it is of the session %s, and the hello was of %s", m.Session, hello.Session)
		}
		return ""
	})
	if v.outcome == Skip {
		v.seen = "it leaves none, which is allowed"
	}
	return v
}

func (k *kit) downTopics() []string {
	var topics []string
	for _, name := range protocol.Down {
		topics = append(topics, protocol.Topic(string(k.cfg.Controller), name))
	}
	return topics
}

func staysInTopics(_ context.Context, k *kit) verdict {
	down := k.downTopics()
	return k.each(func(n note) bool { return isPublish(n) || n.is(received, packets.Subscribe) }, func(n note) string {
		if isPublish(n) && n.name == "" {
			return "published " + n.packet.TopicName
		}
		for _, f := range n.packet.Filters {
			if !slices.Contains(down, f.Filter) {
				return "subscribed to " + f.Filter
			}
		}
		return ""
	})
}

// subscription is one filter of one SUBSCRIBE.
type subscription struct {
	wire *wire
	id   uint16
}

func subscribesFirst(_ context.Context, k *kit) verdict {
	asked := map[subscription]packets.Subscriptions{}
	inPlace := map[*wire][]string{}
	all, _ := k.notes.since(0)
	for _, n := range all {
		key := subscription{n.wire, n.packet.PacketID}
		switch {
		case n.is(received, packets.Subscribe):
			asked[key] = n.packet.Filters
		case n.is(written, packets.Suback):
			for i, f := range asked[key] {
				if i < len(n.packet.ReasonCodes) && n.packet.ReasonCodes[i] < 0x80 {
					inPlace[n.wire] = append(inPlace[n.wire], f.Filter)
				}
			}
		case n.isPublish(protocol.TopicHello):
			for _, topic := range k.downTopics() {
				if !slices.Contains(inPlace[n.wire], topic) {
					return failed("hello came before the SUBACK for %s", topic)
				}
			}
		}
	}
	return k.each(func(n note) bool { return n.isPublish(protocol.TopicHello) }, func(note) string { return "" })
}
