package account

import (
	"context"
	"slices"

	"lintel"
	"lintel/secret"
)

var errCurrent = unauthenticated("the current password is wrong")

// ChangePassword replaces the password of a session's person and ends all that
// was reached with the old one: grants, tokens and all other sessions. A next
// that CheckNewPassword refuses is CodeInvalid. A wrong current is
// CodeUnauthenticated and counts as an attempt to sign in, so that it may be
// CodeTooMany. Whoever signed in with a recovery code, and is Fresh, has
// forgotten the current password and needs none. The session goes on under the
// secret that is returned: a copy of the old one is worth nothing any more.
func (s *Service) ChangePassword(ctx context.Context, b Browser, session lintel.Session, current, next string) (renewed string, err error) {
	p, err := s.store.Person(ctx, session.PersonID)
	if isNotFound(err) {
		return "", errSession
	}
	if err != nil {
		return "", err
	}
	if err := CheckNewPassword(next, p.Email); err != nil {
		return "", err
	}
	known, err := s.knows(ctx, p.ID, b)
	if err != nil {
		return "", err
	}
	if err := s.replacePassword(ctx, b, p, session, current, next); err != nil {
		return "", err
	}
	s.log.InfoContext(ctx, "password changed", "account", p.ID, "source", b.address(), "session", session.ID)
	s.knowAgain(ctx, p.ID, known)
	renewed = secret.New(secret.Session)
	return renewed, s.store.RenewSession(ctx, session.ID, secret.Hash(renewed))
}

// knowAgain remembers the browser that a change was made with, which the change
// has forgotten with all others.
func (s *Service) knowAgain(ctx context.Context, person lintel.ID, known string) {
	if known == "" {
		return
	}
	if err := s.store.AddKnownBrowser(ctx, person, known, s.stamp().Add(knownFor)); err != nil {
		s.log.WarnContext(ctx, "a browser is not known any more", "account", person, "error", err)
	}
}

// replacePassword checks the current password and replaces it. One change at a
// time: what was checked against the old password must not follow a change.
func (s *Service) replacePassword(ctx context.Context, b Browser, p lintel.Person, session lintel.Session, current, next string) error {
	done, err := s.changing.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	live, err := s.Sessions(ctx, p.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(live, func(n lintel.Session) bool { return n.ID == session.ID }) {
		return errSession
	}
	if session.Method != lintel.ByRecovery || !s.Fresh(session) {
		if err := s.checkCurrent(ctx, b, p, current); err != nil {
			return err
		}
	}
	hash, err := s.hash(ctx, next)
	if err != nil {
		return err
	}
	return s.store.ChangePassword(ctx, p.ID, hash, session.ID, s.stamp())
}

// checkCurrent is an attempt with the current password.
func (s *Service) checkCurrent(ctx context.Context, b Browser, p lintel.Person, current string) error {
	a, err := s.attempt(ctx, b, p.Email, lintel.ByPassword)
	if err != nil {
		return err
	}
	_, ok, err := s.passwordIs(ctx, a, current)
	if err == nil && !ok {
		a.refused("wrong current password")
		return errCurrent
	}
	a.giveBack()
	return err
}

// hash is HashPassword in its turn.
func (s *Service) hash(ctx context.Context, password string) (string, error) {
	done, err := s.hashing.take(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return HashPassword(password)
}
