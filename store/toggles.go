package store

import (
	"context"
	"database/sql"
	"time"

	"lintel"
)

// Toggle is one line of the history that people and apps see: a door that arrived at an
// end, or a request that came to nothing.
type Toggle struct {
	DoorID    lintel.ID
	DoorName  string
	Value     string // open or closed: where the door is, or was asked to go
	At        time.Time
	Succeeded bool
	Person    lintel.Person // who asked; the zero value where nobody is known to have
	App       string        // name of the app that was used; empty for none
}

// ToggleQuery says which lines of a person's own doors are wanted.
type ToggleQuery struct {
	Owner       lintel.ID
	Door        lintel.ID // empty for every door
	Controller  lintel.ID // empty for every controller
	From, Until time.Time // Until is not included
	Limit       int       // at least 1
}

// Toggles lists the history of a person's doors, the latest first. Doors of a controller
// that somebody else has taken over are not among them.
func (s *Store) Toggles(ctx context.Context, q ToggleQuery) ([]Toggle, error) {
	var toggles []Toggle
	err := s.reads.each(ctx, `
		SELECT t.door_id, d.name, t.value, t.at, t.succeeded, COALESCE(p.id, ''), COALESCE(p.given_name, ''), COALESCE(p.family_name, ''),
			COALESCE(p.email, ''), COALESCE(a.name, '')
		FROM (
			SELECT e.door_id AS door_id, e.value AS value, e.received_at AS at, 1 AS succeeded, COALESCE(m.person_id, '') AS person_id,
				COALESCE(m.client_id, '') AS client_id, e.event AS id
			FROM door_events e LEFT JOIN commands m ON m.id = e.command_id AND e.cause = 'command'
			WHERE e.value IN ('open', 'closed') AND e.reason = ''
			UNION ALL
			SELECT m.door_id, CASE m.action WHEN 'open' THEN 'open' ELSE 'closed' END, m.requested_at, 0, m.person_id, m.client_id, m.id
			FROM commands m WHERE m.status NOT IN ('sent', 'taken') AND m.action IN ('open', 'close')
		) t
		JOIN doors d ON d.id = t.door_id
		JOIN controllers c ON c.id = d.controller_id AND c.owner_id = $1 AND c.transferred_at IS NULL
		LEFT JOIN people p ON p.id = t.person_id
		LEFT JOIN clients a ON a.id = t.client_id
		WHERE t.at >= $2 AND t.at < $3 AND ($4 = '' OR d.id = $4) AND ($5 = '' OR c.id = $5)
		ORDER BY t.at DESC, t.id LIMIT $6`,
		[]any{string(q.Owner), ms(q.From), ms(q.Until), string(q.Door), string(q.Controller), int64(q.Limit)},
		func(rows *sql.Rows) error {
			var t Toggle
			var when, succeeded int64
			err := rows.Scan(&t.DoorID, &t.DoorName, &t.Value, &when, &succeeded, &t.Person.ID, &t.Person.GivenName, &t.Person.FamilyName,
				&t.Person.Email, &t.App)
			t.At, t.Succeeded = at(when), succeeded == 1
			toggles = append(toggles, t)
			return err
		})
	if err != nil {
		return nil, internal("toggles", err)
	}
	return toggles, nil
}
