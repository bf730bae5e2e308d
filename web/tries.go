package web

import (
	"sync"
	"time"

	"lintel"
)

// How often a person may be wrong about a device's code (RFC 8628 §5.1).
const (
	maxWrongCodes = 10
	wrongCodesFor = 10 * time.Minute
	maxCounted    = 10_000 // people, so that the memory is bounded
)

// tries counts the wrong tries of people in a window of time.
type tries struct {
	most   int
	window time.Duration

	mu     sync.Mutex // guards counts
	counts map[lintel.ID]tried
}

type tried struct {
	times int
	since time.Time
}

func newTries(most int, window time.Duration) *tries {
	return &tries{most: most, window: window, counts: map[lintel.ID]tried{}}
}

// take counts a try before it is known to be wrong, so that many at once are no
// way around. When there were too many it returns how long to wait.
func (t *tries) take(person lintel.ID, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts[person]
	end := c.since.Add(t.window)
	if !now.Before(end) {
		t.forget(now)
		c = tried{since: now}
	}
	if c.times >= t.most {
		return end.Sub(now)
	}
	c.times++
	t.counts[person] = c
	return 0
}

// giveBack takes a try back that was not wrong.
func (t *tries) giveBack(person lintel.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.counts[person]; ok && c.times > 0 {
		c.times--
		t.counts[person] = c
	}
}

// forget makes room: what is over goes, and if that is not enough, any.
func (t *tries) forget(now time.Time) {
	if len(t.counts) < maxCounted {
		return
	}
	for person, c := range t.counts {
		if !now.Before(c.since.Add(t.window)) {
			delete(t.counts, person)
		}
	}
	for person := range t.counts {
		if len(t.counts) < maxCounted {
			return
		}
		delete(t.counts, person)
	}
}
