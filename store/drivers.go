package store

import (
	"context"
	"database/sql"

	"lintel"
)

// Driven lists the controllers that have a driver and are not revoked, in the order of
// their enrolment: the ID, the driver and its settings.
func (s *Store) Driven(ctx context.Context) ([]lintel.Controller, error) {
	var found []lintel.Controller
	err := s.reads.each(ctx, `
		SELECT id, driver, settings FROM controllers WHERE driver <> '' AND revoked_at IS NULL ORDER BY created_at, id`, nil,
		func(rows *sql.Rows) error {
			var c lintel.Controller
			err := rows.Scan(&c.ID, &c.Driver, &c.Settings)
			found = append(found, c)
			return err
		})
	if err != nil {
		return nil, internal("controllers with a driver", err)
	}
	return found, nil
}
