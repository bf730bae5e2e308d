package store

import (
	"context"
	"database/sql"
	"time"

	"lintel"
)

// AnyPerson reports whether there is an account at all.
func (s *Store) AnyPerson(ctx context.Context) (bool, error) {
	var n int
	if err := s.reads.row(ctx, `SELECT COUNT(*) FROM (SELECT id FROM people LIMIT 1) AS p`, nil, &n); err != nil {
		return false, internal("any person", err)
	}
	return n > 0, nil
}

// Person finds an account; CodeNotFound when there is none.
func (s *Store) Person(ctx context.Context, id lintel.ID) (lintel.Person, error) {
	people, err := s.people(ctx, `WHERE id = $1`, string(id))
	if err != nil {
		return lintel.Person{}, err
	}
	if len(people) == 0 {
		return lintel.Person{}, notFound("account")
	}
	return people[0], nil
}

// PasswordHash returns a person's, empty where there is none. An unknown person
// is CodeNotFound.
func (s *Store) PasswordHash(ctx context.Context, person lintel.ID) (string, error) {
	var hash string
	err := s.reads.row(ctx, `SELECT password_hash FROM people WHERE id = $1`, []any{string(person)}, &hash)
	if errNone(err) {
		return "", notFound("account")
	}
	if err != nil {
		return "", internal("password", err)
	}
	return hash, nil
}

// ChangePassword replaces a person's password hash and ends everything that
// was reached with the old one: grants, tokens and sessions but keep, which may
// be empty. An unknown person is CodeNotFound.
func (s *Store) ChangePassword(ctx context.Context, person lintel.ID, passwordHash string, keep lintel.ID, now time.Time) error {
	return s.cutOff(ctx, person, keep, "password changed", now, func(tx Tx) (int64, error) {
		return setPassword(ctx, tx, person, passwordHash)
	})
}

// ResetPassword is ChangePassword for somebody who lost control of the account:
// passkeys and recovery codes, which somebody else may have made, end as well.
func (s *Store) ResetPassword(ctx context.Context, person lintel.ID, passwordHash string, now time.Time) error {
	return s.cutOff(ctx, person, "", "password reset", now, func(tx Tx) (int64, error) {
		for _, query := range []string{
			`DELETE FROM passkeys WHERE person_id = $1`,
			`DELETE FROM recovery_codes WHERE person_id = $1`,
		} {
			if _, err := tx.ExecContext(ctx, query, string(person)); err != nil {
				return 0, err
			}
		}
		return setPassword(ctx, tx, person, passwordHash)
	})
}

func setPassword(ctx context.Context, tx Tx, person lintel.ID, passwordHash string) (int64, error) {
	return changed(tx.ExecContext(ctx, `UPDATE people SET password_hash = $1 WHERE id = $2`, passwordHash, string(person)))
}

// DisablePerson refuses a person from now on and ends everything of theirs. An
// unknown person is CodeNotFound; it is no error to disable one again.
func (s *Store) DisablePerson(ctx context.Context, person lintel.ID, now time.Time) error {
	return s.cutOff(ctx, person, "", "account disabled", now, func(tx Tx) (int64, error) {
		return changed(tx.ExecContext(ctx, `
			UPDATE people SET disabled_at = COALESCE(disabled_at, $1) WHERE id = $2`, ms(now), string(person)))
	})
}

// EnablePerson lets a person sign in again. What was ended stays ended. An
// unknown person is CodeNotFound.
func (s *Store) EnablePerson(ctx context.Context, person lintel.ID) error {
	return s.execOne(ctx, "account", `UPDATE people SET disabled_at = NULL WHERE id = $1`, string(person))
}

