package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"lintel/api"
)

const (
	syncEmail       = "sync@bench.example"
	syncControllers = 5
	syncDoors       = 10
)

// measureSync takes the cost of listing ten doors, beside the many of another account.
func (b *bench) measureSync(ctx context.Context, s *service) error {
	token, err := s.account(ctx, syncEmail)
	if err != nil {
		return err
	}
	if err := s.simulate(ctx, syncEmail, syncControllers, syncDoors/syncControllers); err != nil {
		return err
	}
	err = until(ctx, 100*time.Millisecond, 20*time.Second, "ten doors to be known as closed", func() (bool, error) {
		targets, err := s.targets(token)
		return len(targets) == syncDoors, err
	})
	if err != nil {
		return err
	}
	for _, encoding := range []string{"", "gzip"} {
		got, err := s.runSync(ctx, token, encoding, b.extent.syncs)
		if err != nil {
			return err
		}
		b.add(syncFigures(got, encoding)...)
	}
	return nil
}

func syncFigures(got sample, encoding string) []figure {
	name := "sync, 10 doors"
	if encoding != "" {
		name += ", " + encoding
	}
	return []figure{
		{Name: name + ", 1 in flight", Value: got.p50, Tail: got.p99, Unit: "us"},
		{Name: name + ", server CPU", Value: cpuEach(got), Unit: "us", Budget: 200,
			Note: fmt.Sprintf("Sync: HTTP keep-alive, an account of %d connected controllers with %d doors in all, beside the toggled ones.", syncControllers, syncDoors)},
	}
}

func (s *service) runSync(ctx context.Context, token, encoding string, count int) (sample, error) {
	c, err := dial(s.http)
	if err != nil {
		return sample{}, err
	}
	defer c.Close()
	ask := request(s.http, http.MethodGet, api.V1Sync, token, encoding, nil)
	before, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	var times []time.Duration
	for range count {
		began := time.Now()
		a, err := c.do(ask)
		if err != nil {
			return sample{}, err
		}
		times = append(times, time.Since(began))
		if a.status != http.StatusOK || a.header.Get("Content-Encoding") != encoding {
			return sample{}, fmt.Errorf("sync answered %d with encoding %q", a.status, a.header.Get("Content-Encoding"))
		}
		if err := ctx.Err(); err != nil {
			return sample{}, err
		}
	}
	after, err := s.cpu()
	return sample{spread: spreadOf(times), count: count, cpu: after - before}, err
}
