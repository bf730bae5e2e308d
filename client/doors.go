package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"lintel/api"
)

// State is where a door is asked to be.
type State string

// The states to ask for.
const (
	Opened State = api.V1Open
	Closed State = api.V1Closed
)

// Door is a door as the server last knew it.
type Door struct {
	ID           string // UUID, lower case with dashes
	Name         string // as its owner named it; need not be unique
	Number       int    // from 1, at its controller
	ControllerID string // UUID

	// State is Closed only on fresh evidence, and Opened in every other case:
	// unknown, moving or not heard of for long included.
	State State
	// Value is the full truth: "closed", "opening", "open", "closing", "stopped"
	// or "unknown".
	Value string
	// Source is how Value is known: "sensor", "opener" or "inferred".
	Source string
	// Fresh says that Value is recent enough to say where the door is now.
	Fresh bool
	// Since is when Value began; zero when that is not known.
	Since time.Time
	// ObservedAt is when the door was last heard of; zero for never.
	ObservedAt time.Time
}

// At reports whether the door is seen there now. A door that moves, that was last
// heard of too long ago, or that is closed by inference only, is not.
func (d Door) At(want State) bool {
	if want == Closed {
		return d.State == Closed && d.Value == "closed" && d.Fresh
	}
	return want == Opened && d.Value == "open" && d.Fresh
}

// Doors lists the account's doors, controller by controller, the oldest first. Those of
// controllers that were shut out are left out.
// It needs the scope READ. Errors are an *Error, ErrNoAnswer, or the TokenSource's.
func (c *Client) Doors(ctx context.Context) ([]Door, error) {
	a, err := c.post(ctx, api.V1Sync, struct{}{}, maxList)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, a.failure()
	}
	var list struct {
		Devices *[]api.V1Device `json:"devices"`
	}
	if json.Unmarshal(a.body, &list) != nil || list.Devices == nil {
		return nil, fmt.Errorf("%w: what came is not a list of doors; is something in between?", ErrNoAnswer)
	}
	doors := []Door{}
	for _, device := range *list.Devices {
		if !device.Active {
			continue // shut out for good: its doors are nobody's to move
		}
		for _, door := range device.Doors {
			doors = append(doors, listed(device, door))
		}
	}
	return doors, nil
}

func listed(device api.V1Device, door api.V1Door) Door {
	return Door{
		ID: door.ID, Name: door.Name, Number: door.EntityNumber, ControllerID: device.ID,
		State: State(door.State), Value: door.StateDetail.Value, Source: door.StateDetail.Source, Fresh: door.StateDetail.Fresh,
		Since: moment(door.StateDetail.Since), ObservedAt: moment(door.StateDetail.ObservedAt),
	}
}

func moment(s *string) time.Time {
	if s == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, *s)
	if err != nil {
		return time.Time{} // not known, as if the server had not said it
	}
	return t
}

// Receipt says that a controller took a request. It does not say that the door
// has moved; Await does.
type Receipt struct {
	CommandID string // of the recorded command, a UUID
	Status    int    // always 200
	Reason    string // "already_there", or empty
	Message   string // the server's text, "200"
}

// AlreadyThere reports whether there was nothing to do: the door is there, or on
// its way.
func (r Receipt) AlreadyThere() bool { return r.Reason == "already_there" }

// Open asks for a door to open and returns when its controller has taken the
// request. The id is a UUID with or without dashes; the scope is OPENDOOR. That
// takes up to three times the server's deadline for controllers, so up to 15 s as
// the server comes; let ctx last longer. Open never sends a request twice, but for
// one that the server refused for its token alone (see [Renewer]). Errors are an
// *Error, or of the network or the TokenSource; after one of the network the door may
// move.
func (c *Client) Open(ctx context.Context, id string) (Receipt, error) {
	return c.Move(ctx, id, Opened)
}

// Close asks for a door to close. It is like Open otherwise; the scope is CLOSEDOOR.
func (c *Client) Close(ctx context.Context, id string) (Receipt, error) {
	return c.Move(ctx, id, Closed)
}

// Move asks for a door to be Opened or Closed, as Open and Close do.
func (c *Client) Move(ctx context.Context, id string, want State) (Receipt, error) {
	a, err := c.post(ctx, api.V1Toggle, api.V1ToggleRequest{DoorID: id, DoorState: string(want)}, maxAnswer)
	if err != nil {
		return Receipt{}, err
	}
	if a.status != http.StatusOK {
		return Receipt{}, a.failure()
	}
	e, err := a.envelope()
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{
		CommandID: a.header.Get(api.HeaderCommandID), Status: a.status,
		Reason: a.header.Get(api.HeaderReason), Message: e.Message,
	}, nil
}
