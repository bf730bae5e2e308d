package account

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"lintel"
)

// Store is what the accounts need of the storage. CodeNotFound from it means
// that there is no such thing, that it is over, or that it is somebody else's.
type Store interface {
	AnyPerson(ctx context.Context) (bool, error)
	AddPerson(ctx context.Context, p lintel.Person, passwordHash string) error
	Person(ctx context.Context, id lintel.ID) (lintel.Person, error)
	PersonByEmail(ctx context.Context, email string) (lintel.Person, error)
	PasswordHash(ctx context.Context, person lintel.ID) (string, error)
	ChangePassword(ctx context.Context, person lintel.ID, passwordHash string, keep lintel.ID, now time.Time) error

	AddSession(ctx context.Context, session lintel.Session, hash string) error
	Session(ctx context.Context, hash string, seenSince, now time.Time) (lintel.Session, lintel.Person, error)
	Sessions(ctx context.Context, person lintel.ID, seenSince, now time.Time) ([]lintel.Session, error)
	TouchSession(ctx context.Context, id lintel.ID, now time.Time) error
	RenewSession(ctx context.Context, id lintel.ID, hash string) error
	SignOut(ctx context.Context, person, id lintel.ID) error
	SignOutOthers(ctx context.Context, person, keep lintel.ID) (int64, error)

	AddKnownBrowser(ctx context.Context, person lintel.ID, hash string, expires time.Time) error
	KnownBrowser(ctx context.Context, person lintel.ID, hash string, now time.Time) (bool, error)

	AddPasskey(ctx context.Context, p lintel.Passkey) error
	Passkeys(ctx context.Context, person lintel.ID) ([]lintel.Passkey, error)
	UsePasskey(ctx context.Context, id lintel.ID, credential string, now time.Time) error
	RemovePasskey(ctx context.Context, person, id lintel.ID) error

	SetRecoveryCodes(ctx context.Context, person lintel.ID, hashes []string) error
	UseRecoveryCode(ctx context.Context, person lintel.ID, hash string) error
	RecoveryCodes(ctx context.Context, person lintel.ID) (int, error)

	AddTicket(ctx context.Context, t lintel.Ticket) error
	Ticket(ctx context.Context, hash, kind, holder string, now time.Time) (content string, err error)
	UseTicket(ctx context.Context, hash, kind, holder string, now time.Time) (content string, err error)
	DropTickets(ctx context.Context, kind string) error
}

// Config is what a Service is made with.
type Config struct {
	Origin string           // the public URL, e.g. https://doors.example; its host is the RP ID of passkeys (WebAuthn Level 3 §4)
	Name   string           // of the product, as authenticators show it; "Lintel" when empty
	Now    func() time.Time // the wall clock
	Log    *slog.Logger     // where sign-ins and refusals go; no secret does, and nothing that a stranger typed in
}

// Service is the accounts of one running service. Its limits on attempts hold
// for one Service only, so there must be one. It is safe for concurrent use.
type Service struct {
	store    Store
	now      func() time.Time
	log      *slog.Logger
	limits   *limiter
	hashing  turns                            // argon2 computations, each of 19 MiB
	changing turns                            // a change of a password, from the check of the old one on
	founding turns                            // what depends on there being no account yet
	check    func(hash, password string) bool // CheckPassword
	nobody   string                           // a hash of the current cost, for whoever has none
	relying  *relyingParty                    // nil where passkeys are not possible
	founded  atomic.Bool                      // there is an account
}

// New returns the accounts kept in a store. An Origin that is not an http or
// https URL is CodeInvalid.
func New(cfg Config, store Store) (*Service, error) {
	if cfg.Name == "" {
		cfg.Name = "Lintel"
	}
	relying, err := newRelyingParty(cfg)
	if err != nil {
		return nil, err
	}
	return &Service{
		store: store, now: cfg.Now, log: cfg.Log, limits: newLimiter(),
		hashing: make(turns, 2), changing: make(turns, 1), founding: make(turns, 1),
		check: CheckPassword, nobody: nobodysHash(), relying: relying,
	}, nil
}

// stamp is the time as it is stored: to the millisecond, and without the
// steady clock that limits go by.
func (s *Service) stamp() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// turns lets as many do something at once as its capacity.
type turns chan struct{}

// take waits for a turn, and returns what gives it up. The error is the
// context's: there was no turn before it ended.
func (t turns) take(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, internal("waiting for a turn", err)
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, internal("waiting for a turn", ctx.Err())
	}
}
