package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"lintel"
)

// AddPerson creates an account. passwordHash may be empty: then no password
// signs in. A taken e-mail address is CodeConflict.
func (s *Store) AddPerson(ctx context.Context, p lintel.Person, passwordHash string) error {
	_, err := s.exec(ctx, `
		INSERT INTO people (id, email, given_name, family_name, password_hash, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		string(p.ID), strings.ToLower(p.Email), p.GivenName, p.FamilyName, passwordHash, ms(p.CreatedAt))
	if s.engine.IsUnique(err) {
		return &lintel.Error{Code: lintel.CodeConflict, Message: fmt.Sprintf("an account for %s exists already", p.Email)}
	}
	if err != nil {
		return internal("add person", err)
	}
	return nil
}

// SetPassword replaces a person's password hash. An unknown person is CodeNotFound.
func (s *Store) SetPassword(ctx context.Context, person lintel.ID, passwordHash string) error {
	return s.execOne(ctx, "account", `UPDATE people SET password_hash = $1 WHERE id = $2`, passwordHash, string(person))
}

// PersonByEmail finds an account; CodeNotFound when there is none.
func (s *Store) PersonByEmail(ctx context.Context, email string) (lintel.Person, error) {
	people, err := s.people(ctx, `WHERE email = $1`, strings.ToLower(email))
	if err != nil {
		return lintel.Person{}, err
	}
	if len(people) == 0 {
		return lintel.Person{}, notFound("account " + email)
	}
	return people[0], nil
}

// People lists all accounts by e-mail address.
func (s *Store) People(ctx context.Context) ([]lintel.Person, error) {
	return s.people(ctx, `ORDER BY email`)
}

func (s *Store) people(ctx context.Context, tail string, args ...any) ([]lintel.Person, error) {
	var people []lintel.Person
	err := s.reads.each(ctx, `SELECT id, email, given_name, family_name, created_at, disabled_at FROM people `+tail, args,
		func(rows *sql.Rows) error {
			var p lintel.Person
			var created int64
			var disabled sql.NullInt64
			err := rows.Scan(&p.ID, &p.Email, &p.GivenName, &p.FamilyName, &created, &disabled)
			p.CreatedAt, p.DisabledAt = at(created), nullAt(disabled)
			people = append(people, p)
			return err
		})
	if err != nil {
		return nil, internal("people", err)
	}
	return people, nil
}

// Token is an access token as stored: its hash, never itself.
type Token struct {
	ID        lintel.ID
	Hash      string
	PersonID  lintel.ID
	Scopes    lintel.Scope
	Label     string // for people, to tell tokens apart
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time // zero while in use
}

// AddToken stores a token.
func (s *Store) AddToken(ctx context.Context, t Token) error {
	_, err := s.exec(ctx, `
		INSERT INTO access_tokens (id, hash, person_id, scopes, label, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		string(t.ID), t.Hash, string(t.PersonID), int64(t.Scopes), t.Label, ms(t.CreatedAt), ms(t.ExpiresAt))
	if err != nil {
		return internal("add token", err)
	}
	return nil
}

// Tokens lists a person's tokens that an administrator made, newest first. What
// apps were given is in Grants.
func (s *Store) Tokens(ctx context.Context, person lintel.ID) ([]Token, error) {
	var tokens []Token
	err := s.reads.each(ctx, `
		SELECT id, hash, person_id, scopes, label, created_at, expires_at, revoked_at
		FROM access_tokens WHERE person_id = $1 AND grant_id IS NULL ORDER BY created_at DESC, id`, []any{string(person)},
		func(rows *sql.Rows) error {
			var t Token
			var created, expires int64
			var revoked sql.NullInt64
			err := rows.Scan(&t.ID, &t.Hash, &t.PersonID, &t.Scopes, &t.Label, &created, &expires, &revoked)
			t.CreatedAt, t.ExpiresAt, t.RevokedAt = at(created), at(expires), nullAt(revoked)
			tokens = append(tokens, t)
			return err
		})
	if err != nil {
		return nil, internal("tokens", err)
	}
	return tokens, nil
}

// RevokeToken ends the token with the ID or, where id is empty, with the hash.
// It is no error to revoke one again; an unknown one is CodeNotFound.
func (s *Store) RevokeToken(ctx context.Context, id lintel.ID, hash string, now time.Time) error {
	return s.execOne(ctx, "token", `
		UPDATE access_tokens SET revoked_at = COALESCE(revoked_at, $1)
		WHERE id = $2 OR hash = $3`, ms(now), string(id), hash)
}

// EndToken is RevokeToken by the person whose it is. Somebody else's is CodeNotFound.
func (s *Store) EndToken(ctx context.Context, person, id lintel.ID, now time.Time) error {
	return s.execOne(ctx, "token", `
		UPDATE access_tokens SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 AND person_id = $3`,
		ms(now), string(id), string(person))
}

// errNone reports whether err means that a row does not exist.
func errNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }
