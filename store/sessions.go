package store

import (
	"context"
	"database/sql"
	"time"

	"lintel"
)

// AddSession stores a sign-in under the hash of its secret. A person that is
// unknown, or was disabled meanwhile, is CodeNotFound.
func (s *Store) AddSession(ctx context.Context, n lintel.Session, hash string) error {
	return s.execOne(ctx, "account", `
		INSERT INTO sessions (id, hash, person_id, method, user_agent, address, created_at, last_seen_at, expires_at)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), p.id, CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT),
			CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS BIGINT)
		FROM people p WHERE p.id = $9 AND p.disabled_at IS NULL`,
		string(n.ID), hash, string(n.Method), n.UserAgent, n.Address,
		ms(n.CreatedAt), ms(n.LastSeenAt), ms(n.ExpiresAt), string(n.PersonID))
}

// Session finds a session that is in use at now, was seen after seenSince, and
// whose person is not disabled; CodeNotFound otherwise.
func (s *Store) Session(ctx context.Context, hash string, seenSince, now time.Time) (lintel.Session, lintel.Person, error) {
	var n lintel.Session
	var p lintel.Person
	var created, seen, expires, since int64
	err := s.reads.row(ctx, `
		SELECT n.id, n.person_id, n.method, n.user_agent, n.address, n.created_at, n.last_seen_at, n.expires_at,
			p.id, p.email, p.given_name, p.family_name, p.created_at
		FROM sessions n JOIN people p ON p.id = n.person_id AND p.disabled_at IS NULL
		WHERE n.hash = $1 AND n.expires_at > $2 AND n.last_seen_at > $3`, []any{hash, ms(now), ms(seenSince)},
		&n.ID, &n.PersonID, &n.Method, &n.UserAgent, &n.Address, &created, &seen, &expires,
		&p.ID, &p.Email, &p.GivenName, &p.FamilyName, &since)
	if errNone(err) {
		return n, p, notFound("session")
	}
	if err != nil {
		return n, p, internal("session", err)
	}
	n.CreatedAt, n.LastSeenAt, n.ExpiresAt, p.CreatedAt = at(created), at(seen), at(expires), at(since)
	return n, p, nil
}

// Sessions lists a person's sessions in use, the newest first.
func (s *Store) Sessions(ctx context.Context, person lintel.ID, seenSince, now time.Time) ([]lintel.Session, error) {
	var sessions []lintel.Session
	err := s.reads.each(ctx, `
		SELECT id, person_id, method, user_agent, address, created_at, last_seen_at, expires_at
		FROM sessions WHERE person_id = $1 AND expires_at > $2 AND last_seen_at > $3 ORDER BY created_at DESC, id`,
		[]any{string(person), ms(now), ms(seenSince)},
		func(rows *sql.Rows) error {
			var n lintel.Session
			var created, seen, expires int64
			err := rows.Scan(&n.ID, &n.PersonID, &n.Method, &n.UserAgent, &n.Address, &created, &seen, &expires)
			n.CreatedAt, n.LastSeenAt, n.ExpiresAt = at(created), at(seen), at(expires)
			sessions = append(sessions, n)
			return err
		})
	if err != nil {
		return nil, internal("sessions", err)
	}
	return sessions, nil
}

// TouchSession notes that a session was seen. An ended one is CodeNotFound.
func (s *Store) TouchSession(ctx context.Context, id lintel.ID, now time.Time) error {
	return s.execOne(ctx, "session", `UPDATE sessions SET last_seen_at = $1 WHERE id = $2`, ms(now), string(id))
}

// RenewSession gives a session another secret; the one before is refused from then
// on. An unknown session is CodeNotFound.
func (s *Store) RenewSession(ctx context.Context, id lintel.ID, hash string) error {
	return s.execOne(ctx, "session", `UPDATE sessions SET hash = $1 WHERE id = $2`, hash, string(id))
}

// SignOut ends one of a person's sessions. An unknown one, and somebody
// else's, is CodeNotFound.
func (s *Store) SignOut(ctx context.Context, person, id lintel.ID) error {
	return s.execOne(ctx, "session", `DELETE FROM sessions WHERE id = $1 AND person_id = $2`, string(id), string(person))
}

// SignOutOthers ends all of a person's sessions but one, and returns how many.
func (s *Store) SignOutOthers(ctx context.Context, person, keep lintel.ID) (int64, error) {
	n, err := s.exec(ctx, `DELETE FROM sessions WHERE person_id = $1 AND id <> $2`, string(person), string(keep))
	if err != nil {
		return 0, internal("end sessions", err)
	}
	return n, nil
}

// AddKnownBrowser remembers that a person signed in with a browser, by the hash
// of what that was given.
func (s *Store) AddKnownBrowser(ctx context.Context, person lintel.ID, hash string, expires time.Time) error {
	_, err := s.exec(ctx, `
		INSERT INTO known_browsers (hash, person_id, expires_at) VALUES ($1, $2, $3)`, hash, string(person), ms(expires))
	if err != nil {
		return internal("add known browser", err)
	}
	return nil
}

// KnownBrowser reports whether a person has signed in with a browser before.
func (s *Store) KnownBrowser(ctx context.Context, person lintel.ID, hash string, now time.Time) (bool, error) {
	var n int
	err := s.reads.row(ctx, `
		SELECT COUNT(*) FROM known_browsers WHERE hash = $1 AND person_id = $2 AND expires_at > $3`,
		[]any{hash, string(person), ms(now)}, &n)
	if err != nil {
		return false, internal("known browser", err)
	}
	return n == 1, nil
}
