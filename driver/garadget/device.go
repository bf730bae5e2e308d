package garadget

import (
	"encoding/json"

	"lintel/door"
	"lintel/driver"
)

// maxStatus is far more than the firmware can send in one packet (511 bytes).
const maxStatus = 4 << 10

// readings are what the words of a status say of the detector at the closed end
// (Garadget firmware 1.26).
var readings = map[string]door.Reading{
	"closed":      door.At,
	"open":        door.Away,
	"opening":     door.Away,
	"closing":     door.Away,
	"stopped":     door.Away,
	"unknown":     door.Lost,
	"initialized": door.Lost,
}

type device struct {
	settings driver.Settings
	heard    bool         // a status on this connection
	shows    door.Reading // what the detector last showed
	word     string       // the last status
}

// Door is a one-button opener with a sensor at the closed end.
func (d *device) Door() door.Config {
	return door.Config{Opener: door.OneButton, ClosedSensor: true, Travel: d.settings.Travel}
}

// Connected asks for the status, which the device otherwise publishes at changes.
func (d *device) Connected() []driver.Message { return d.command("get-status") }

// Receive takes the detector's reading out of a status. The first status of a
// connection is not believed when it is "open", because that is what the device
// says from its start until it has read the detector; Connected asks again. Its
// time and signal are as old as the status is, and mean nothing here.
func (d *device) Receive(m driver.Message) []door.Input {
	if m.Topic != topic(d.settings, "status") || len(m.Payload) > maxStatus {
		return nil
	}
	var s struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(m.Payload, &s) != nil {
		return nil
	}
	reading, ok := readings[s.Status]
	if !ok {
		return nil
	}
	first := !d.heard
	d.heard = true
	if first && s.Status == "open" {
		return nil
	}
	d.shows, d.word = reading, s.Status
	return []door.Input{door.Sensed{End: door.ClosedEnd, Reading: reading}}
}

// Actuate opens a door that is closed, and closes one that the device takes for
// open where nothing else moves it. With every other status the device presses the
// button as often as it guesses to be right.
func (d *device) Actuate(e door.Effect) ([]driver.Message, bool) {
	switch {
	case e != door.Pulse:
		return nil, false
	case d.shows == door.At:
		return d.command("open"), true
	case d.settings.Sole && d.word == "open":
		return d.command("close"), true
	}
	return nil, false
}

func (d *device) command(payload string) []driver.Message {
	return []driver.Message{{Topic: topic(d.settings, "command"), Payload: []byte(payload)}}
}
