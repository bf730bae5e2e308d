package upstream

import (
	"context"
	"slices"

	"github.com/eclipse/paho.golang/paho"
)

// apply begins and ends devices as they are enrolled and revoked.
func (s *session) apply(ctx context.Context, list []Device) {
	for id, d := range s.devices {
		if !slices.ContainsFunc(list, func(e Device) bool { return e.ID == id }) {
			s.drop(d)
			delete(s.devices, id)
		}
	}
	var added []*device
	for _, e := range list {
		if s.devices[e.ID] != nil {
			continue
		}
		d := &device{Device: e, topics: e.Driver.Topics(e.Settings)}
		if s.clash(d) {
			continue
		}
		s.devices[e.ID] = d
		added = append(added, d)
	}
	if err := s.subscribe(ctx); err != nil {
		if ctx.Err() == nil && !s.over() {
			s.owner.cfg.Log.Error("cannot subscribe at the upstream broker", "error", err)
		}
		s.reset()
		return
	}
	s.askSilent(added)
}

// clash reports whether a device has its commands from where another one has. Enrolment
// refuses that: two at once can pass it.
func (s *session) clash(d *device) bool {
	for _, other := range s.devices {
		if !SameDoor(d.topics, other.topics) {
			continue
		}
		if !s.clashes[d.ID] {
			s.clashes[d.ID] = true
			s.owner.cfg.Log.Error("two controllers are one device at the upstream broker; the second is left out",
				"controller", d.ID, "other", other.ID)
		}
		return true
	}
	return false
}

// perSubscribe is how many filters go into one packet.
const perSubscribe = 50

// subscribe makes the subscriptions those that the devices need. What the broker kept
// is not asked for, and what it passes on from others is marked as kept or as live.
func (s *session) subscribe(ctx context.Context) error {
	needed := map[string]bool{}
	for _, d := range s.devices {
		for _, filter := range d.topics.Publish {
			needed[filter] = true
		}
	}
	var fresh []paho.SubscribeOptions
	for filter := range needed {
		if !s.filters[filter] {
			fresh = append(fresh, paho.SubscribeOptions{Topic: filter, QoS: 1, NoLocal: true, RetainHandling: neverRetained})
		}
	}
	var stale []string
	for filter := range s.filters {
		if !needed[filter] {
			stale = append(stale, filter)
		}
	}
	s.filters = needed
	for part := range slices.Chunk(fresh, perSubscribe) {
		ack, err := s.client.Subscribe(ctx, &paho.Subscribe{Subscriptions: part})
		if ack == nil {
			return err
		}
		for i, code := range ack.Reasons {
			if code >= 0x80 && i < len(part) {
				s.owner.cfg.Log.Error("the upstream broker refuses a subscription; look at its access rules", "filter", part[i].Topic, "code", code)
			}
		}
	}
	if len(stale) > 0 {
		_, err := s.client.Unsubscribe(ctx, &paho.Unsubscribe{Topics: stale})
		return err
	}
	return nil
}

// neverRetained is the retain handling by which a broker sends nothing that it kept
// (MQTT 5, 3.8.3.1).
const neverRetained = 2

// questionExpiry is how long a question may wait at the broker, in seconds.
const questionExpiry = 5

// askSilent asks devices that are not there where their doors are. The answer is what
// says that they are.
func (s *session) askSilent(devices []*device) {
	for _, d := range devices {
		if d.conn != nil {
			continue
		}
		for _, m := range d.Driver.Device(d.Settings).Connected() {
			if err := s.send(m.Topic, m.Payload); err != nil {
				return // the connection has ended
			}
		}
	}
}

// send publishes without waiting for anybody.
func (s *session) send(topic string, payload []byte) error {
	expiry := uint32(questionExpiry)
	_, err := s.client.Publish(context.Background(), &paho.Publish{
		Topic: topic, Payload: payload, Properties: &paho.PublishProperties{MessageExpiry: &expiry},
	})
	return err
}
