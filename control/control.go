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
	Deadline   time.Time // by the steady clock: the controller must not act after this
}

// Errors of Link.Send.
var (
	ErrOffline = &lintel.Error{Code: lintel.CodeNotFound, Message: "the controller is not connected"}
	ErrNoDoor  = &lintel.Error{Code: lintel.CodeNotFound, Message: "the controller does not serve this door"}
)

// Config configures a Service.
type Config struct {
	Deadline time.Duration    // how long a controller has to answer; at least 100 ms
	Now      func() time.Time // wall clock, for what is recorded
	Steady   func() time.Time // never steps and goes on in suspend, for deadlines and freshness
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

	stopping chan struct{} // closed by Stop
	stop     sync.Once
}

// New returns a Service.
func New(cfg Config, store Store, link Link) *Service {
	return &Service{cfg: cfg, store: store, link: link,
		turns:    turns{doors: map[lintel.ID]*turn{}},
		pending:  pending{waits: map[lintel.ID]*waiting{}},
		stopping: make(chan struct{}),
		live:     live{sessions: map[lintel.ID]int64{}, doors: map[lintel.ID]liveDoor{}},
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
// outcome in the receipt is on disk. With an error the receipt holds what is
// known: the hardware's name, and the command's ID if it was recorded.
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
		return Receipt{HardwareName: target.HardwareName}, err
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

// carryOut records, sends and settles a request whose turn it is. Its deadline
// counts from the beginning: what the disk takes is not given to the controller
// on top.
func (s *Service) carryOut(ctx context.Context, r Request, target *access.Target) (Receipt, error) {
	now, deadline := s.cfg.Now(), s.cfg.Steady().Add(s.cfg.Deadline)
	command := lintel.Command{
		ID: lintel.NewID(), DoorID: r.Door, Action: r.Action, RequestedAt: now, Deadline: now.Add(s.cfg.Deadline),
	}
	if err := s.record(ctx, command, r); err != nil {
		return Receipt{}, err // without a name: the door may just have ceased to be the bearer's
	}
	receipt := Receipt{CommandID: command.ID, HardwareName: target.HardwareName}
	defer s.pending.forget(command.ID)
	receipt.Outcome = s.send(target, Order{
		CommandID: command.ID, Controller: target.ControllerID, DoorNumber: target.DoorNumber, Action: r.Action, Deadline: deadline,
	})
	return receipt, s.settle(ctx, command.ID, receipt.Outcome)
}

// settle puts an outcome on disk. When that fails the caller is told so, and it
// is tried again behind its back until it succeeds: what a controller has
// answered is not forgotten for a full disk.
func (s *Service) settle(ctx context.Context, id lintel.ID, o lintel.Outcome) error {
	err := s.settleOnce(ctx, id, o)
	if err == nil {
		return nil
	}
	s.cfg.Log.Error("an outcome is not on disk yet", "command", id, "status", o.Status, "error", err)
	s.moving.Go(func() {
		for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
			select {
			case <-time.After(wait):
			case <-s.stopping:
				return // the next start settles it as unknown
			}
			if s.settleOnce(ctx, id, o) == nil {
				return
			}
		}
	})
	return err
}

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 30 * time.Second
)

func (s *Service) settleOnce(ctx context.Context, id lintel.ID, o lintel.Outcome) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return s.store.SettleCommand(ctx, id, o)
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

// Stop returns when nothing is under way any more. The caller has stopped new
// requests before.
func (s *Service) Stop() {
	s.stop.Do(func() { close(s.stopping) })
	s.moving.Wait()
}

// turnTimeout is how long a request waits for those before it at the same door.
func (s *Service) turnTimeout() time.Duration { return 2 * s.cfg.Deadline }

func (s *Service) authorise(ctx context.Context, r Request) (*access.Target, error) {
	subject, target, err := s.store.Authority(ctx, r.TokenHash, r.Door)
	if err != nil {
		return nil, err
	}
	return target, access.Move(subject, target, r.Action, s.cfg.Now())
}

// send hands an order to its controller and waits for the answer until the
// order's deadline. Where that has passed already, nothing is sent.
func (s *Service) send(target *access.Target, o Order) lintel.Outcome {
	left := o.Deadline.Sub(s.cfg.Steady())
	if left <= 0 {
		return s.settled(lintel.StatusUnreachable, 0, "too_late_to_send")
	}
	answer := s.pending.expect(o.CommandID, target.ControllerID)
	switch err := s.link.Send(o); err {
	case nil:
	case ErrNoDoor:
		return s.settled(lintel.StatusRefused, codeUnsupported, "no_such_door")
	default:
		return s.settled(lintel.StatusUnreachable, 0, "offline")
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case a := <-answer:
		return s.answered(a)
	case <-timer.C:
	}
	if s.pending.giveUp(o.CommandID) {
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
