package bridge

import (
	"lintel/driver"
	"lintel/upstream"
)

// Upstream is the Bridge for devices behind the owner's own broker.
func (b *Bridge) Upstream() upstream.Handler { return atOwners{b} }

// atOwners implements upstream.Handler.
type atOwners struct{ bridge *Bridge }

// Connected implements upstream.Handler. Whether the device takes commands is found out
// with the first.
func (a atOwners) Connected(c *upstream.Connection, d upstream.Device) {
	a.bridge.begin(a.bridge.add(c, d.Driver, d.Settings))
}

// Received implements upstream.Handler.
func (a atOwners) Received(c *upstream.Connection, topic string, payload []byte) {
	if u := a.bridge.unit(c); u != nil {
		u.hear(driver.Message{Topic: topic, Payload: payload})
	}
}

// Disconnected implements upstream.Handler.
func (a atOwners) Disconnected(c *upstream.Connection) { a.bridge.remove(c) }
