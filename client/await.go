package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrNoDoor is the error of Await for a door that is not among the account's.
var ErrNoDoor = errors.New("there is no such door")

// defaultEvery is how often Await looks where it is not told.
const defaultEvery = time.Second

// Await looks every so often, at once at first, until the door is seen where it is
// wanted (see [Door.At]), and returns it as seen then. The id is a UUID with or
// without dashes; an interval of 0 or less is one second. Each time that the
// door's Value or Fresh is another than before, the first time included, Await
// calls seen, which may be nil.
//
// ctx ends the waiting: the error then wraps ctx.Err(), and the Door is as last
// seen. A network that fails for a while does not end it, nor do the statuses 429
// and 5xx; every other error does.
func (c *Client) Await(ctx context.Context, id string, want State, every time.Duration, seen func(Door)) (Door, error) {
	if every <= 0 {
		every = defaultEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last Door
	for {
		now, err := c.door(ctx, id)
		switch {
		case err == nil:
			if seen != nil && (now.Value != last.Value || now.Fresh != last.Fresh) {
				seen(now)
			}
			if last = now; now.At(want) {
				return now, nil
			}
		case ctx.Err() == nil && !passing(err):
			return last, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if err != nil && !errors.Is(err, ctx.Err()) {
				return last, fmt.Errorf("%w; the last try failed: %w", ctx.Err(), err)
			}
			return last, fmt.Errorf("the door was not seen there in time: %w", ctx.Err())
		}
	}
}

// door returns one door of the list.
func (c *Client) door(ctx context.Context, id string) (Door, error) {
	doors, err := c.Doors(ctx)
	if err != nil {
		return Door{}, err
	}
	for _, d := range doors {
		if sameID(d.ID, id) {
			return d, nil
		}
	}
	return Door{}, ErrNoDoor
}

// sameID compares two UUIDs, each with or without dashes, in either letter case.
func sameID(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", ""), strings.ReplaceAll(b, "-", ""))
}

// passing reports whether an error may be gone the next time.
func passing(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
	}
	return errors.Is(err, ErrNoAnswer)
}
