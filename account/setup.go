package account

import (
	"context"
	"time"

	"lintel"
	"lintel/secret"
)

const (
	setupKind = "setup"
	setupFor  = 24 * time.Hour
)

var (
	errSetupOver = unauthenticated("this set-up link was used, is too old, or has been replaced by a newer one; take the newest")
	errSetupDone = &lintel.Error{Code: lintel.CodeConflict, Message: "this service has an account already; sign in"}
)

// NeedsSetup reports whether there is no account yet. Once there was one it is
// false for good, without asking the store again.
func (s *Service) NeedsSetup(ctx context.Context) (bool, error) {
	if s.founded.Load() {
		return false, nil
	}
	founded, err := s.store.AnyPerson(ctx)
	if err != nil {
		return false, err
	}
	if founded {
		s.founded.Store(true)
	}
	return !founded, nil
}

// NewSetupTicket returns a secret that SetUp takes, once, for 24 hours, and ends
// the ones from before. It goes where only the operator sees it. CodeConflict
// when there is an account.
func (s *Service) NewSetupTicket(ctx context.Context) (string, error) {
	done, err := s.founding.take(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	if err := s.mustNeedSetup(ctx); err != nil {
		return "", err
	}
	if err := s.store.DropTickets(ctx, setupKind); err != nil {
		return "", err
	}
	ticket := secret.New(secret.Ticket)
	return ticket, s.store.AddTicket(ctx, lintel.Ticket{
		Hash: secret.Hash(ticket), Kind: setupKind, ExpiresAt: s.stamp().Add(setupFor),
	})
}

func (s *Service) mustNeedSetup(ctx context.Context) error {
	needs, err := s.NeedsSetup(ctx)
	if err == nil && !needs {
		return errSetupDone
	}
	return err
}

// SetUp creates the first account and signs it in. A ticket that is not good is
// CodeUnauthenticated, input that NewPerson refuses is CodeInvalid and leaves the
// ticket good, and CodeConflict means that there is an account. Of any number of
// callers one gets an account.
func (s *Service) SetUp(ctx context.Context, b Browser, ticket, email, given, family, password string) (SignedIn, error) {
	done, err := s.founding.take(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	defer done()
	if err := s.mustNeedSetup(ctx); err != nil {
		return SignedIn{}, err
	}
	hash := secret.Hash(ticket)
	if _, err := s.store.Ticket(ctx, hash, setupKind, "", s.stamp()); err != nil {
		return SignedIn{}, ticketError(err, errSetupOver)
	}
	p, passwordHash, err := s.newPerson(ctx, email, given, family, password)
	if err != nil {
		return SignedIn{}, err
	}
	if _, err := s.store.UseTicket(ctx, hash, setupKind, "", s.stamp()); err != nil {
		return SignedIn{}, ticketError(err, errSetupOver)
	}
	if err := s.store.AddPerson(ctx, p, passwordHash); err != nil {
		return SignedIn{}, err
	}
	s.founded.Store(true)
	s.log.InfoContext(ctx, "the first account was made", "account", p.ID, "source", b.address())
	return s.open(ctx, b, p, lintel.BySetup, passwordHash)
}

// newPerson is NewPerson in its turn among what hashes.
func (s *Service) newPerson(ctx context.Context, email, given, family, password string) (lintel.Person, string, error) {
	done, err := s.hashing.take(ctx)
	if err != nil {
		return lintel.Person{}, "", err
	}
	defer done()
	return NewPerson(email, given, family, password, s.stamp())
}

// ticketError is over where the store says that there is no such ticket.
func ticketError(err, over error) error {
	if isNotFound(err) {
		return over
	}
	return err
}
