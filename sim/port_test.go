package sim

import (
	"context"
	"sync"
	"testing"
	"time"

	"lintel/controller"
	"lintel/door"
	"lintel/hardwaretest"
)

// world is simulated doors that outlive their hardware.
type world struct {
	places  [3]float64
	running *Hardware
	log     []Actuation // of hardware that has ended
}

func (w *world) Start(t *testing.T) (controller.Hardware, func()) {
	h := NewHardware([]Door{
		{Opener: door.Discrete, Sensors: 2, Travel: time.Second}, {Opener: door.OneButton, Sensors: 1, Travel: time.Second},
		{Opener: door.Monitor, Sensors: 1, Travel: time.Second},
	}, time.Now)
	w.running = h
	for i, position := range w.places {
		h.Put(i+1, position)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	stop := sync.OnceFunc(func() {
		cancel()
		running.Wait()
		w.log, w.running = append(w.log, h.Log()...), nil
	})
	t.Cleanup(stop)
	return h, stop
}

func (w *world) Place(number int, at hardwaretest.Place) {
	position := map[hardwaretest.Place]float64{hardwaretest.Closed: 0, hardwaretest.Between: 0.5, hardwaretest.Open: 1}[at]
	w.places[number-1] = position
	if w.running != nil {
		w.running.Put(number, position)
	}
}

func (w *world) Pulses() []hardwaretest.Pulse {
	log := w.log
	if w.running != nil {
		log = append(log[:len(log):len(log)], w.running.Log()...)
	}
	var pulses []hardwaretest.Pulse
	for _, a := range log {
		pulses = append(pulses, hardwaretest.Pulse{Door: a.Door, Effect: a.Effect, From: a.At, Until: a.At})
	}
	return pulses
}

func (w *world) Active() int { return 0 } // a simulated pulse takes no time

func TestThePortsRules(t *testing.T) {
	hardwaretest.Run(t, func(*testing.T) hardwaretest.World { return &world{} })
}
