package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"lintel"
)

// AddController enrols a controller with its doors in one transaction.
func (s *Store) AddController(ctx context.Context, c lintel.Controller, secretHash string, doors []lintel.Door) error {
	err := s.engine.Write(ctx, func(tx Tx) error { return addController(ctx, tx, c, secretHash, doors) })
	if err != nil {
		return internal("add controller", err)
	}
	return nil
}

func addController(ctx context.Context, tx Tx, c lintel.Controller, secretHash string, doors []lintel.Door) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO controllers (id, owner_id, name, secret_hash, firmware, sessions, created_at, driver, settings)
		VALUES ($1, $2, $3, $4, '', 0, $5, $6, $7)`,
		string(c.ID), string(c.OwnerID), c.Name, secretHash, ms(c.CreatedAt), c.Driver, c.Settings)
	if err != nil {
		return err
	}
	for _, d := range doors {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO doors (id, controller_id, number, name, value, source, sensor_lost, session, sequence)
			VALUES ($1, $2, $3, $4, 'unknown', 'inferred', $5, 0, 0)`,
			string(d.ID), string(c.ID), int64(d.Number), d.Name, true)
		if err != nil {
			return err
		}
	}
	return nil
}

// SetControllerSecret replaces a controller's secret; the old one is refused
// from then on. An unknown or revoked controller is CodeNotFound.
func (s *Store) SetControllerSecret(ctx context.Context, id lintel.ID, secretHash string) error {
	return s.changeCredentials(ctx, id, func(tx Tx) (sql.Result, error) {
		return tx.ExecContext(ctx, `UPDATE controllers SET secret_hash = $1 WHERE id = $2 AND revoked_at IS NULL`, secretHash, string(id))
	})
}

// RevokeController refuses a controller from now on, for good. It is no error to
// revoke one again; an unknown one is CodeNotFound.
func (s *Store) RevokeController(ctx context.Context, id lintel.ID, now time.Time) error {
	return s.changeCredentials(ctx, id, func(tx Tx) (sql.Result, error) {
		return tx.ExecContext(ctx, `UPDATE controllers SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2`, ms(now), string(id))
	})
}

// changeCredentials changes one controller, and counts the change.
func (s *Store) changeCredentials(ctx context.Context, id lintel.ID, change func(tx Tx) (sql.Result, error)) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		result, err := change(tx)
		if err := onlyOne(result, err); err != nil {
			return err
		}
		return countCredentials(ctx, tx, id)
	})
	if errNone(err) {
		return notFound("controller")
	}
	if err != nil {
		return internal("credentials", err)
	}
	return nil
}

