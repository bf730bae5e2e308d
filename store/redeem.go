package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lintel"
)

// Every redemption is one write that takes the grant's row before anything else
// of its family. So of two at the same moment one wins, also on PostgreSQL, and
// nothing is added to a grant that is being revoked. Disabling and removing go
// from the grant to what came of it too: in any other order they and a
// redemption could wait for each other. A replay revokes the grant in the same
// write, which is committed although the request fails.

// RedeemCode spends an authorization code for tokens (RFC 6749 §4.1.3).
func (s *Store) RedeemCode(ctx context.Context, hash string, issue lintel.Issue) (lintel.Redemption, error) {
	return s.redeem(ctx, "redeem code", func(tx Tx) (lintel.Redemption, error) {
		grant, live, err := takeGrantOf(ctx, tx, `SELECT grant_id FROM authorization_codes WHERE hash = $1`, hash, issue.At)
		if err != nil {
			return "", err
		}
		var expires int64
		var used sql.NullInt64
		err = tx.QueryRowContext(ctx, `SELECT expires_at, used_at FROM authorization_codes WHERE hash = $1`, hash).Scan(&expires, &used)
		switch {
		case errNone(err):
			return "", errGone
		case err != nil:
			return "", err
		case used.Valid:
			return lintel.Replayed, revokeGrants(ctx, tx, `id = $3`, grant, "authorization code used twice", issue.At)
		case !live, expires <= ms(issue.At):
			return "", errGone
		}
		n, err := changed(tx.ExecContext(ctx, `
			UPDATE authorization_codes SET used_at = $1 WHERE hash = $2 AND used_at IS NULL`, ms(issue.At), hash))
		if err == nil && n != 1 {
			return "", errGone
		}
		if err != nil {
			return "", err
		}
		return addTokens(ctx, tx, grant, "", issue)
	})
}

// RedeemRefreshToken gives new tokens for a refresh token (RFC 6749 §6). Strict
// rotation spends it at once. Lazy rotation spends what came before it, and
// what was given beside it: a token dies when its successor is first used, so
// that a client which lost an answer can ask again.
func (s *Store) RedeemRefreshToken(ctx context.Context, hash string, strict bool, issue lintel.Issue) (lintel.Redemption, error) {
	return s.redeem(ctx, "redeem refresh token", func(tx Tx) (lintel.Redemption, error) {
		grant, live, err := takeGrantOf(ctx, tx, `SELECT grant_id FROM refresh_tokens WHERE hash = $1`, hash, issue.At)
		if err != nil || !live {
			return lintel.Refused, err
		}
		var parent string
		var expires int64
		var spent sql.NullInt64
		err = tx.QueryRowContext(ctx, `
			SELECT parent_hash, expires_at, spent_at FROM refresh_tokens WHERE hash = $1`, hash).Scan(&parent, &expires, &spent)
		switch {
		case errNone(err):
			return "", errGone
		case err != nil:
			return "", err
		case spent.Valid:
			return lintel.Replayed, revokeGrants(ctx, tx, `id = $3`, grant, "refresh token used twice", issue.At)
		case expires <= ms(issue.At):
			return "", errGone // which undoes that the grant was used
		}
		if strict {
			var n int64
			n, err = changed(tx.ExecContext(ctx, `
				UPDATE refresh_tokens SET spent_at = $1 WHERE hash = $2 AND spent_at IS NULL`, ms(issue.At), hash))
			if err == nil && n != 1 {
				return "", errGone
			}
		} else if parent != "" {
			_, err = tx.ExecContext(ctx, `
				UPDATE refresh_tokens SET spent_at = $1
				WHERE (hash = $2 OR parent_hash = $2) AND hash <> $3 AND spent_at IS NULL`, ms(issue.At), parent, hash)
		}
		if err != nil {
			return "", err
		}
		return addTokens(ctx, tx, grant, hash, issue)
	})
}

// takeGrantOf locks the grant that query finds until the write ends, so that
// what is read of the family afterwards stays true. live is false when there is
// none in use.
func takeGrantOf(ctx context.Context, tx Tx, query, hash string, now time.Time) (grant string, live bool, err error) {
	err = tx.QueryRowContext(ctx, query, hash).Scan(&grant)
	if errNone(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	n, err := changed(tx.ExecContext(ctx, `
		UPDATE grants SET last_used_at = $1 WHERE id = $2 AND revoked_at IS NULL AND expires_at > $1`, ms(now), grant))
	return grant, n == 1, err
}

// RedeemDeviceCode spends an approved device code for tokens (RFC 8628 §3.5).
// Using it twice is Refused.
func (s *Store) RedeemDeviceCode(ctx context.Context, hash string, issue lintel.Issue) (lintel.Redemption, error) {
	return s.redeem(ctx, "redeem device code", func(tx Tx) (lintel.Redemption, error) {
		grant, live, err := takeGrantOf(ctx, tx, `SELECT COALESCE(grant_id, '') FROM device_codes WHERE hash = $1`, hash, issue.At)
		if err != nil || !live {
			return lintel.Refused, err
		}
		n, err := changed(tx.ExecContext(ctx, `
			UPDATE device_codes SET state = 'used' WHERE hash = $1 AND state = 'approved' AND expires_at > $2`, hash, ms(issue.At)))
		if err != nil {
			return "", err
		}
		if n == 0 {
			return "", errGone
		}
		return addTokens(ctx, tx, grant, "", issue)
	})
}

func (s *Store) redeem(ctx context.Context, what string, fn func(tx Tx) (lintel.Redemption, error)) (lintel.Redemption, error) {
	var outcome lintel.Redemption
	err := s.engine.Write(ctx, func(tx Tx) (err error) {
		outcome, err = fn(tx)
		return err
	})
	if errors.Is(err, errGone) {
		return lintel.Refused, nil
	}
	if err != nil {
		return "", internal(what, err) // and outcome is not read: when ctx ended first, the write may still run
	}
	return outcome, nil
}

// addTokens adds a pair of tokens to a live grant that this write has taken.
func addTokens(ctx context.Context, tx Tx, grant, parent string, issue lintel.Issue) (lintel.Redemption, error) {
	n, err := changed(tx.ExecContext(ctx, `
		INSERT INTO access_tokens (id, hash, person_id, scopes, label, created_at, expires_at, grant_id)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), g.person_id, CAST($3 AS BIGINT), '', CAST($4 AS BIGINT), CAST($5 AS BIGINT), g.id
		FROM grants g WHERE g.id = $6 AND (g.scopes & $3) = $3`,
		string(issue.AccessID), issue.AccessHash, int64(issue.AccessScopes), ms(issue.At), ms(issue.AccessExpiresAt), grant))
	if err == nil && n == 0 {
		return "", errGone // never more than the person agreed to
	}
	if err != nil {
		return "", err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO refresh_tokens (hash, grant_id, parent_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		issue.RefreshHash, grant, parent, ms(issue.At), ms(issue.RefreshExpiresAt))
	return lintel.Redeemed, err
}
