package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"lintel/api"
)

// target is a door that is toggled from end to end.
type target struct {
	requests [2][]byte // to close it, to open it
	open     int       // 1 where it was last told to go up
}

// turn returns the request that moves the door, or the one that does not.
func (t *target) turn(moves bool) []byte {
	if moves {
		t.open = 1 - t.open
	}
	return t.requests[t.open]
}

// targets lists the doors that a token may move and that are known to be at rest
// and closed now.
func (s *service) targets(token string) ([]*target, error) {
	list, err := s.sync(token)
	if err != nil {
		return nil, err
	}
	var targets []*target
	for _, device := range list.Devices {
		for _, door := range device.Doors {
			if door.State != api.V1Closed || !door.StateDetail.Fresh {
				continue
			}
			t := &target{}
			for i, state := range []string{api.V1Closed, api.V1Open} {
				body := fmt.Appendf(nil, `{"door_id":%q,"door_state":%q}`, door.ID, state)
				t.requests[i] = request(s.http, http.MethodPost, api.V1Toggle, token, "", body)
			}
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// sync asks for the list of doors once.
func (s *service) sync(token string) (list api.V1SyncAnswer, err error) {
	c, err := dial(s.http)
	if err != nil {
		return list, err
	}
	defer c.Close()
	a, err := c.do(request(s.http, http.MethodGet, api.V1Sync, token, "", nil))
	if err != nil {
		return list, err
	}
	if a.status != http.StatusOK {
		return list, fmt.Errorf("sync answered %d", a.status)
	}
	return list, json.Unmarshal(a.body, &list)
}

// load is a number of toggles.
type load struct {
	inFlight int
	count    int
	moves    bool // each door is asked to go where it is not
}

// sample is what came of a load.
type sample struct {
	spread
	count   int
	elapsed time.Duration
	cpu     time.Duration // of the service, the doors' reports included
}

func (s sample) perSecond() float64 { return float64(s.count) / s.elapsed.Seconds() }

// run carries a load out, each of its lanes with doors and a connection of its
// own, and lets everything come to rest.
func (s *service) run(ctx context.Context, targets []*target, l load) (sample, error) {
	before, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	each := l.count / l.inFlight
	times := make([][]time.Duration, l.inFlight)
	errs := make([]error, l.inFlight)
	share := len(targets) / l.inFlight
	var lanes sync.WaitGroup
	began := time.Now()
	for i := range l.inFlight {
		lanes.Go(func() { times[i], errs[i] = s.lane(ctx, targets[i*share:(i+1)*share], each, l.moves) })
	}
	lanes.Wait()
	out := sample{count: each * l.inFlight, elapsed: time.Since(began)}
	if err := errors.Join(errs...); err != nil {
		return sample{}, err
	}
	if err := s.rest(ctx); err != nil {
		return sample{}, err
	}
	after, err := s.cpu()
	out.cpu = after - before
	var all []time.Duration
	for _, t := range times {
		all = append(all, t...)
	}
	out.spread = spreadOf(all)
	return out, err
}

// lane toggles doors in turns, one at a time.
func (s *service) lane(ctx context.Context, targets []*target, count int, moves bool) ([]time.Duration, error) {
	c, err := dial(s.http)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	times := make([]time.Duration, 0, count)
	for i := range count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		wanted := targets[i%len(targets)].turn(moves)
		began := time.Now()
		a, err := c.do(wanted)
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
		if err := taken(a, moves); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// taken checks that a toggle was answered 200, and that the door had to move
// where it was meant to.
func taken(a answer, moves bool) error {
	idle := a.header.Get(api.HeaderReason) == "already_there"
	if a.status != http.StatusOK || idle == moves {
		return fmt.Errorf("a toggle was answered %d, reason %q: %s", a.status, a.header.Get(api.HeaderReason), a.body)
	}
	return nil
}

// rest waits until no door moves any more and the service has stored that.
func (s *service) rest(ctx context.Context) error {
	if err := pause(ctx, 2*travel); err != nil {
		return err
	}
	return until(ctx, 20*time.Millisecond, 20*time.Second, "the doors to come to rest", func() (bool, error) {
		moving, err := s.count(ctx, `SELECT count(*) FROM doors WHERE value NOT IN ('closed', 'open')`)
		return moving == 0, err
	})
}

// verify compares what was answered with what the service has on disk, and with
// what the doors did: every toggle that was answered 200 is there as taken, and
// every one that had to move a door made it begin to.
func (s *service) verify(ctx context.Context, toggles, movements int) error {
	taken, err := s.count(ctx, `SELECT count(*) FROM commands WHERE status = 'taken' AND code = 200`)
	if err != nil {
		return err
	}
	moved, err := s.count(ctx, `SELECT count(DISTINCT command_id) FROM door_events
		WHERE cause = 'command' AND value IN ('opening', 'closing')`)
	if err != nil {
		return err
	}
	if taken != toggles || moved != movements {
		return fmt.Errorf("%d toggles were answered 200 and %d are stored as taken; %d had to move a door and %d did",
			toggles, taken, movements, moved)
	}
	return nil
}
