package store

import (
	"context"
	"database/sql"
	"time"

	"lintel"
)

// ReplaceTicket stores a ticket about a controller in the place of all of its kind and
// content. CodeNotFound when there is no such controller.
func (s *Store) ReplaceTicket(ctx context.Context, t lintel.Ticket, controller lintel.ID) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		if err := holdController(ctx, tx, controller); err != nil {
			return err
		}
		if err := dropTickets(ctx, tx, t); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO tickets (hash, kind, holder, content, expires_at) VALUES ($1, $2, $3, $4, $5)`,
			t.Hash, t.Kind, t.Holder, t.Content, ms(t.ExpiresAt))
		return err
	})
	if errNone(err) {
		return notFound("controller")
	}
	if err != nil {
		return internal("replace ticket", err)
	}
	return nil
}

// holdController keeps other transactions about a controller waiting until this one is
// over, where the engine has more than one writer.
func holdController(ctx context.Context, tx Tx, controller lintel.ID) error {
	return onlyOne(tx.ExecContext(ctx, `UPDATE controllers SET name = name WHERE id = $1`, string(controller)))
}

// dropTickets ends all tickets of a ticket's kind and content.
func dropTickets(ctx context.Context, tx Tx, t lintel.Ticket) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM tickets WHERE kind = $1 AND content = $2`, t.Kind, t.Content)
	return err
}

// DropTicketsFor ends all tickets of a kind and content, and returns how many there were.
func (s *Store) DropTicketsFor(ctx context.Context, kind, content string) (int64, error) {
	n, err := s.exec(ctx, `DELETE FROM tickets WHERE kind = $1 AND content = $2`, kind, content)
	if err != nil {
		return 0, internal("drop tickets", err)
	}
	return n, nil
}

// ClaimController gives an owner's controller a new secret for a ticket, which is used
// up with all like it. Of any number of callers one succeeds. CodeNotFound when the ticket
// was used or is over, or the controller is revoked, has a driver, or is not the owner's
// any more, or the owner's account is disabled.
func (s *Store) ClaimController(ctx context.Context, t lintel.Ticket, controller, owner lintel.ID, secretHash string, e lintel.ControllerEvent) error {
	return s.spend(ctx, t, controller, e.At, func(tx Tx) (sql.Result, error) {
		return tx.ExecContext(ctx, `
			UPDATE controllers SET secret_hash = $1 WHERE id = $2 AND owner_id = $3 AND revoked_at IS NULL AND driver = ''
				AND EXISTS (SELECT 1 FROM people p WHERE p.id = $3 AND p.disabled_at IS NULL)`,
			secretHash, string(controller), string(owner))
	}, func(tx Tx) error { return addControllerEvent(ctx, tx, e) })
}

