package httpapi

import (
	"strings"
	"time"

	"lintel"
	"lintel/api"
	"lintel/store"
)

// openAlertDelay is what the deployed services show, in seconds.
const openAlertDelay = 900

func (v *v1) device(d store.Device) api.V1Device {
	out := api.V1Device{
		ID: string(d.ID), Active: !d.Revoked, Registered: !d.LastContactAt.IsZero(), Entities: len(d.Doors),
		OwnerFirstName: d.OwnerGivenName, OwnerLastName: d.OwnerFamilyName,
		SoftwareVersion: d.Firmware,
		BlackboxCode:    strings.ReplaceAll(string(d.ID), "-", "")[:16],
		OpenAlertDelay:  openAlertDelay, Doors: []api.V1Door{},
	}
	contact := d.LastContactAt
	for _, door := range d.Doors {
		state, fresh := v.doors.State(door)
		if state.ObservedAt.After(contact) {
			contact = state.ObservedAt
		}
		out.Doors = append(out.Doors, v1Door(door, !d.Revoked, state, fresh))
	}
	out.LastContact = v1Time(contact)
	return out
}

func v1Door(d lintel.Door, active bool, state lintel.DoorState, fresh bool) api.V1Door {
	return api.V1Door{
		ID: string(d.ID), EntityNumber: d.Number, Name: d.Name, Active: active,
		State: v1State(state, fresh),
		StateDetail: api.V1StateDetail{
			Value: state.Value, Source: state.Source, Fresh: fresh,
			Since: rfc3339(state.Since), ObservedAt: rfc3339(state.ObservedAt),
		},
		LastToggled: v1Time(d.ChangedAt), UserRelationship: "Owner", Sensor: !state.SensorLost,
	}
}

// v1State says CLOSED only on fresh evidence that the door is closed. Everything
// else, unknown and stale included, is OPEN: nobody may go to bed on a guess.
func v1State(s lintel.DoorState, fresh bool) string {
	if fresh && s.Value == lintel.ValueClosed && s.Source != lintel.SourceInferred && !s.SensorLost {
		return api.V1Closed
	}
	return api.V1Open
}

// v1Time is the deployed services' form, which names no zone: it is UTC.
func v1Time(t time.Time) *string { return formatted(t, "2006-01-02 15:04:05") }

func rfc3339(t time.Time) *string { return formatted(t, "2006-01-02T15:04:05.000Z") }

func formatted(t time.Time, layout string) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(layout)
	return &s
}
