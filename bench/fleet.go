package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const fleetEmail = "fleet@bench.example"

// measureFleet takes the memory of a service with nothing to do, what each idle
// controller adds to it, and how soon all are back when the service is restarted.
func (b *bench) measureFleet(ctx context.Context) (err error) {
	s, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.account(ctx, fleetEmail); err != nil {
		return err
	}
	empty, err := s.settledMemory(ctx)
	if err != nil {
		return err
	}
	if err := s.simulate(ctx, fleetEmail, b.extent.controllers, 1); err != nil {
		return err
	}
	if err := s.sessions(ctx, b.extent.controllers, 1); err != nil {
		return err
	}
	full, err := s.watchedMemory(ctx, b.extent.idle)
	if err != nil {
		return err
	}
	back, err := b.restart(ctx, s)
	if err != nil {
		return err
	}
	b.add(b.fleetFigures(empty, full, back)...)
	return nil
}

func (b *bench) fleetFigures(empty, full float64, back time.Duration) []figure {
	n := b.extent.controllers
	return []figure{
		{Name: "idle memory, no controllers", Value: empty / (1 << 20), Unit: "MiB", Budget: 60, Note: "Idle memory: resident, with an empty database, once it has stayed within 1 % for 3 s."},
		{Name: fmt.Sprintf("memory per idle controller, at %d", n), Value: (full - empty) / float64(n) / (1 << 10), Unit: "KiB", Budget: 32,
			Note: fmt.Sprintf("Per idle controller: the median of the resident memory over %s with all connected, less the idle memory; one door each, which is reported every 30 s.", b.extent.idle)},
		{Name: fmt.Sprintf("all %d controllers back after a restart", n), Value: back.Seconds(), Unit: "s", Budget: 5,
			Note: "Restart: from the signal that ends the service, its end and start included, until each controller has a new session; the budget is for 2,000."},
	}
}

// sessions waits until n controllers have begun their session of the given number.
func (s *service) sessions(ctx context.Context, n, number int) error {
	return until(ctx, 20*time.Millisecond, 60*time.Second, fmt.Sprintf("%d controllers to connect", n), func() (bool, error) {
		connected, err := s.count(ctx, `SELECT count(*) FROM controllers WHERE sessions >= $1`, number)
		return connected >= n, err
	})
}

// restart ends the service, starts it again and waits for its controllers.
func (b *bench) restart(ctx context.Context, s *service) (time.Duration, error) {
	began := time.Now()
	if err := s.stop(); err != nil {
		return 0, err
	}
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	err := s.sessions(ctx, b.extent.controllers, 2)
	return time.Since(began), err
}

// Memory is settled when it has stayed within 1 % for settleSamples samples.
const (
	settleEvery   = 250 * time.Millisecond
	settleSamples = 12
	settleLimit   = 20 * time.Second
)

// settledMemory waits until the service's resident memory no longer changes, or
// for settleLimit, and returns it in bytes.
func (s *service) settledMemory(ctx context.Context) (float64, error) {
	var samples []float64
	began := time.Now()
	err := until(ctx, settleEvery, 2*settleLimit, "the memory to settle", func() (bool, error) {
		m, err := s.memory()
		if err != nil {
			return false, err
		}
		samples = append(samples, m)
		return settled(samples) || time.Since(began) > settleLimit, nil
	})
	if err != nil {
		return 0, err
	}
	return samples[len(samples)-1], nil
}

// watchedMemory returns the median of the service's resident memory over a time,
// in bytes. There is nothing to wait for: controllers that report make it rise,
// and the collector makes it fall.
func (s *service) watchedMemory(ctx context.Context, d time.Duration) (float64, error) {
	var samples []float64
	for began := time.Now(); time.Since(began) < d; {
		if err := pause(ctx, settleEvery); err != nil {
			return 0, err
		}
		m, err := s.memory()
		if err != nil {
			return 0, err
		}
		samples = append(samples, m)
	}
	return median(samples), nil
}

// settled reports whether the last samples are within 1 % of each other.
func settled(samples []float64) bool {
	if len(samples) < settleSamples {
		return false
	}
	last := samples[len(samples)-settleSamples:]
	return slices.Max(last)-slices.Min(last) <= slices.Max(last)/100
}
