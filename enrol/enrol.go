// Package enrol is how controllers come to their owners: one-time codes by which
// hardware gets its credentials, and the transfer of a controller from one owner to
// another, which needs the old owner's release.
package enrol

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"lintel"
	"lintel/limit"
	"lintel/secret"
	"lintel/store"
)

// Store is what enrolment keeps on disk. Every method returns a *lintel.Error.
type Store interface {
	// Device finds a controller; CodeNotFound for none.
	Device(ctx context.Context, id lintel.ID) (store.Device, error)
	// ReplaceTicket stores a ticket about a controller in the place of all of its kind and content.
	ReplaceTicket(ctx context.Context, t lintel.Ticket, controller lintel.ID) error
	DropTicketsFor(ctx context.Context, kind, content string) (int64, error)
	// Ticket reads a ticket without using it; CodeNotFound when it was used or is over.
	Ticket(ctx context.Context, hash, kind, holder string, now time.Time) (content string, err error)
	// ClaimController and TransferController use a ticket up, and CodeNotFound is that
	// it was used, is over, or is not good for that controller any more.
	ClaimController(ctx context.Context, t lintel.Ticket, controller, owner lintel.ID, secretHash string, e lintel.ControllerEvent) error
	TransferController(ctx context.Context, t lintel.Ticket, old, owner lintel.ID, c lintel.Controller, secretHash string, doors []lintel.Door) error
	// SetControllerSecret is CodeNotFound for an unknown or revoked controller.
	SetControllerSecret(ctx context.Context, id lintel.ID, secretHash string) error
	AddControllerEvent(ctx context.Context, e lintel.ControllerEvent, within time.Duration) error
}

// Config configures a Service.
type Config struct {
	Now func() time.Time // wall clock
	Log *slog.Logger
}

// Service makes and redeems codes. It is safe for concurrent use.
type Service struct {
	cfg   Config
	store Store

	mu        sync.Mutex     // guards what follows
	byNetwork *limit.Buckets // wrong codes
}

// perNetwork is the limit on wrong codes. There is none for all networks together, which
// would let one stranger keep everybody else from claiming: a code has 52 random bits and
// lives for an hour at most, so that a thousand guesses a second from everywhere hit one
// of a hundred codes with odds below one in ten million.
var perNetwork = limit.Rate{Burst: 10, Each: time.Minute}

// New returns a Service.
func New(cfg Config, s Store) *Service {
	return &Service{cfg: cfg, store: s, byNetwork: limit.New(perNetwork)}
}

// The kinds of tickets.
const (
	claimKind   = "claim"
	releaseKind = "release"
)

// codeLetters is how long codes are: 52 random bits.
const codeLetters = 12

// The lives of codes.
const (
	ClaimFor    = 15 * time.Minute   // as long as it takes to type one in
	MaxClaimFor = time.Hour          // at the most
	ReleaseFor  = 7 * 24 * time.Hour // until a house has changed hands
)

// Code is a one-time code as its maker is shown it, once.
type Code struct {
	Code      string // in groups of four letters
	ExpiresAt time.Time
}

// subject is what a code is about: a controller while it is that owner's.
type subject struct {
	Controller lintel.ID `json:"controller"`
	Owner      lintel.ID `json:"owner"`
}

func (s subject) text() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("enrol: " + err.Error()) // two strings always encode
	}
	return string(text)
}

// own finds a controller that must be an owner's; CodeNotFound otherwise.
func (s *Service) own(ctx context.Context, controller, owner lintel.ID) (store.Device, error) {
	device, err := s.store.Device(ctx, controller)
	if err == nil && (device.OwnerID != owner || device.Revoked) {
		err = &lintel.Error{Code: lintel.CodeNotFound, Message: "this account has no such controller"}
	}
	return device, err
}

// issue makes a code about a controller in the place of any of its kind.
func (s *Service) issue(ctx context.Context, kind string, about subject, life time.Duration) (Code, error) {
	made := Code{Code: secret.NewCode(codeLetters), ExpiresAt: s.cfg.Now().Add(life)}
	err := s.store.ReplaceTicket(ctx, lintel.Ticket{
		Hash: hash(kind, made.Code), Kind: kind, Content: about.text(), ExpiresAt: made.ExpiresAt,
	}, about.Controller)
	if err != nil {
		return Code{}, err
	}
	return made, nil
}

func hash(kind, code string) string { return secret.Hash(kind + " code " + code) }

// find reads what a typed code is about.
func (s *Service) find(ctx context.Context, kind, typed string) (lintel.Ticket, subject, error) {
	code := secret.NormalCode(typed, codeLetters)
	if code == "" {
		return lintel.Ticket{}, subject{}, errCode
	}
	content, err := s.store.Ticket(ctx, hash(kind, code), kind, "", s.cfg.Now())
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return lintel.Ticket{}, subject{}, errCode
	}
	if err != nil {
		return lintel.Ticket{}, subject{}, err
	}
	var about subject
	if err := json.Unmarshal([]byte(content), &about); err != nil {
		return lintel.Ticket{}, subject{}, err
	}
	return lintel.Ticket{Hash: hash(kind, code), Kind: kind, Content: content}, about, nil
}

var errCode = &lintel.Error{Code: lintel.CodeNotFound, Message: "this code is not valid: it was used, is over, or was mistyped; have its owner make another"}

// allow counts an attempt, and refuses it where there were too many wrong ones from the
// network.
func (s *Service) allow(from netip.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, network := s.cfg.Now(), limit.Network(from)
	if left := s.byNetwork.Wait(network, now); left > 0 {
		return &lintel.Error{Code: lintel.CodeTooMany, Message: "too many wrong codes came from this network; try again later", Err: &wait{left}}
	}
	s.byNetwork.Take(network, now)
	return nil
}

// wait is the cause of a CodeTooMany error: when to try again.
type wait struct{ left time.Duration }

func (w *wait) Error() string { return "over the limit for " + w.left.String() }

// RetryAfter returns how long to wait after a CodeTooMany error of Claim, 0 for any other.
func RetryAfter(err error) time.Duration {
	if w, ok := errors.AsType[*wait](err); ok {
		return w.left
	}
	return 0
}

// forgive takes back an attempt that was right.
func (s *Service) forgive(from netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byNetwork.GiveBack(limit.Network(from))
}
