package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"lintel"
)

// AddClient registers a client with its redirect URIs. secretHash is empty for
// a public client. A taken ID is CodeConflict.
func (s *Store) AddClient(ctx context.Context, c lintel.Client, secretHash string) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO clients (id, name, kind, legacy, with_read, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			c.ID, c.Name, string(c.Kind), c.Legacy, c.WithRead, int64(c.Scopes), ms(c.CreatedAt))
		if err != nil {
			return err
		}
		for _, uri := range c.RedirectURIs {
			_, err := tx.ExecContext(ctx, `INSERT INTO client_redirect_uris (client_id, uri) VALUES ($1, $2)`, c.ID, uri)
			if err != nil {
				return err
			}
		}
		if secretHash == "" {
			return nil
		}
		return addClientSecret(ctx, tx, c.ID, secretHash, c.CreatedAt)
	})
	if s.engine.IsUnique(err) {
		return &lintel.Error{Code: lintel.CodeConflict, Message: fmt.Sprintf("the client %s, or one of its redirect URIs, exists already", c.ID)}
	}
	if err != nil {
		return internal("add client", err)
	}
	return nil
}

// addClientSecret makes the secret the newest, also where the clock was set back.
func addClientSecret(ctx context.Context, tx Tx, client, hash string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO client_secrets (hash, client_id, created_at) VALUES ($1, $2,
			COALESCE((SELECT MAX(created_at) + 1 FROM client_secrets WHERE client_id = $2 AND created_at >= $3), $3))`, hash, client, ms(now))
	return err
}

// Client finds a client; CodeNotFound when there is none.
func (s *Store) Client(ctx context.Context, id string) (lintel.Client, error) {
	clients, err := s.clients(ctx, `WHERE id = $1`, id)
	if err != nil {
		return lintel.Client{}, err
	}
	if len(clients) == 0 {
		return lintel.Client{}, notFound("client " + id)
	}
	return clients[0], nil
}

// Clients lists all clients, the oldest first.
func (s *Store) Clients(ctx context.Context) ([]lintel.Client, error) {
	return s.clients(ctx, `ORDER BY created_at, id`)
}

func (s *Store) clients(ctx context.Context, tail string, args ...any) ([]lintel.Client, error) {
	var clients []lintel.Client
	err := s.reads.each(ctx, `SELECT id, name, kind, legacy, with_read, scopes, created_at, disabled_at FROM clients `+tail, args,
		func(rows *sql.Rows) error {
			var c lintel.Client
			var created int64
			var disabled sql.NullInt64
			err := rows.Scan(&c.ID, &c.Name, &c.Kind, &c.Legacy, &c.WithRead, &c.Scopes, &created, &disabled)
			c.CreatedAt, c.DisabledAt = at(created), nullAt(disabled)
			clients = append(clients, c)
			return err
		})
	for i := range clients {
		if err == nil {
			clients[i].RedirectURIs, err = s.texts(ctx, `
				SELECT uri FROM client_redirect_uris WHERE client_id = $1 ORDER BY uri`, clients[i].ID)
		}
		if err == nil {
			clients[i].SecretHashes, err = s.texts(ctx, `
				SELECT hash FROM client_secrets WHERE client_id = $1 ORDER BY created_at DESC, hash`, clients[i].ID)
		}
	}
	if err != nil {
		return nil, internal("clients", err)
	}
	return clients, nil
}

// texts reads one column.
func (s *Store) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	var texts []string
	err := s.reads.each(ctx, query, args, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		texts = append(texts, text)
		return err
	})
	return texts, err
}

// RotateClientSecret gives a confidential client a new secret. The newest of
// the old ones stays valid beside it, until FinishClientSecret, where keep is
// true. An unknown or public client is CodeNotFound.
func (s *Store) RotateClientSecret(ctx context.Context, id, secretHash string, keep bool, now time.Time) error {
	var rotated bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		rotated = false
		// Locks the row, so that two rotations at once leave two secrets.
		n, err := changed(tx.ExecContext(ctx, `UPDATE clients SET name = name WHERE id = $1 AND kind = 'confidential'`, id))
		if err != nil || n == 0 {
			return err
		}
		if err := dropClientSecrets(ctx, tx, id, keep); err != nil {
			return err
		}
		rotated = true
		return addClientSecret(ctx, tx, id, secretHash, now)
	})
	return one("confidential client", rotated, err)
}

// FinishClientSecret ends every secret of a client but the newest. An unknown
// client is CodeNotFound.
func (s *Store) FinishClientSecret(ctx context.Context, id string) error {
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		n, err := changed(tx.ExecContext(ctx, `UPDATE clients SET name = name WHERE id = $1 AND kind = 'confidential'`, id))
		found = n == 1
		if err != nil || !found {
			return err
		}
		return dropClientSecrets(ctx, tx, id, true)
	})
	return one("confidential client", found, err)
}

// dropClientSecrets ends a client's secrets, or all but the newest.
func dropClientSecrets(ctx context.Context, tx Tx, id string, keepNewest bool) error {
	kept := 0
	if keepNewest {
		kept = 1
	}
	_, err := tx.ExecContext(ctx, `
		DELETE FROM client_secrets WHERE client_id = $1 AND hash NOT IN (
			SELECT hash FROM client_secrets WHERE client_id = $1 ORDER BY created_at DESC, hash LIMIT $2)`, id, int64(kept))
	return err
}

// DisableClient refuses a client from now on and revokes everything it was
// granted. An unknown one is CodeNotFound; it is no error to disable one again.
func (s *Store) DisableClient(ctx context.Context, id string, now time.Time) error {
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		n, err := changed(tx.ExecContext(ctx, `
			UPDATE clients SET disabled_at = COALESCE(disabled_at, $1) WHERE id = $2`, ms(now), id))
		found = n == 1
		if err != nil || !found {
			return err
		}
		if err := revokeGrants(ctx, tx, `client_id = $3`, id, "client disabled", now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM device_codes WHERE client_id = $1`, id)
		return err
	})
	return one("client "+id, found, err)
}

// EnableClient lets a client be used again. What it was granted before stays
// revoked: people are asked anew. An unknown client is CodeNotFound.
func (s *Store) EnableClient(ctx context.Context, id string) error {
	return s.execOne(ctx, "client "+id, `UPDATE clients SET disabled_at = NULL WHERE id = $1`, id)
}

// RemoveClient deletes a client with everything it was granted. An unknown one
// is CodeNotFound.
func (s *Store) RemoveClient(ctx context.Context, id string) error {
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		// Keeps new grants from being added, and the row in place for redemptions
		// that refer to it and hold one of the grants.
		n, err := changed(tx.ExecContext(ctx, `UPDATE clients SET name = name WHERE id = $1`, id))
		found = n == 1
		if err != nil || !found {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM grants WHERE client_id = $1`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM clients WHERE id = $1`, id)
		return err
	})
	return one("client "+id, found, err)
}

// changed returns how many rows a statement changed.
func changed(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// one turns the end of a write that was to find one thing into the store's errors.
func one(what string, found bool, err error) error {
	switch {
	case err != nil:
		return internal(what, err)
	case !found:
		return notFound(what)
	}
	return nil
}