// cutOff changes a person's row and ends all that acts for the person but one session.
func (s *Store) cutOff(ctx context.Context, person, keep lintel.ID, why string, now time.Time, change func(tx Tx) (int64, error)) error {
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		n, err := change(tx)
		found = n == 1
		if err != nil || !found {
			return err
		}
		if err := revokeGrants(ctx, tx, `person_id = $3`, string(person), why, now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE access_tokens SET revoked_at = $1 WHERE person_id = $2 AND revoked_at IS NULL`, ms(now), string(person))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE person_id = $1 AND id <> $2`, string(person), string(keep))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM known_browsers WHERE person_id = $1`, string(person))
		return err
	})
	return one("account", found, err)
}

// AddPasskey stores a passkey. One that is stored already is CodeConflict.
func (s *Store) AddPasskey(ctx context.Context, p lintel.Passkey) error {
	_, err := s.exec(ctx, `
		INSERT INTO passkeys (id, person_id, credential_id, credential, name, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		string(p.ID), string(p.PersonID), p.CredentialID, p.Credential, p.Name, ms(p.CreatedAt))
	if s.engine.IsUnique(err) {
		return &lintel.Error{Code: lintel.CodeConflict, Message: "this passkey is registered already"}
	}
	if err != nil {
		return internal("add passkey", err)
	}
	return nil
}

// Passkeys lists a person's passkeys, the oldest first.
func (s *Store) Passkeys(ctx context.Context, person lintel.ID) ([]lintel.Passkey, error) {
	var passkeys []lintel.Passkey
	err := s.reads.each(ctx, `
		SELECT id, person_id, credential_id, credential, name, created_at, last_used_at
		FROM passkeys WHERE person_id = $1 ORDER BY created_at, id`, []any{string(person)},
		func(rows *sql.Rows) error {
			var p lintel.Passkey
			var created int64
			var used sql.NullInt64
			err := rows.Scan(&p.ID, &p.PersonID, &p.CredentialID, &p.Credential, &p.Name, &created, &used)
			p.CreatedAt, p.LastUsedAt = at(created), nullAt(used)
			passkeys = append(passkeys, p)
			return err
		})
	if err != nil {
		return nil, internal("passkeys", err)
	}
	return passkeys, nil
}

// UsePasskey notes a sign-in with a passkey, and what its authenticator now
// says. An unknown one is CodeNotFound.
func (s *Store) UsePasskey(ctx context.Context, id lintel.ID, credential string, now time.Time) error {
	return s.execOne(ctx, "passkey", `
		UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE id = $3`, credential, ms(now), string(id))
}

// RemovePasskey removes one of a person's passkeys. An unknown one, and
// somebody else's, is CodeNotFound.
func (s *Store) RemovePasskey(ctx context.Context, person, id lintel.ID) error {
	return s.execOne(ctx, "passkey", `DELETE FROM passkeys WHERE id = $1 AND person_id = $2`, string(id), string(person))
}

// SetRecoveryCodes replaces a person's recovery codes by the ones with the
// hashes. An unknown person is CodeNotFound.
func (s *Store) SetRecoveryCodes(ctx context.Context, person lintel.ID, hashes []string) error {
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		// Locks the row, so that of two at once one set stays.
		n, err := changed(tx.ExecContext(ctx, `UPDATE people SET email = email WHERE id = $1`, string(person)))
		found = n == 1
		if err != nil || !found {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM recovery_codes WHERE person_id = $1`, string(person)); err != nil {
			return err
		}
		for _, hash := range hashes {
			_, err := tx.ExecContext(ctx, `INSERT INTO recovery_codes (hash, person_id) VALUES ($1, $2)`, hash, string(person))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return one("account", found, err)
}

// UseRecoveryCode spends one of a person's recovery codes. CodeNotFound when it
// is not one, or no longer.
func (s *Store) UseRecoveryCode(ctx context.Context, person lintel.ID, hash string) error {
	return s.execOne(ctx, "recovery code", `
		DELETE FROM recovery_codes WHERE person_id = $1 AND hash = $2`, string(person), hash)
}

// RecoveryCodes returns how many recovery codes a person has left.
func (s *Store) RecoveryCodes(ctx context.Context, person lintel.ID) (int, error) {
	var n int
	err := s.reads.row(ctx, `SELECT COUNT(*) FROM recovery_codes WHERE person_id = $1`, []any{string(person)}, &n)
	if err != nil {
		return 0, internal("recovery codes", err)
	}
	return n, nil
}
