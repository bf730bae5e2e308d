package account

import (
	"context"
	"time"

	"lintel"
	"lintel/secret"
)

const (
	sessionFor = 30 * 24 * time.Hour // whatever is done
	idleFor    = 7 * 24 * time.Hour  // while nothing is done
	touchEvery = time.Minute         // no more than one write for the requests of a minute
	freshFor   = 15 * time.Minute
)

var errSession = unauthenticated("you are not signed in any more; sign in again")

// Session finds who is signed in by the secret of a session cookie, of any
// form. A session ends 30 days after the sign-in, or 7 days after it was last
// seen; then, and when its person is disabled, it is CodeUnauthenticated.
func (s *Service) Session(ctx context.Context, sessionSecret string) (lintel.Session, lintel.Person, error) {
	if !secret.Is(secret.Session, sessionSecret) {
		return lintel.Session{}, lintel.Person{}, errSession
	}
	now := s.stamp()
	session, person, err := s.store.Session(ctx, secret.Hash(sessionSecret), now.Add(-idleFor), now)
	if err == nil && now.Sub(session.LastSeenAt) >= touchEvery {
		session.LastSeenAt = now
		err = s.store.TouchSession(ctx, session.ID, now)
	}
	if isNotFound(err) {
		return lintel.Session{}, lintel.Person{}, errSession
	}
	if err != nil {
		return lintel.Session{}, lintel.Person{}, err
	}
	return session, person, nil
}

// Sessions lists a person's sessions in use, the newest first.
func (s *Service) Sessions(ctx context.Context, person lintel.ID) ([]lintel.Session, error) {
	now := s.stamp()
	return s.store.Sessions(ctx, person, now.Add(-idleFor), now)
}

// EndSession signs one of a person's browsers out. An unknown session, and
// somebody else's, is CodeNotFound.
func (s *Service) EndSession(ctx context.Context, person, id lintel.ID) error {
	if err := s.store.SignOut(ctx, person, id); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "signed out", "account", person, "session", id)
	return nil
}

// EndOtherSessions signs a person's other browsers out, and returns how many.
func (s *Service) EndOtherSessions(ctx context.Context, session lintel.Session) (int64, error) {
	n, err := s.store.SignOutOthers(ctx, session.PersonID, session.ID)
	if err == nil {
		s.log.InfoContext(ctx, "signed out elsewhere", "account", session.PersonID, "sessions", n)
	}
	return n, err
}

// Fresh reports whether the person signed in at most 15 minutes ago. Whoever
// finds a browser signed in must not be able to add another way in: passkeys and
// recovery codes need a fresh session (OWASP Authentication Cheat Sheet,
// "Require Re-authentication for Sensitive Features").
func (s *Service) Fresh(session lintel.Session) bool {
	age := s.stamp().Sub(session.CreatedAt)
	return age >= 0 && age <= freshFor // a clock that stepped back makes nothing fresh
}
