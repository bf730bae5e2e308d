package store

import (
	"context"
	"database/sql"
	"time"

	"lintel"
)

// errGone undoes a write whose condition no longer held.
var errGone = &lintel.Error{Code: lintel.CodeNotFound, Message: "not found"}

// AddCode stores a person's consent and the code for it, unless the person or
// the client has been disabled: then CodeNotFound.
func (s *Store) AddCode(ctx context.Context, g lintel.Grant, c lintel.AuthorizationCode) error {
	var added bool
	err := s.engine.Write(ctx, func(tx Tx) (err error) {
		if added, err = addGrant(ctx, tx, g); err != nil || !added {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO authorization_codes (hash, grant_id, redirect_uri, code_challenge, expires_at)
			VALUES ($1, $2, $3, $4, $5)`, c.Hash, string(g.ID), c.RedirectURI, c.CodeChallenge, ms(c.ExpiresAt))
		return err
	})
	return one("person or client", added, err)
}

// addGrant takes the rows of the person and the client first: whoever disables
// one of them finds the grant, or has the grant refused.
func addGrant(ctx context.Context, tx Tx, g lintel.Grant) (bool, error) {
	n, err := changed(tx.ExecContext(ctx, `UPDATE people SET email = email WHERE id = $1 AND disabled_at IS NULL`, string(g.PersonID)))
	if err != nil || n == 0 {
		return false, err
	}
	n, err = changed(tx.ExecContext(ctx, `UPDATE clients SET name = name WHERE id = $1 AND disabled_at IS NULL`, g.ClientID))
	if err != nil || n == 0 {
		return false, err
	}
	n, err = changed(tx.ExecContext(ctx, `
		INSERT INTO grants (id, person_id, client_id, scopes, created_at, expires_at, last_used_at)
		SELECT CAST($1 AS TEXT), p.id, c.id, CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($3 AS BIGINT)
		FROM people p, clients c
		WHERE p.id = $5 AND p.disabled_at IS NULL AND c.id = $6 AND c.disabled_at IS NULL`,
		string(g.ID), int64(g.Scopes), ms(g.CreatedAt), ms(g.ExpiresAt), string(g.PersonID), g.ClientID))
	return n == 1, err
}

// Code finds an authorization code and its grant; CodeNotFound when there is none.
func (s *Store) Code(ctx context.Context, hash string) (lintel.AuthorizationCode, lintel.Grant, error) {
	var c lintel.AuthorizationCode
	var g grantRow
	var expires int64
	var used sql.NullInt64
	err := s.reads.row(ctx, `
		SELECT o.hash, o.redirect_uri, o.code_challenge, o.expires_at, o.used_at,
			g.id, g.person_id, g.client_id, g.scopes, g.created_at, g.expires_at, g.last_used_at, g.revoked_at
		FROM authorization_codes o JOIN grants g ON g.id = o.grant_id WHERE o.hash = $1`, []any{hash},
		append([]any{&c.Hash, &c.RedirectURI, &c.CodeChallenge, &expires, &used}, g.fields()...)...)
	if errNone(err) {
		return c, lintel.Grant{}, notFound("code")
	}
	if err != nil {
		return c, lintel.Grant{}, internal("code", err)
	}
	c.ExpiresAt, c.UsedAt = at(expires), nullAt(used)
	return c, g.grant(), nil
}

// RefreshToken finds a refresh token and its grant; CodeNotFound when there is none.
func (s *Store) RefreshToken(ctx context.Context, hash string) (lintel.RefreshToken, lintel.Grant, error) {
	var r lintel.RefreshToken
	var g grantRow
	var expires int64
	var spent sql.NullInt64
	err := s.reads.row(ctx, `
		SELECT r.hash, r.expires_at, r.spent_at,
			g.id, g.person_id, g.client_id, g.scopes, g.created_at, g.expires_at, g.last_used_at, g.revoked_at
		FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id WHERE r.hash = $1`, []any{hash},
		append([]any{&r.Hash, &expires, &spent}, g.fields()...)...)
	if errNone(err) {
		return r, lintel.Grant{}, notFound("refresh token")
	}
	if err != nil {
		return r, lintel.Grant{}, internal("refresh token", err)
	}
	r.ExpiresAt, r.SpentAt = at(expires), nullAt(spent)
	return r, g.grant(), nil
}

// grantRow is where a grant is read to.
type grantRow struct {
	g                          lintel.Grant
	created, expires, lastUsed int64
	revoked                    sql.NullInt64
}

func (r *grantRow) fields() []any {
	return []any{&r.g.ID, &r.g.PersonID, &r.g.ClientID, &r.g.Scopes, &r.created, &r.expires, &r.lastUsed, &r.revoked}
}

func (r *grantRow) grant() lintel.Grant {
	g := r.g
	g.CreatedAt, g.ExpiresAt, g.LastUsedAt, g.RevokedAt = at(r.created), at(r.expires), at(r.lastUsed), nullAt(r.revoked)
	return g
}

// GrantListed is a grant as its person sees it.
type GrantListed struct {
	lintel.Grant
	ClientName string
}

// Grants lists a person's grants that tokens may still come of, the newest first.
func (s *Store) Grants(ctx context.Context, person lintel.ID, now time.Time) ([]GrantListed, error) {
	var grants []GrantListed
	err := s.reads.each(ctx, `
		SELECT c.name, g.id, g.person_id, g.client_id, g.scopes, g.created_at, g.expires_at, g.last_used_at, g.revoked_at
		FROM grants g JOIN clients c ON c.id = g.client_id
		WHERE g.person_id = $1 AND g.revoked_at IS NULL AND g.expires_at > $2
			AND (EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.id AND r.spent_at IS NULL AND r.expires_at > $2)
				OR EXISTS (SELECT 1 FROM authorization_codes o WHERE o.grant_id = g.id AND o.used_at IS NULL AND o.expires_at > $2)
				OR EXISTS (SELECT 1 FROM device_codes d WHERE d.grant_id = g.id AND d.state = 'approved' AND d.expires_at > $2))
		ORDER BY g.created_at DESC, g.id`, []any{string(person), ms(now)},
		func(rows *sql.Rows) error {
			var row grantRow
			var name string
			err := rows.Scan(append([]any{&name}, row.fields()...)...)
			grants = append(grants, GrantListed{row.grant(), name})
			return err
		})
	if err != nil {
		return nil, internal("grants", err)
	}
	return grants, nil
}

// RevokeGrant ends everything that came of a grant. why is for the log. It is
// no error to revoke one again; an unknown one is CodeNotFound.
func (s *Store) RevokeGrant(ctx context.Context, id lintel.ID, why string, now time.Time) error {
	return s.execOne(ctx, "grant", revokeGrantsText+`id = $3`, ms(now), why, string(id))
}

// EndGrant is a person's end of a grant, and of all others that the person gave
// to the same client: who disconnects an app does not mean a part of it. An
// unknown grant, and somebody else's, is CodeNotFound.
func (s *Store) EndGrant(ctx context.Context, person, id lintel.ID, now time.Time) error {
	n, err := s.exec(ctx, revokeGrantsText+`person_id = $3
		AND client_id = (SELECT client_id FROM grants WHERE id = $4 AND person_id = $3)`,
		ms(now), "ended by the person", string(person), string(id))
	return one("grant", n > 0, err)
}

const revokeGrantsText = `
	UPDATE grants SET revoked_for = CASE WHEN revoked_at IS NULL THEN $2 ELSE revoked_for END, revoked_at = COALESCE(revoked_at, $1)
	WHERE `

func revokeGrants(ctx context.Context, tx Tx, which, id, why string, now time.Time) error {
	_, err := tx.ExecContext(ctx, revokeGrantsText+which, ms(now), why, id)
	return err
}