// TransferController ends an owner's controller for a ticket, which is used up, and
// enrols another in its place: nothing that was the old owner's points to the new one.
// Errors are as for ClaimController, also where the new owner's account is disabled.
func (s *Store) TransferController(ctx context.Context, t lintel.Ticket, old, owner lintel.ID,
	c lintel.Controller, secretHash string, doors []lintel.Door) error {
	return s.spend(ctx, t, old, c.CreatedAt, func(tx Tx) (sql.Result, error) {
		return tx.ExecContext(ctx, `
			UPDATE controllers SET revoked_at = $1, transferred_at = $1 WHERE id = $2 AND owner_id = $3 AND revoked_at IS NULL
				AND EXISTS (SELECT 1 FROM people p WHERE p.id = $3 AND p.disabled_at IS NULL)
				AND EXISTS (SELECT 1 FROM people p WHERE p.id = $4 AND p.disabled_at IS NULL)`,
			ms(c.CreatedAt), string(old), string(owner), string(c.OwnerID))
	}, func(tx Tx) error {
		if err := addController(ctx, tx, c, secretHash, doors); err != nil {
			return err
		}
		for id, kind := range map[lintel.ID]lintel.ControllerEventKind{old: lintel.ControllerGone, c.ID: lintel.ControllerTaken} {
			e := lintel.ControllerEvent{ID: lintel.NewID(), ControllerID: id, Kind: kind, At: c.CreatedAt}
			if err := addControllerEvent(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// spend uses a ticket up, changes the one controller that it is for, and does the rest,
// all or nothing.
func (s *Store) spend(ctx context.Context, t lintel.Ticket, controller lintel.ID, now time.Time,
	change func(Tx) (sql.Result, error), rest func(Tx) error) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		if err := holdController(ctx, tx, controller); err != nil {
			return err
		}
		if err := onlyOne(tx.ExecContext(ctx, `
			DELETE FROM tickets WHERE hash = $1 AND kind = $2 AND content = $3 AND expires_at > $4`, t.Hash, t.Kind, t.Content, ms(now))); err != nil {
			return err
		}
		if err := dropTickets(ctx, tx, t); err != nil {
			return err
		}
		if err := onlyOne(change(tx)); err != nil {
			return err
		}
		if err := countCredentials(ctx, tx, controller); err != nil {
			return err
		}
		return rest(tx)
	})
	if errNone(err) {
		return notFound("code")
	}
	if err != nil {
		return internal("spend code", err)
	}
	return nil
}

// onlyOne is sql.ErrNoRows unless a statement has changed one row.
func onlyOne(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed != 1 {
		err = sql.ErrNoRows
	}
	return err
}

// mostEvents is how many events of one kind a controller has within the time that makes
// them one, whatever their details.
const mostEvents = 10

// AddControllerEvent stores what happened to a controller, unless the same, or a lot of
// the kind, happened to it within the time before, which may be 0.
func (s *Store) AddControllerEvent(ctx context.Context, e lintel.ControllerEvent, within time.Duration) error {
	err := s.engine.Write(ctx, func(tx Tx) error {
		var same, all int
		err := tx.QueryRowContext(ctx, `
			SELECT COUNT(CASE WHEN detail = $4 THEN 1 END), COUNT(*) FROM controller_events
			WHERE controller_id = $1 AND kind = $2 AND occurred_at > $3 AND occurred_at <= $5`,
			string(e.ControllerID), string(e.Kind), ms(e.At.Add(-within)), e.Detail, ms(e.At)).Scan(&same, &all)
		if err != nil || same > 0 || all >= mostEvents {
			return err
		}
		return addControllerEvent(ctx, tx, e)
	})
	if err != nil {
		return internal("add controller event", err)
	}
	return nil
}

func addControllerEvent(ctx context.Context, tx Tx, e lintel.ControllerEvent) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO controller_events (id, controller_id, kind, detail, occurred_at) VALUES ($1, $2, $3, $4, $5)`,
		string(e.ID), string(e.ControllerID), string(e.Kind), e.Detail, ms(e.At))
	return err
}

// NamedEvent is an event with the name of its controller.
type NamedEvent struct {
	lintel.ControllerEvent
	Name string
}

// ControllerEvents lists what happened to a person's controllers, the latest first. Of
// those that somebody else has taken over, only that is left. limit is at least 1.
func (s *Store) ControllerEvents(ctx context.Context, person lintel.ID, limit int) ([]NamedEvent, error) {
	var events []NamedEvent
	err := s.reads.each(ctx, `
		SELECT e.id, e.controller_id, c.name, e.kind, e.detail, e.occurred_at
		FROM controller_events e JOIN controllers c ON c.id = e.controller_id
		WHERE c.owner_id = $1 AND (c.transferred_at IS NULL OR e.kind = 'gone')
		ORDER BY e.occurred_at DESC, e.id LIMIT $2`, []any{string(person), int64(limit)},
		func(rows *sql.Rows) error {
			var e NamedEvent
			var occurred int64
			err := rows.Scan(&e.ID, &e.ControllerID, &e.Name, &e.Kind, &e.Detail, &occurred)
			e.At = at(occurred)
			events = append(events, e)
			return err
		})
	if err != nil {
		return nil, internal("controller events", err)
	}
	return events, nil
}