// countCredentials gives a controller, whose row the transaction has changed before, the
// next number. The row of the count is locked until the commit, so that numbers are seen
// in their order.
func countCredentials(ctx context.Context, tx Tx, id lintel.ID) error {
	var revision int64
	err := tx.QueryRowContext(ctx, `UPDATE revisions SET value = value + 1 WHERE name = 'credentials' RETURNING value`).Scan(&revision)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE controllers SET credential_revision = $1 WHERE id = $2`, revision, string(id))
	return err
}

// CredentialsRevision returns the number of the last change of credentials.
func (s *Store) CredentialsRevision(ctx context.Context) (revision int64, err error) {
	if err := s.reads.row(ctx, `SELECT value FROM revisions WHERE name = 'credentials'`, nil, &revision); err != nil {
		return 0, internal("credentials", err)
	}
	return revision, nil
}

// CredentialsChanged lists the controllers whose secret was replaced, or that were
// revoked, after the change of a number, and the number of the last of these changes.
func (s *Store) CredentialsChanged(ctx context.Context, after int64) (controllers []lintel.ID, last int64, err error) {
	last = after
	err = s.reads.each(ctx, `
		SELECT id, credential_revision FROM controllers WHERE credential_revision > $1 ORDER BY credential_revision`, []any{after},
		func(rows *sql.Rows) error {
			var id lintel.ID
			err := rows.Scan(&id, &last)
			controllers = append(controllers, id)
			return err
		})
	if err != nil {
		return nil, after, internal("credentials", err)
	}
	return controllers, last, nil
}

// ControllerSecretHash returns the hash that authenticates a controller, and its
// driver with its settings; CodeNotFound when it is unknown or revoked.
func (s *Store) ControllerSecretHash(ctx context.Context, id lintel.ID) (hash, driver, settings string, err error) {
	err = s.reads.row(ctx, `SELECT secret_hash, driver, settings FROM controllers WHERE id = $1 AND revoked_at IS NULL`,
		[]any{string(id)}, &hash, &driver, &settings)
	switch {
	case errNone(err):
		return "", "", "", notFound("controller")
	case err != nil:
		return "", "", "", internal("controller secret", err)
	}
	return hash, driver, settings, nil
}

// BeginSession counts a controller's new session and returns its number and the
// controller's doors by number. An unknown or revoked controller is CodeNotFound.
func (s *Store) BeginSession(ctx context.Context, id lintel.ID, firmware string, now time.Time) (int64, map[int]lintel.ID, error) {
	var number int64
	err := s.engine.Write(ctx, func(tx Tx) error {
		return tx.QueryRowContext(ctx, `
			UPDATE controllers SET sessions = sessions + 1, firmware = $1, last_contact_at = $2
			WHERE id = $3 AND revoked_at IS NULL RETURNING sessions`, firmware, ms(now), string(id)).Scan(&number)
	})
	switch {
	case errNone(err):
		return 0, nil, notFound("controller")
	case err != nil:
		return 0, nil, internal("begin session", err)
	}
	doors := map[int]lintel.ID{}
	err = s.reads.each(ctx, `SELECT number, id FROM doors WHERE controller_id = $1`, []any{string(id)},
		func(rows *sql.Rows) error {
			var n int
			var door lintel.ID
			err := rows.Scan(&n, &door)
			doors[n] = door
			return err
		})
	if err != nil {
		return 0, nil, internal("session doors", err)
	}
	return number, doors, nil
}

// EndSession notes when a controller was last heard.
func (s *Store) EndSession(ctx context.Context, id lintel.ID, now time.Time) error {
	_, err := s.exec(ctx, `UPDATE controllers SET last_contact_at = $1 WHERE id = $2`, ms(now), string(id))
	if err != nil {
		return internal("end session", err)
	}
	return nil
}

// Device is a controller with its owner's name and its doors, as sync lists it.
type Device struct {
	lintel.Controller
	OwnerEmail      string
	OwnerGivenName  string
	OwnerFamilyName string
	Revoked         bool
	Transferred     bool          // to another owner, under another id
	Doors           []lintel.Door // by number
}

// Devices lists a person's controllers, oldest first. One that somebody else has
// taken over is not there any more.
func (s *Store) Devices(ctx context.Context, person lintel.ID) ([]Device, error) {
	return s.devices(ctx, `WHERE c.owner_id = $1 AND c.transferred_at IS NULL`, string(person))
}

// Device finds a controller; CodeNotFound when there is none, or somebody has taken it over.
func (s *Store) Device(ctx context.Context, id lintel.ID) (Device, error) {
	devices, err := s.devices(ctx, `WHERE c.id = $1 AND c.transferred_at IS NULL`, string(id))
	if err == nil && len(devices) != 1 {
		err = notFound("controller")
	}
	if err != nil {
		return Device{}, err
	}
	return devices[0], nil
}

// AllDevices lists every controller, oldest first.
func (s *Store) AllDevices(ctx context.Context) ([]Device, error) {
	return s.devices(ctx, ``)
}

func (s *Store) devices(ctx context.Context, where string, args ...any) ([]Device, error) {
	var devices []Device
	err := s.reads.each(ctx, `
		SELECT c.id, c.owner_id, c.name, c.firmware, c.driver, c.settings, c.created_at, c.last_contact_at, c.revoked_at, c.transferred_at,
			p.email, p.given_name, p.family_name,
			d.id, d.number, d.name, d.value, d.source, d.sensor_lost, d.since, d.observed_at, d.changed_at
		FROM controllers c
		JOIN people p ON p.id = c.owner_id
		JOIN doors d ON d.controller_id = c.id
		`+where+`
		ORDER BY c.created_at, c.name, c.id, d.number`, args,
		func(rows *sql.Rows) error {
			var v Device
			var d lintel.Door
			var created int64
			var contact, revoked, transferred, since, observed, changed sql.NullInt64
			err := rows.Scan(&v.ID, &v.OwnerID, &v.Name, &v.Firmware, &v.Driver, &v.Settings, &created, &contact, &revoked, &transferred,
				&v.OwnerEmail, &v.OwnerGivenName, &v.OwnerFamilyName,
				&d.ID, &d.Number, &d.Name, &d.State.Value, &d.State.Source, &d.State.SensorLost, &since, &observed, &changed)
			if err != nil {
				return fmt.Errorf("device: %w", err)
			}
			v.CreatedAt, v.LastContactAt, v.Revoked = at(created), nullAt(contact), revoked.Valid
			v.Transferred = transferred.Valid
			d.ControllerID = v.ID
			d.State.Since, d.State.ObservedAt, d.ChangedAt = nullAt(since), nullAt(observed), nullAt(changed)
			if n := len(devices); n == 0 || devices[n-1].ID != v.ID {
				devices = append(devices, v)
			}
			last := &devices[len(devices)-1]
			last.Doors = append(last.Doors, d)
			return nil
		})
	if err != nil {
		return nil, internal("devices", err)
	}
	return devices, nil
}
