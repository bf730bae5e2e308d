package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lintel"
)

// pollGrace is how much too early a device may ask: its clock and the network
// are not ours.
const pollGrace = 500 * time.Millisecond

// slowDown is what is added to a device's pause each time it asks too early
// (RFC 8628 §3.5).
const slowDown = 5 * time.Second

// AddDeviceCode stores a device's request. Its first poll may come at once. A
// taken user code is CodeConflict.
func (s *Store) AddDeviceCode(ctx context.Context, d lintel.DeviceCode) error {
	_, err := s.exec(ctx, `
		INSERT INTO device_codes (hash, user_code_hash, client_id, scopes, address, created_at, expires_at, pause, next_poll_at, state)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $6, 'pending')`,
		d.Hash, d.UserCodeHash, d.ClientID, int64(d.Scopes), d.Address, ms(d.CreatedAt), ms(d.ExpiresAt), d.Pause.Milliseconds())
	if s.engine.IsUnique(err) {
		return &lintel.Error{Code: lintel.CodeConflict, Message: "the device code is taken"}
	}
	if err != nil {
		return internal("add device code", err)
	}
	return nil
}

// DeviceByUserCode finds the request that a person was shown the code of;
// CodeNotFound when there is none.
func (s *Store) DeviceByUserCode(ctx context.Context, userCodeHash string) (lintel.DeviceCode, error) {
	return s.deviceCode(ctx, `WHERE user_code_hash = $1`, userCodeHash)
}

// DeviceCode finds a device's request; CodeNotFound when there is none.
func (s *Store) DeviceCode(ctx context.Context, hash string) (lintel.DeviceCode, error) {
	return s.deviceCode(ctx, `WHERE hash = $1`, hash)
}

func (s *Store) deviceCode(ctx context.Context, tail, hash string) (lintel.DeviceCode, error) {
	var d lintel.DeviceCode
	var created, expires, pause int64
	var grant sql.NullString
	err := s.reads.row(ctx, `
		SELECT hash, user_code_hash, client_id, scopes, address, created_at, expires_at, pause, state, grant_id
		FROM device_codes `+tail, []any{hash},
		&d.Hash, &d.UserCodeHash, &d.ClientID, &d.Scopes, &d.Address, &created, &expires, &pause, &d.State, &grant)
	if errNone(err) {
		return d, notFound("device code")
	}
	if err != nil {
		return d, internal("device code", err)
	}
	d.CreatedAt, d.ExpiresAt, d.Pause, d.GrantID = at(created), at(expires), time.Duration(pause)*time.Millisecond, lintel.ID(grant.String)
	return d, nil
}

// PollDevice notes that a device asked, and reports whether it came too early.
// Then its pause grows.
func (s *Store) PollDevice(ctx context.Context, hash string, now time.Time) (tooEarly bool, err error) {
	err = s.engine.Write(ctx, func(tx Tx) error {
		n, err := changed(tx.ExecContext(ctx, `
			UPDATE device_codes SET next_poll_at = $1 + pause - $2 WHERE hash = $3 AND next_poll_at <= $1`,
			ms(now), pollGrace.Milliseconds(), hash))
		tooEarly = n == 0
		if err != nil || !tooEarly {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE device_codes SET pause = pause + $1, next_poll_at = $2 + pause + $1 - $3 WHERE hash = $4`,
			slowDown.Milliseconds(), ms(now), pollGrace.Milliseconds(), hash)
		return err
	})
	if err != nil {
		return false, internal("poll device", err)
	}
	return tooEarly, nil
}

// ApproveDevice stores a person's consent to a device's request, whose scopes
// become the grant's. CodeNotFound
// when it was decided before, is over, or the person or client is disabled.
func (s *Store) ApproveDevice(ctx context.Context, userCodeHash string, g lintel.Grant, now time.Time) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		added, err := addGrant(ctx, tx, g)
		if err == nil && !added {
			return errGone
		}
		if err != nil {
			return err
		}
		n, err := changed(tx.ExecContext(ctx, `
			UPDATE device_codes SET state = 'approved', grant_id = $1, scopes = $2
			WHERE user_code_hash = $3 AND client_id = $4 AND state = 'pending' AND expires_at > $5`,
			string(g.ID), int64(g.Scopes), userCodeHash, g.ClientID, ms(now)))
		if err == nil && n == 0 {
			return errGone
		}
		return err
	})
	if errors.Is(err, errGone) {
		return notFound("device code")
	}
	if err != nil {
		return internal("approve device", err)
	}
	return nil
}

// DenyDevice stores that a person refused. CodeNotFound when it was decided
// before or is over.
func (s *Store) DenyDevice(ctx context.Context, userCodeHash string, now time.Time) error {
	return s.execOne(ctx, "device code", `
		UPDATE device_codes SET state = 'denied' WHERE user_code_hash = $1 AND state = 'pending' AND expires_at > $2`,
		userCodeHash, ms(now))
}
