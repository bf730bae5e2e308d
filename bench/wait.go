package main

import (
	"context"
	"fmt"
	"time"
)

// until asks done every so often, until it says true or limit has passed.
func until(ctx context.Context, every, limit time.Duration, what string, done func() (bool, error)) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		select {
		case <-ticks.C:
		case <-late.C:
			return fmt.Errorf("waited %s for %s", limit, what)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause lets d pass.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
