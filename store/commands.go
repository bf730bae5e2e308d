package store

import (
	"context"
	"database/sql"
	"time"

	"lintel"
	"lintel/access"
)

// Subject reads the bearer of the token with the hash; nil when there is none.
func (s *Store) Subject(ctx context.Context, tokenHash string) (*access.Subject, error) {
	var b bearer
	err := s.reads.row(ctx, `
		SELECT t.id, t.person_id, t.scopes, t.expires_at, t.revoked_at, p.disabled_at,
			g.id, g.client_id, g.revoked_at
		FROM access_tokens t
		JOIN people p ON p.id = t.person_id
		LEFT JOIN grants g ON g.id = t.grant_id
		WHERE t.hash = $1`, []any{tokenHash}, b.fields()...)
	switch {
	case errNone(err):
		return nil, nil
	case err != nil:
		return nil, internal("subject", err)
	}
	return b.subject(), nil
}

// Authority reads, in one statement, what decides whether a token may move a
// door. Either is nil when it does not exist.
func (s *Store) Authority(ctx context.Context, tokenHash string, door lintel.ID) (*access.Subject, *access.Target, error) {
	var b bearer
	var number, revoked sql.NullInt64
	var doorID, controller, hardware, owner sql.NullString
	err := s.reads.row(ctx, `
		SELECT t.id, t.person_id, t.scopes, t.expires_at, t.revoked_at, p.disabled_at,
			g.id, g.client_id, g.revoked_at,
			d.id, d.number, c.id, c.name, c.owner_id, c.revoked_at
		FROM access_tokens t
		JOIN people p ON p.id = t.person_id
		LEFT JOIN grants g ON g.id = t.grant_id
		LEFT JOIN doors d ON d.id = $2
		LEFT JOIN controllers c ON c.id = d.controller_id
		WHERE t.hash = $1`, []any{tokenHash, string(door)},
		append(b.fields(), &doorID, &number, &controller, &hardware, &owner, &revoked)...)
	switch {
	case errNone(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, internal("authority", err)
	}
	if !doorID.Valid {
		return b.subject(), nil, nil
	}
	return b.subject(), &access.Target{
		DoorID: lintel.ID(doorID.String), DoorNumber: int(number.Int64), ControllerID: lintel.ID(controller.String),
		HardwareName: hardware.String, OwnerID: lintel.ID(owner.String), Revoked: revoked.Valid,
	}, nil
}

// bearer is where the bearer of a token is read to.
type bearer struct {
	s                               access.Subject
	expires                         int64
	revoked, disabled, grantRevoked sql.NullInt64
	grant, client                   sql.NullString
}

func (b *bearer) fields() []any {
	return []any{&b.s.TokenID, &b.s.PersonID, &b.s.Scopes, &b.expires, &b.revoked, &b.disabled,
		&b.grant, &b.client, &b.grantRevoked}
}

func (b *bearer) subject() *access.Subject {
	s := b.s
	s.ExpiresAt, s.Revoked, s.Disabled = at(b.expires), b.revoked.Valid || b.grantRevoked.Valid, b.disabled.Valid
	s.GrantID, s.ClientID = lintel.ID(b.grant.String), b.client.String
	return &s
}

// RecordCommand puts a command on disk, as sent, if the token with the hash
// still allows it at that moment. It is the last check before a door moves, so
// it repeats access.Move inside the statement. False means that it does not.
func (s *Store) RecordCommand(ctx context.Context, c lintel.Command, tokenHash string) (bool, error) {
	recorded, err := s.exec(ctx, `
		INSERT INTO commands (id, door_id, controller_id, door_number, person_id, token_id, action,
			requested_at, deadline_at, status, code, reason, client_id)
		SELECT CAST($1 AS TEXT), d.id, c.id, d.number, t.person_id, t.id, CAST($2 AS TEXT),
			CAST($3 AS BIGINT), CAST($4 AS BIGINT), 'sent', 0, '', COALESCE(g.client_id, '')
		FROM access_tokens t
		JOIN people p ON p.id = t.person_id AND p.disabled_at IS NULL
		JOIN controllers c ON c.owner_id = p.id AND c.revoked_at IS NULL
		JOIN doors d ON d.controller_id = c.id AND d.id = $5
		LEFT JOIN grants g ON g.id = t.grant_id
		WHERE t.hash = $6 AND t.revoked_at IS NULL AND g.revoked_at IS NULL AND t.expires_at > $3 AND (t.scopes & $7) = $7`,
		string(c.ID), string(c.Action), ms(c.RequestedAt), ms(c.Deadline), string(c.DoorID),
		tokenHash, int64(access.ScopeFor(c.Action)))
	if err != nil {
		return false, internal("record command", err)
	}
	return recorded == 1, nil
}

// SettleCommand puts a command's outcome on disk, once: a command that is
// already settled keeps its outcome.
func (s *Store) SettleCommand(ctx context.Context, id lintel.ID, o lintel.Outcome) error {
	_, err := s.exec(ctx, `
		UPDATE commands SET status = $1, code = $2, reason = $3, settled_at = $4
		WHERE id = $5 AND status = 'sent'`,
		string(o.Status), int64(o.Code), o.Reason, ms(o.SettledAt), string(id))
	if err != nil {
		return internal("settle command", err)
	}
	return nil
}

// SettleLate notes an answer that came after the deadline, once, and only from
// the command's own controller.
func (s *Store) SettleLate(ctx context.Context, id, controller lintel.ID, late lintel.LateAnswer) error {
	_, err := s.exec(ctx, `
		UPDATE commands SET late_code = $1, late_reason = $2, late_at = $3
		WHERE id = $4 AND controller_id = $5 AND late_at IS NULL AND status IN ('sent', 'unanswered', 'unknown')`,
		int64(late.Code), late.Reason, ms(late.At), string(id), string(controller))
	if err != nil {
		return internal("settle late", err)
	}
	return nil
}

// AbandonCommands settles what an earlier run of the service left unsettled as
// StatusUnknown, and returns how many there were. None of them is sent again.
func (s *Store) AbandonCommands(ctx context.Context, now time.Time) (int64, error) {
	n, err := s.exec(ctx, `
		UPDATE commands SET status = 'unknown', reason = 'service_stopped', settled_at = $1 WHERE status = 'sent'`, ms(now))
	if err != nil {
		return 0, internal("abandon commands", err)
	}
	return n, nil
}

// Commands lists the latest commands, newest first: of one door, or of all
// where door is empty. limit is at least 1.
func (s *Store) Commands(ctx context.Context, door lintel.ID, limit int) ([]lintel.Command, error) {
	where, args := `WHERE door_id = $2`, []any{int64(limit), string(door)}
	if door == "" {
		where, args = ``, args[:1]
	}
	var commands []lintel.Command
	err := s.reads.each(ctx, `
		SELECT id, door_id, controller_id, door_number, person_id, token_id, client_id, action, requested_at, deadline_at,
			status, code, reason, settled_at, late_code, late_reason, late_at
		FROM commands `+where+` ORDER BY requested_at DESC, id LIMIT $1`, args,
		func(rows *sql.Rows) error {
			var c lintel.Command
			var requested, deadline int64
			var settled, lateCode, lateAt sql.NullInt64
			var lateReason sql.NullString
			err := rows.Scan(&c.ID, &c.DoorID, &c.ControllerID, &c.DoorNumber, &c.PersonID, &c.TokenID, &c.ClientID, &c.Action,
				&requested, &deadline, &c.Outcome.Status, &c.Outcome.Code, &c.Outcome.Reason, &settled,
				&lateCode, &lateReason, &lateAt)
			c.RequestedAt, c.Deadline, c.Outcome.SettledAt = at(requested), at(deadline), nullAt(settled)
			if lateAt.Valid {
				c.Outcome.Late = &lintel.LateAnswer{Code: int(lateCode.Int64), Reason: lateReason.String, At: at(lateAt.Int64)}
			}
			commands = append(commands, c)
			return err
		})
	if err != nil {
		return nil, internal("commands", err)
	}
	return commands, nil
}
