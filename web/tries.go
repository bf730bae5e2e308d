package web

import (
	"sync"
	"time"

	"lintel"
	"lintel/limit"
)

// wrongCodes is how often a person may be wrong about a device's code (RFC 8628
// §5.1).
var wrongCodes = limit.Rate{Burst: 10, Each: 30 * time.Second}

// tries counts the wrong tries of people.
type tries struct {
	mu     sync.Mutex // guards people
	people *limit.Buckets
}

func newTries(r limit.Rate) *tries { return &tries{people: limit.New(r)} }

// take counts a try before it is known to be wrong, so that many at once are no
// way around. When there were too many it returns how long to wait.
func (t *tries) take(person lintel.ID, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := t.people.Wait(string(person), now); wait > 0 {
		return wait
	}
	t.people.Take(string(person), now)
	return 0
}

// giveBack takes a try back that was not wrong.
func (t *tries) giveBack(person lintel.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.people.GiveBack(string(person))
}
