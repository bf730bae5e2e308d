package control

import (
	"context"
	"sync"
	"time"

	"lintel"
)

// maxWaiting is how many requests may wait for one door. People press a button
// again; a queue longer than this is a program gone wrong.
const maxWaiting = 128

var errBusy = &lintel.Error{Code: lintel.CodeTooMany, Message: "too many requests for this door at once"}

// turns lets one request at a time through to each door, in the order they came.
type turns struct {
	mu    sync.Mutex // guards doors and the counts in it
	doors map[lintel.ID]*turn
}

type turn struct {
	token chan struct{} // holds one when the door is free
	users int           // the one that holds it and those that wait
}

// take waits for the door and returns what gives it back. It fails with
// CodeTooMany when too many wait or the wait is too long, and with ctx's error.
func (t *turns) take(ctx context.Context, door lintel.ID, timeout time.Duration) (release func(), err error) {
	own, err := t.join(door)
	if err != nil {
		return nil, err
	}
	leave := func() { t.leave(door, own) }
	release = func() {
		own.token <- struct{}{}
		leave()
	}
	select {
	case <-own.token:
		return release, nil
	default:
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-own.token:
		return release, nil
	case <-timer.C:
		leave()
		return nil, errBusy
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

func (t *turns) join(door lintel.ID) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own, ok := t.doors[door]
	if !ok {
		own = &turn{token: make(chan struct{}, 1)}
		own.token <- struct{}{}
		t.doors[door] = own
	}
	if own.users > maxWaiting {
		return nil, errBusy
	}
	own.users++
	return own, nil
}

func (t *turns) leave(door lintel.ID, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.users--
	if own.users == 0 {
		delete(t.doors, door)
	}
}
