package web

import (
	"lintel"
)

// controllersData is what the page about controllers shows.
type controllersData struct {
	Controllers []controllerRow
	Events      []eventRow
}

// controllerRow is a controller in the list.
type controllerRow struct {
	Name    string
	Doors   []string
	Kind    string
	Heard   moment
	Revoked bool
}

// eventRow is something that happened to a controller.
type eventRow struct {
	Name   string
	Words  string
	Detail string
	At     moment
}

// maxEvents is how many the page shows.
const maxEvents = 50

// eventWords say what happened to a controller, after its name.
var eventWords = map[lintel.ControllerEventKind]string{
	lintel.SecondConnection: "connected a second time, and the first connection was ended. " +
		"If it did not just lose its network, somebody else has its password: give it a new one.",
	lintel.ControllerClaimed:  "was claimed by hardware with a one-time code.",
	lintel.ControllerRotated:  "was given a new password.",
	lintel.ControllerRevoked:  "was shut out for good.",
	lintel.ControllerReleased: "is offered to another owner.",
	lintel.ControllerKept:     "is no longer offered to another owner.",
	lintel.ControllerTaken:    "was taken over from another owner.",
	lintel.ControllerGone:     "was taken over by another owner.",
}

func (p *Pages) controllers(v *visit) answer {
	devices, err := p.store.Devices(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	events, err := p.store.ControllerEvents(v.Context(), v.person.ID, maxEvents)
	if err != nil {
		return p.failed(v, err)
	}
	var d controllersData
	now := p.cfg.Now()
	for _, device := range devices {
		row := controllerRow{Name: device.Name, Kind: firstOf(device.Driver, device.Firmware), Heard: momentOf(device.LastContactAt, now), Revoked: device.Revoked}
		for _, door := range device.Doors {
			row.Doors = append(row.Doors, door.Name)
		}
		d.Controllers = append(d.Controllers, row)
	}
	for _, e := range events {
		d.Events = append(d.Events, eventRow{e.Name, eventWords[e.Kind], e.Detail, momentOf(e.At, now)})
	}
	return show("controllers", d)
}
