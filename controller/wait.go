package controller

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// jitter returns between half of d and one and a half times d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}

// beats reports whether somebody wants to know that the loop is alive.
func (c *Controller) beats() bool { return c.cfg.Beat != nil && c.cfg.BeatEvery > 0 }

func (c *Controller) beat() {
	if now := c.cfg.Now(); c.beats() && !now.Before(c.beatAt) {
		c.beatAt = now.Add(c.cfg.BeatEvery)
		c.cfg.Beat()
	}
}
