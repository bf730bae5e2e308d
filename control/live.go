package control

import (
	"context"
	"sync"
	"time"

	"lintel"
)

// Reports is what control keeps on disk of what controllers say.
type Reports interface {
	// BeginSession counts a controller's new session; its doors by number. CodeNotFound for an unknown or revoked one.
	BeginSession(ctx context.Context, controller lintel.ID, firmware string, now time.Time) (number int64, doors map[int]lintel.ID, err error)
	// EndSession notes when a controller was last heard.
	EndSession(ctx context.Context, controller lintel.ID, now time.Time) error
	// RecordEvent stores a change and, unless a later report is stored, the state. A repeated event changes nothing.
	RecordEvent(ctx context.Context, controller lintel.ID, e lintel.DoorEvent) error
	// RecordState stores a state unless a later report is stored.
	RecordState(ctx context.Context, door lintel.ID, session, sequence int64, state lintel.DoorState) error
}

// FreshFor is how long a report is evidence of where a door is. Controllers
// report every 30 s, so two may be missed.
const FreshFor = 90 * time.Second

// Session is a controller's live session.
type Session struct {
	Number int64 // the service's count of the controller's sessions, from 1
	Doors  map[int]lintel.ID
}

// Report is what a controller said of one of its doors.
type Report struct {
	Door      lintel.ID
	Session   int64
	Sequence  int64
	State     lintel.DoorState // ObservedAt is set by control
	Event     string           // names a change; empty for a plain report
	Cause     string
	CommandID lintel.ID
	Reason    string // with Event: why the door is not where the command sent it; empty otherwise
}

// live is what is known of the connected controllers and their doors now.
type live struct {
	mu       sync.RWMutex        // guards what follows
	sessions map[lintel.ID]int64 // by controller, while connected
	doors    map[lintel.ID]liveDoor
}

type liveDoor struct {
	controller lintel.ID
	session    int64
	sequence   int64
	state      lintel.DoorState
	heard      time.Time // by the steady clock
}

// SessionBegan records a controller's new session, which replaces any older one.
func (s *Service) SessionBegan(ctx context.Context, controller lintel.ID, firmware string) (Session, error) {
	number, doors, err := s.store.BeginSession(ctx, controller, firmware, s.cfg.Now())
	if err != nil {
		return Session{}, err
	}
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if number > s.live.sessions[controller] {
		s.live.sessions[controller] = number
	}
	return Session{Number: number, Doors: doors}, nil
}

// SessionEnded records that a controller's session is over.
func (s *Service) SessionEnded(ctx context.Context, controller lintel.ID, number int64) {
	s.live.mu.Lock()
	if s.live.sessions[controller] == number {
		delete(s.live.sessions, controller)
	}
	s.live.mu.Unlock()
	if err := s.store.EndSession(ctx, controller, s.cfg.Now()); err != nil {
		s.cfg.Log.Error("the end of a session was not recorded", "controller", controller, "error", err)
	}
}

// Reported takes a controller's report on one of its own doors. It returns once
// a change is on disk; the order of reports is by sequence, not by arrival.
func (s *Service) Reported(ctx context.Context, controller lintel.ID, r Report) error {
	now := s.cfg.Now()
	r.State.ObservedAt = now
	if r.State.Since.After(now) {
		r.State.Since = now // no door has changed in the future
	}
	news := s.live.observe(controller, r, s.cfg.Steady()) // before the disk: nobody may read what is no longer true
	if r.Event != "" {
		return s.store.RecordEvent(ctx, controller, lintel.DoorEvent{
			ID: r.Event, DoorID: r.Door, Session: r.Session, Sequence: r.Sequence, State: r.State,
			Cause: r.Cause, CommandID: r.CommandID, Reason: r.Reason, OccurredAt: r.State.Since, ReceivedAt: now,
		})
	}
	if !news {
		return nil // as before: a repetition needs no disk
	}
	return s.store.RecordState(ctx, r.Door, r.Session, r.Sequence, r.State)
}

// observe takes a report into account unless it is older than what is known,
// and says whether it told something new. In a new session it is a door's first
// plain report that says where the door is now; changes that come before it are
// of the past, and no evidence.
func (l *live) observe(controller lintel.ID, r Report, heard time.Time) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, ok := l.doors[r.Door]
	if r.Event != "" && before.session != r.Session {
		return false // a change of before this session, told afterwards
	}
	if ok && (r.Session < before.session || r.Session == before.session && r.Sequence <= before.sequence) {
		return false
	}
	l.doors[r.Door] = liveDoor{controller, r.Session, r.Sequence, r.State, heard}
	a, b := before.state, r.State
	return !ok || before.session != r.Session || a.Value != b.Value || a.SensorLost != b.SensorLost
}

// State returns a door's state: what its controller last said in its present
// session, else the stored state. fresh says that it is evidence of where the
// door is now.
func (s *Service) State(door lintel.Door) (state lintel.DoorState, fresh bool) {
	s.live.mu.RLock()
	defer s.live.mu.RUnlock()
	d, ok := s.live.doors[door.ID]
	if !ok || d.controller != door.ControllerID {
		return door.State, false
	}
	connected := s.live.sessions[door.ControllerID] == d.session
	recent := s.cfg.Steady().Sub(d.heard) <= FreshFor
	return d.state, connected && recent && !d.state.SensorLost && d.state.Value != lintel.ValueUnknown
}

// Connected reports whether a controller has a live session.
func (s *Service) Connected(controller lintel.ID) bool {
	s.live.mu.RLock()
	defer s.live.mu.RUnlock()
	return s.live.sessions[controller] != 0
}
