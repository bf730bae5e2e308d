package store

import (
	"context"
	"database/sql"
	"slices"
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
// that somebody else has taken over are not among them. A door is said to have closed
// only where that was seen. What it costs does not grow with the history: each door's
// lines are read from the latest on.
func (s *Store) Toggles(ctx context.Context, q ToggleQuery) ([]Toggle, error) {
	doors, err := s.texts(ctx, `
		SELECT d.id FROM doors d JOIN controllers c ON c.id = d.controller_id
		WHERE c.owner_id = $1 AND c.transferred_at IS NULL AND ($2 = '' OR d.id = $2) AND ($3 = '' OR c.id = $3)`,
		string(q.Owner), string(q.Door), string(q.Controller))
	if err != nil {
		return nil, internal("toggles", err)
	}
	var toggles []Toggle
	for _, door := range doors {
		if toggles, err = s.doorToggles(ctx, toggles, door, q); err != nil {
			return nil, internal("toggles", err)
		}
	}
	slices.SortStableFunc(toggles, func(a, b Toggle) int { return b.At.Compare(a.At) })
	return toggles[:min(len(toggles), q.Limit)], nil
}

// doorToggles adds the lines of one door: where it arrived, what it was asked and did not
// do, and what was asked and not taken.
func (s *Store) doorToggles(ctx context.Context, toggles []Toggle, door string, q ToggleQuery) ([]Toggle, error) {
	err := s.reads.each(ctx, `
		SELECT d.id, d.name, t.value, t.at, t.succeeded, COALESCE(p.id, ''), COALESCE(p.given_name, ''), COALESCE(p.family_name, ''),
			COALESCE(p.email, ''), COALESCE(a.name, '')
		FROM (
			SELECT * FROM (
				SELECT CASE WHEN e.reason = '' THEN e.value WHEN m.action = 'open' THEN 'open' ELSE 'closed' END AS value, e.received_at AS at,
					CASE WHEN e.reason = '' THEN 1 ELSE 0 END AS succeeded, COALESCE(m.person_id, '') AS person_id, COALESCE(m.client_id, '') AS client_id
				FROM door_events e LEFT JOIN commands m ON m.id = e.command_id AND (e.cause = 'command' OR e.reason <> '')
				WHERE e.door_id = $1 AND e.received_at >= $2 AND e.received_at < $3
					AND (e.reason = '' AND (e.value = 'open' OR e.value = 'closed' AND e.source <> 'inferred' AND e.sensor_lost = $5)
						OR e.reason <> '' AND m.action IN ('open', 'close'))
				ORDER BY e.received_at DESC LIMIT $4) arrived
			UNION ALL
			SELECT * FROM (
				SELECT CASE m.action WHEN 'open' THEN 'open' ELSE 'closed' END, m.requested_at, 0, m.person_id, m.client_id
				FROM commands m
				WHERE m.door_id = $1 AND m.requested_at >= $2 AND m.requested_at < $3
					AND m.status NOT IN ('sent', 'taken') AND m.action IN ('open', 'close')
				ORDER BY m.requested_at DESC LIMIT $4) refused
		) t
		JOIN doors d ON d.id = $1
		LEFT JOIN people p ON p.id = t.person_id
		LEFT JOIN clients a ON a.id = t.client_id
		ORDER BY t.at DESC LIMIT $4`,
		[]any{door, ms(q.From), ms(q.Until), int64(q.Limit), false},
		func(rows *sql.Rows) error {
			var t Toggle
			var when, succeeded int64
			err := rows.Scan(&t.DoorID, &t.DoorName, &t.Value, &when, &succeeded, &t.Person.ID, &t.Person.GivenName, &t.Person.FamilyName,
				&t.Person.Email, &t.App)
			t.At, t.Succeeded = at(when), succeeded == 1
			toggles = append(toggles, t)
			return err
		})
	return toggles, err
}
