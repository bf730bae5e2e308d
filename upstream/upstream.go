// Package upstream is a client at an MQTT broker that the owner already runs, and of
// the devices that stay there. It finds out which of them are there, and says so as the
// broker of Lintel's own endpoint does of connections.
//
// A device is there from the first live message that it publishes after the
// subscription, until its will, the end of the connection to the broker, its
// revocation, or that the bridge lets it expire for its silence. What the broker kept is
// no evidence of anything.
package upstream

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"log/slog"
	mathrand "math/rand/v2"
	"time"

	"lintel"
	"lintel/driver"
)

// Device is one device behind the broker, as it is enrolled.
type Device struct {
	ID       lintel.ID
	Driver   driver.Driver
	Settings driver.Settings
}

// Devices knows what is enrolled.
type Devices interface {
	// Upstream lists the devices behind the owner's broker that are not revoked.
	Upstream(ctx context.Context) ([]Device, error)
}

// Handler is told which devices are there. The calls come one after another; those of
// one connection Connected first and Disconnected last.
type Handler interface {
	Connected(c *Connection, d Device)
	Received(c *Connection, topic string, payload []byte)
	Disconnected(c *Connection)
}

// Config says which broker, and as whom.
type Config struct {
	Address  string      // host:port
	TLS      *tls.Config // nil for plain TCP
	Username string      // empty for none
	Password string

	Now func() time.Time // a clock that never steps
	Log *slog.Logger
}

// Client keeps one connection to the broker.
type Client struct {
	cfg     Config
	devices Devices
	handler Handler
	id      string // the MQTT client id
}

// New returns a Client that does nothing until Run.
func New(cfg Config, devices Devices, handler Handler) *Client {
	return &Client{cfg: cfg, devices: devices, handler: handler, id: "lintel-" + rand.Text()[:10]}
}

// The pauses between two attempts to connect double from the first to the last.
const (
	minDelay = 250 * time.Millisecond
	maxDelay = 15 * time.Second
)

// Run connects, and connects again whenever the connection ends, until ctx ends. All
// devices have been disconnected when it returns. A broker that cannot be reached is
// said once, and again when the reason changes.
func (c *Client) Run(ctx context.Context) {
	delay, said := minDelay, ""
	for ctx.Err() == nil {
		s, err := c.connect(ctx)
		switch {
		case ctx.Err() != nil && err != nil:
			return
		case err != nil:
			if err.message != said {
				c.cfg.Log.Warn("the upstream broker cannot be used; trying again", "broker", c.cfg.Address, "error", err)
			}
			said = err.message
		default:
			c.cfg.Log.Info("connected to the upstream broker", "broker", c.cfg.Address)
			began := c.cfg.Now()
			s.run(ctx)
			if ctx.Err() == nil {
				c.cfg.Log.Warn("the connection to the upstream broker has ended", "broker", c.cfg.Address)
			}
			if said = ""; c.cfg.Now().Sub(began) >= maxDelay {
				delay = minDelay
			}
		}
		pause(ctx, delay/2+mathrand.N(delay))
		delay = min(2*delay, maxDelay)
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
