package client_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lintel/client"
)

func TestWhereADoorIsSeen(t *testing.T) {
	for _, row := range []struct {
		door client.Door
		want client.State
		at   bool
	}{
		{client.Door{State: client.Closed, Value: "closed", Fresh: true}, client.Closed, true},
		{client.Door{State: client.Closed, Value: "closed", Fresh: false}, client.Closed, false},
		{client.Door{State: client.Opened, Value: "closed", Fresh: true}, client.Closed, false}, // inferred only
		{client.Door{State: client.Opened, Value: "closing", Fresh: true}, client.Closed, false},
		{client.Door{State: client.Opened, Value: "open", Fresh: true}, client.Opened, true},
		{client.Door{State: client.Opened, Value: "open", Fresh: false}, client.Opened, false},
		{client.Door{State: client.Opened, Value: "opening", Fresh: true}, client.Opened, false},
		{client.Door{State: client.Opened, Value: "unknown", Fresh: false}, client.Opened, false},
		{client.Door{State: client.Opened, Value: "open", Fresh: true}, "ajar", false},
	} {
		if row.door.At(row.want) != row.at {
			t.Errorf("%+v at %s: want %v", row.door, row.want, row.at)
		}
	}
}

// script answers sync with one step after the other, the last one for ever.
func script(t *testing.T, steps ...http.HandlerFunc) *client.Client {
	t.Helper()
	n := 0
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		steps[min(n, len(steps))-1](w, r)
	})
}

func step(state, value string, fresh bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { list(w, state, value, fresh) }
}

func fails(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { envelope(w, status, "no", "", "") }
}

// TestAwaitTellsChanges, looks over what passes, and ends when the door is there.
func TestAwaitTellsChanges(t *testing.T) {
	c := script(t, step("CLOSED", "closed", true), step("CLOSED", "closed", true), fails(500), step("OPEN", "opening", true),
		fails(429), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, step("OPEN", "open", false), step("OPEN", "open", true))
	var seen []string
	door, err := c.Await(t.Context(), strings.ToUpper(strings.ReplaceAll(doorID, "-", "")), client.Opened, time.Millisecond, func(d client.Door) {
		seen = append(seen, d.Value)
	})
	if err != nil || door.Value != "open" || !door.Fresh {
		t.Errorf("got %+v, %v", door, err)
	}
	if want := []string{"closed", "opening", "open", "open"}; !slices.Equal(seen, want) {
		t.Errorf("told %v, want %v", seen, want)
	}
}

func TestAwaitEnds(t *testing.T) {
	t.Run("with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := script(t, step("OPEN", "closing", true))
		door, err := c.Await(ctx, doorID, client.Closed, time.Millisecond, func(client.Door) { cancel() })
		if !errors.Is(err, context.Canceled) || door.Value != "closing" {
			t.Errorf("got %+v, %v", door, err)
		}
	})
	t.Run("with its context, saying what was wrong", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := script(t, fails(503)).Await(ctx, doorID, client.Closed, time.Millisecond, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("when the token is refused", func(t *testing.T) {
		_, err := script(t, step("OPEN", "open", true), fails(401)).Await(t.Context(), doorID, client.Closed, time.Millisecond, nil)
		if e, ok := errors.AsType[*client.Error](err); !ok || !e.TokenRefused() {
			t.Errorf("got %v", err)
		}
	})
	t.Run("when the door is gone", func(t *testing.T) {
		_, err := script(t, step("OPEN", "open", true)).Await(t.Context(), "another", client.Closed, time.Millisecond, nil)
		if !errors.Is(err, client.ErrNoDoor) {
			t.Errorf("got %v", err)
		}
	})
}
