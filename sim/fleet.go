package sim

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"lintel/controller"
)

// Behaviour is how a simulated controller answers.
type Behaviour string

// The behaviours. Offline controllers are never started; SensorLost and
// Unsupported are properties of the doors; the others are faults between the
// broker and the controller.
const (
	Works       Behaviour = "works"
	Offline     Behaviour = "offline"
	Silent      Behaviour = "silent"
	SensorLost  Behaviour = "sensor_lost"
	AuthError   Behaviour = "auth_error"
	Malformed   Behaviour = "malformed"
	Unsupported Behaviour = "unsupported"
)

// Unit is one simulated controller.
type Unit struct {
	ID        string
	Secret    string
	Behaviour Behaviour
	Doors     []Door
}

// Fleet is a number of simulated controllers at one broker.
type Fleet struct {
	Broker  string // host:port
	TLS     *tls.Config
	Units   []Unit
	Stagger time.Duration // between the starts of two controllers
	Record  io.Writer     // takes a line for each actuation, see Hardware.RecordTo; nil for none
	Now     func() time.Time
	Log     *slog.Logger
}

// Run runs the controllers until ctx ends.
func (f Fleet) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, unit := range f.Units {
		if unit.Behaviour == Offline {
			continue
		}
		running.Go(func() { f.run(ctx, unit) })
		if f.Stagger > 0 {
			select {
			case <-time.After(f.Stagger):
			case <-ctx.Done():
				return
			}
		}
	}
}

func (f Fleet) run(ctx context.Context, unit Unit) {
	hardware := NewHardware(unit.Doors, f.Now)
	if f.Record != nil {
		hardware.RecordTo(f.Record, unit.ID)
	}
	var dialer controller.Dialer = controller.MQTT{Broker: f.Broker, ID: unit.ID, Secret: unit.Secret, TLS: f.TLS}
	if answer, ok := faults[unit.Behaviour]; ok {
		dialer = faultyDialer{dialer, answer}
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { hardware.Run(ctx) })
	controller.New(controller.Config{
		Firmware: fmt.Sprintf("lintel-sim %s", unit.Behaviour),
		Doors:    hardware.Config(), Hardware: hardware, Dialer: dialer,
		Now: f.Now, Log: f.Log.With("controller", unit.ID),
	}).Run(ctx)
}
