package httpapi

import (
	"net/http"
	"net/url"
	"time"

	"lintel"
	"lintel/api"
	"lintel/store"
)

// maxHistory is how many lines an answer has. The deployed services know no pages: older
// lines are found by dates.
const maxHistory = 1000

// The channels of lines without an app.
const (
	channelSensor = "Door Sensor" // nobody is known to have asked
	channelToken  = "Lintel"      // asked with a token that an administrator made
)

// toggleHistory lists what happened to the bearer's doors.
func (v *v1) toggleHistory(r *http.Request) answer {
	subject, refusal := v.reader(r)
	if refusal != nil {
		return *refusal
	}
	q, ok := readHistory(r.URL.Query(), v.cfg.Now())
	if !ok {
		return v.fail(http.StatusBadRequest)
	}
	q.Owner, q.Limit = subject.PersonID, maxHistory
	toggles, err := v.store.Toggles(r.Context(), q)
	if err != nil {
		return v.failed(r, err)
	}
	body := api.V1HistoryAnswer{Success: true, Timestamp: v.cfg.Now().UnixMilli(), Data: api.V1History{ToggleEvents: []api.V1ToggleEvent{}}}
	for _, t := range toggles {
		body.Data.ToggleEvents = append(body.Data.ToggleEvents, v1Toggle(t))
	}
	return answer{status: http.StatusOK, body: body}
}

// readHistory reads the query: history_type (door, device or user, of which nothing
// depends, since all lines are the bearer's), door_id, device_id, start_date and end_date,
// both included and in UTC. A name that is given twice is malformed.
func readHistory(query url.Values, now time.Time) (q store.ToggleQuery, ok bool) {
	q.From, q.Until = time.UnixMilli(0), now.Add(24*time.Hour)
	for name, values := range query {
		if len(values) != 1 {
			return q, false
		}
		var err error
		value := values[0]
		switch name {
		case "history_type":
			if value != "door" && value != "device" && value != "user" {
				return q, false
			}
		case "door_id":
			q.Door, err = lintel.ParseID(value)
		case "device_id":
			q.Controller, err = lintel.ParseID(value)
		case "start_date":
			q.From, err = time.Parse(time.DateOnly, value)
		case "end_date":
			q.Until, err = time.Parse(time.DateOnly, value)
			q.Until = q.Until.AddDate(0, 0, 1)
		}
		if err != nil {
			return q, false
		}
	}
	return q, true
}

func v1Toggle(t store.Toggle) api.V1ToggleEvent {
	line := api.V1ToggleEvent{
		DoorID: string(t.DoorID), DoorName: t.DoorName, DoorState: api.V1Open, WasSuccess: t.Succeeded, Channel: t.App,
		User:      api.V1ToggledUser{ID: string(t.Person.ID), FirstName: t.Person.GivenName, LastName: t.Person.FamilyName, Email: t.Person.Email},
		ToggledAt: *v1Time(t.At),
	}
	if t.Value == lintel.ValueClosed {
		line.DoorState = api.V1Closed
	}
	switch {
	case line.Channel != "":
	case t.Person.ID != "":
		line.Channel = channelToken
	default:
		line.Channel = channelSensor
	}
	return line
}

// userInfo says who the bearer is: a name, and nothing that an app has no use for.
func (v *v1) userInfo(r *http.Request) answer {
	subject, refusal := v.reader(r)
	if refusal != nil {
		return *refusal
	}
	person, err := v.store.Person(r.Context(), subject.PersonID)
	if err != nil {
		return v.failed(r, err)
	}
	return answer{status: http.StatusOK, body: api.V1UserInfoAnswer{Success: true, Timestamp: v.cfg.Now().UnixMilli(), Data: api.V1Person{
		ID: string(person.ID), FirstName: person.GivenName, LastName: person.FamilyName,
	}}}
}
