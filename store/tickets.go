package store

import (
	"context"
	"time"

	"lintel"
)

// AddTicket stores a ticket.
func (s *Store) AddTicket(ctx context.Context, t lintel.Ticket) error {
	_, err := s.exec(ctx, `
		INSERT INTO tickets (hash, kind, holder, content, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		t.Hash, t.Kind, t.Holder, t.Content, ms(t.ExpiresAt))
	if err != nil {
		return internal("add ticket", err)
	}
	return nil
}

// Ticket finds a ticket without using it. CodeNotFound when it was used, is
// over, is of another kind, or is not the holder's.
func (s *Store) Ticket(ctx context.Context, hash, kind, holder string, now time.Time) (content string, err error) {
	err = s.reads.row(ctx, `
		SELECT content FROM tickets WHERE hash = $1 AND kind = $2 AND holder = $3 AND expires_at > $4`,
		[]any{hash, kind, holder, ms(now)}, &content)
	if errNone(err) {
		return "", notFound("ticket")
	}
	if err != nil {
		return "", internal("ticket", err)
	}
	return content, nil
}

// UseTicket uses a ticket up and returns its content. Of any number of callers
// one gets it; errors are as for Ticket.
func (s *Store) UseTicket(ctx context.Context, hash, kind, holder string, now time.Time) (string, error) {
	var content string
	var found bool
	err := s.engine.Write(ctx, func(tx Tx) error {
		err := tx.QueryRowContext(ctx, `
			DELETE FROM tickets WHERE hash = $1 AND kind = $2 AND holder = $3 AND expires_at > $4 RETURNING content`,
			hash, kind, holder, ms(now)).Scan(&content)
		found = err == nil
		if errNone(err) {
			return nil
		}
		return err
	})
	if err := one("ticket", found, err); err != nil {
		return "", err
	}
	return content, nil
}

// DropTickets ends all tickets of a kind.
func (s *Store) DropTickets(ctx context.Context, kind string) error {
	if _, err := s.exec(ctx, `DELETE FROM tickets WHERE kind = $1`, kind); err != nil {
		return internal("drop tickets", err)
	}
	return nil
}

// evidence is how long what is over is kept: a code or token that is used again
// must be recognised, and the history names the token of a command.
const evidence = 30 * 24 * time.Hour

// Expunge deletes what has been over for so long that nothing depends on it.
// Nothing ever depends on a ticket that is over, and strangers can have them made.
func (s *Store) Expunge(ctx context.Context, now time.Time) error {
	if _, err := s.exec(ctx, `DELETE FROM tickets WHERE expires_at <= $1`, ms(now)); err != nil {
		return internal("expunge", err)
	}
	old := ms(now.Add(-evidence))
	for _, query := range []string{
		`DELETE FROM device_codes WHERE expires_at < $1`,
		`DELETE FROM sessions WHERE expires_at < $1`,
		`DELETE FROM known_browsers WHERE expires_at < $1`,
		`DELETE FROM access_tokens WHERE expires_at < $1`,
		`DELETE FROM grants WHERE expires_at < $1 OR revoked_at < $1`,
		`DELETE FROM grants WHERE created_at < $1
			AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = grants.id AND r.expires_at >= $1)
			AND NOT EXISTS (SELECT 1 FROM access_tokens t WHERE t.grant_id = grants.id)`,
		`DELETE FROM refresh_tokens WHERE expires_at < $1`,
	} {
		if _, err := s.exec(ctx, query, old); err != nil {
			return internal("expunge", err)
		}
	}
	return nil
}
