package upstream

import (
	"slices"
	"strings"

	"lintel/driver"
)

// message is one message as the broker passed it on.
type message struct {
	topic    string
	payload  []byte
	retained bool // kept by the broker, so of nobody knows when
}

// word is what a message says of whether a device is there.
type word int

const (
	nothing word = iota // not of this device, or no evidence
	speaks              // it is there
	came                // it has just connected to the broker
	left                // its will, or its own farewell
)

// judge says what a message means to a device with these topics. A command to the
// device is not its word, although it may be below the same topic.
func judge(t driver.Topics, m message) word {
	switch {
	case m.retained, !matches(t.Publish, m.topic), matches(t.Subscribe, m.topic):
		return nothing
	case m.topic != t.Presence:
		return speaks
	case string(m.payload) == t.Gone:
		return left
	}
	return came
}

func matches(filters []string, topic string) bool {
	return slices.ContainsFunc(filters, func(filter string) bool {
		prefix, all := strings.CutSuffix(filter, "/#")
		return topic == filter || all && (topic == prefix || strings.HasPrefix(topic, prefix+"/"))
	})
}

// SameDoor reports whether a command to one device would reach the other.
func SameDoor(a, b driver.Topics) bool {
	covers := func(a, b []string) bool {
		return slices.ContainsFunc(b, func(filter string) bool {
			return matches(a, strings.TrimSuffix(filter, "/#"))
		})
	}
	return covers(a.Commands, b.Commands) || covers(b.Commands, a.Commands)
}

// Writes are the filters of what is published for a device: its commands, and what asks
// it where its door is.
func Writes(kind driver.Driver, s driver.Settings) []string {
	filters := slices.Clone(kind.Topics(s).Commands)
	for _, question := range kind.Device(s).Connected() {
		if !matches(filters, question.Topic) {
			filters = append(filters, question.Topic)
		}
	}
	return filters
}
