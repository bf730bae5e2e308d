package store

import (
	"context"
	"database/sql"

	"lintel"
)

// RecordEvent stores a door's change and, where no later report has been
// stored, the door's state with it. A repeated event changes nothing.
func (s *Store) RecordEvent(ctx context.Context, controller lintel.ID, e lintel.DoorEvent) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		result, err := tx.ExecContext(ctx, `
			INSERT INTO door_events (controller_id, event, door_id, session, sequence, value, source, sensor_lost,
				cause, command_id, reason, occurred_at, received_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
			ON CONFLICT (controller_id, event) DO NOTHING`,
			string(controller), e.ID, string(e.DoorID), e.Session, e.Sequence, e.State.Value, e.State.Source, e.State.SensorLost,
			e.Cause, string(e.CommandID), e.Reason, ms(e.OccurredAt), ms(e.ReceivedAt))
		if err != nil {
			return err
		}
		added, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if added == 0 {
			return nil
		}
		changed := sql.NullInt64{Int64: ms(e.ReceivedAt), Valid: true}
		return setState(ctx, tx, e.DoorID, e.Session, e.Sequence, e.State, changed)
	})
	if err != nil {
		return internal("record event", err)
	}
	return nil
}

// RecordState stores a door's state without a change, unless a later report
// has been stored.
func (s *Store) RecordState(ctx context.Context, door lintel.ID, session, sequence int64, state lintel.DoorState) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		return setState(ctx, tx, door, session, sequence, state, sql.NullInt64{})
	})
	if err != nil {
		return internal("record state", err)
	}
	return nil
}

// setState stores a door's state unless a later report has been stored; changed
// is when it changed, NULL for a report that is no change.
func setState(ctx context.Context, tx Tx, door lintel.ID, session, sequence int64, state lintel.DoorState, changed sql.NullInt64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE doors SET value = $1, source = $2, sensor_lost = $3, since = $4, observed_at = $5, session = $6, sequence = $7,
			changed_at = COALESCE($8, changed_at)
		WHERE id = $9 AND (session < $6 OR session = $6 AND sequence < $7)`,
		state.Value, state.Source, state.SensorLost, nullMS(state.Since), nullMS(state.ObservedAt), session, sequence, changed, string(door))
	return err
}

// Events lists a door's latest changes, the latest first. limit is at least 1.
func (s *Store) Events(ctx context.Context, door lintel.ID, limit int) ([]lintel.DoorEvent, error) {
	var events []lintel.DoorEvent
	err := s.reads.each(ctx, `
		SELECT event, door_id, session, sequence, value, source, sensor_lost, cause, command_id, reason, occurred_at, received_at
		FROM door_events WHERE door_id = $1 ORDER BY session DESC, sequence DESC LIMIT $2`, []any{string(door), int64(limit)},
		func(rows *sql.Rows) error {
			var e lintel.DoorEvent
			var occurred, received int64
			err := rows.Scan(&e.ID, &e.DoorID, &e.Session, &e.Sequence, &e.State.Value, &e.State.Source, &e.State.SensorLost,
				&e.Cause, &e.CommandID, &e.Reason, &occurred, &received)
			e.OccurredAt, e.ReceivedAt = at(occurred), at(received)
			events = append(events, e)
			return err
		})
	if err != nil {
		return nil, internal("events", err)
	}
	return events, nil
}
