// Package control is the only way a door moves: authorise, record, send,
// settle. Everything that can ask for a movement goes through Service.Move.
package control

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"lintel"
	"lintel/access"
)

// Store is what control keeps on disk. Every method returns a *lintel.Error.
type Store interface {
	// Authority reads what decides whether a token may move a door; nil for what does not exist.
	Authority(ctx context.Context, tokenHash string, door lintel.ID) (*access.Subject, *access.Target, error)
	// RecordCommand stores a command as sent if the token still allows it; false if not.
	RecordCommand(ctx context.Context, c lintel.Command, tokenHash string) (bool, error)
	// SettleCommand stores a command's outcome, once.
	SettleCommand(ctx context.Context, id lintel.ID, o lintel.Outcome) error
	// SettleLate notes an answer after the deadline, once, from the command's own controller.
	SettleLate(ctx context.Context, id, controller lintel.ID, late lintel.LateAnswer) error
	Reports
}

// Link reaches controllers that are connected now.
type Link interface {
	// Send hands an order to the controller's live session at once or fails with
	// ErrOffline or ErrNoDoor. It never queues and never repeats.
	Send(o Order) error
}

// Order is a command on its way to a controller.
type Order struct {
	CommandID  lintel.ID
	Controller lintel.ID
	DoorNumber int
	Action     lintel.Action
	TTL        time.Duration // the controller must not act when more than this has passed
}

// Errors of Link.Send.
var (
	ErrOffline = &lintel.Error{Code: lintel.CodeNotFound, Message: "the controller is not connected"}
	ErrNoDoor  = &lintel.Error{Code: lintel.CodeNotFound, Message: "the controller does not serve this door"}
)

// Config configures a Service.
type Config struct {
	Deadline time.Duration    // how long a controller has to answer; at least 100 ms
	Now      func() time.Time // wall clock
	Log      *slog.Logger
}

// Service moves doors and knows their states. It is safe for concurrent use.
type Service struct {
	cfg     Config
	store   Store
	link    Link
	turns   turns
	pending pending
	live    live
	moving  sync.WaitGroup
}

// New returns a Service.
func New(cfg Config, store Store, link Link) *Service {
	return &Service{cfg: cfg, store: store, link: link,
		turns:   turns{doors: map[lintel.ID]*turn{}},
		pending: pending{waits: map[lintel.ID]*waiting{}},
		live:    live{sessions: map[lintel.ID]int64{}, doors: map[lintel.ID]liveDoor{}},
	}
}

// Request asks for a movement on behalf of the bearer of a token.
type Request struct {
	TokenHash string
	Door      lintel.ID
	Action    lintel.Action
}

// Receipt says what became of a request that was recorded.
type Receipt struct {
	CommandID    lintel.ID
	HardwareName string
	Outcome      lintel.Outcome
}

// Move decides, records, sends and settles one request. Requests for one door
// take turns. Once the command is recorded, ctx no longer matters: the command
// may have been sent, and its outcome must be kept. A nil error means that the
// outcome in the receipt is on disk.
//
// Errors: CodeUnauthenticated, CodeForbidden, CodeNotFound (the door does not
// exist or is not the bearer's), CodeTooMany, CodeInternal, or ctx's.
func (s *Service) Move(ctx context.Context, r Request) (Receipt, error) {
	s.moving.Add(1)
	defer s.moving.Done()
	target, err := s.authorise(ctx, r)
	if err != nil {
		return Receipt{}, err
	}
	release, err := s.turns.take(ctx, r.Door, s.turnTimeout())
	if err != nil {
		return Receipt{}, err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return Receipt{}, err // the caller left while it waited; nothing was recorded
	}
	return s.carryOut(context.WithoutCancel(ctx), r, target)
}

// storeTimeout bounds one use of the store, so that a stuck disk ends a request
// instead of holding its door for ever.
const storeTimeout = 10 * time.Second

// carryOut records, sends and settles a request whose turn it is.
func (s *Service) carryOut(ctx context.Context, r Request, target *access.Target) (Receipt, error) {
	now := s.cfg.Now()
	command := lintel.Command{
		ID: lintel.NewID(), DoorID: r.Door, Action: r.Action, RequestedAt: now, Deadline: now.Add(s.cfg.Deadline),
	}
	if err := s.record(ctx, command, r); err != nil {
		return Receipt{}, err
	}
	defer s.pending.forget(command.ID)
	outcome := s.send(command.ID, target, r.Action)
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := s.store.SettleCommand(ctx, command.ID, outcome); err != nil {
		return Receipt{}, err
	}
	return Receipt{CommandID: command.ID, HardwareName: target.HardwareName, Outcome: outcome}, nil
}

// record puts the command on disk if it is still allowed, and else says why not.
func (s *Service) record(ctx context.Context, command lintel.Command, r Request) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	recorded, err := s.store.RecordCommand(ctx, command, r.TokenHash)
	if err != nil || recorded {
		return err
	}
	if _, err := s.authorise(ctx, r); err != nil {
		return err // something was revoked since the request was first allowed
	}
	return &lintel.Error{Code: lintel.CodeTooMany, Message: "access to the door is being changed; try again"}
}

// Wait returns when no movement is being asked for any more. The caller has
// stopped new requests before.
func (s *Service) Wait() { s.moving.Wait() }

// turnTimeout is how long a request waits for those before it at the same door.
func (s *Service) turnTimeout() time.Duration { return 2 * s.cfg.Deadline }

func (s *Service) authorise(ctx context.Context, r Request) (*access.Target, error) {
	subject, target, err := s.store.Authority(ctx, r.TokenHash, r.Door)
	if err != nil {
		return nil, err
	}
	return target, access.Move(subject, target, r.Action, s.cfg.Now())
}

// send hands the command to its controller and waits for the answer.
func (s *Service) send(id lintel.ID, target *access.Target, action lintel.Action) lintel.Outcome {
	answer := s.pending.expect(id, target.ControllerID)
	err := s.link.Send(Order{
		CommandID: id, Controller: target.ControllerID, DoorNumber: target.DoorNumber, Action: action, TTL: s.cfg.Deadline,
	})
	switch err {
	case nil:
	case ErrNoDoor:
		return s.settled(lintel.StatusRefused, codeUnsupported, "no_such_door")
	default:
		return s.settled(lintel.StatusUnreachable, 0, "offline")
	}
	timer := time.NewTimer(s.cfg.Deadline)
	defer timer.Stop()
	select {
	case a := <-answer:
		return s.answered(a)
	case <-timer.C:
	}
	if s.pending.giveUp(id) {
		return s.settled(lintel.StatusUnanswered, 0, "deadline")
	}
	return s.answered(<-answer) // it came at the last moment
}

// The codes of the interface's table that control itself must know.
const (
	codeTaken       = 200
	codeUnsupported = 501
)

func (s *Service) answered(a Answer) lintel.Outcome {
	if a.Code == codeTaken {
		return s.settled(lintel.StatusTaken, a.Code, a.Reason)
	}
	return s.settled(lintel.StatusRefused, a.Code, a.Reason)
}

func (s *Service) settled(status lintel.Status, code int, reason string) lintel.Outcome {
	return lintel.Outcome{Status: status, Code: code, Reason: reason, SettledAt: s.cfg.Now()}
}
