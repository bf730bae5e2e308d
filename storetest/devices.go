package storetest

import (
	"testing"
	"time"

	"lintel"
	"lintel/store"
)

var deviceCases = []testCase{
	{"Devices", "lists a person's own, complete", devices},
	{"Devices", "oldest first, then by name, doors by number", deviceOrder},
	{"Devices", "a revoked controller is listed as such", deviceRevoked},
	{"AllDevices", "lists everybody's", allDevices},
}

// listed is a device as it is listed before its first contact.
func listed(owner lintel.Person, c lintel.Controller, doors []lintel.Door) store.Device {
	d := store.Device{Controller: c, OwnerEmail: owner.Email, OwnerGivenName: owner.GivenName, OwnerFamilyName: owner.FamilyName}
	for _, door := range doors {
		door.State = lintel.DoorState{Value: lintel.ValueUnknown, Source: lintel.SourceInferred, SensorLost: true}
		d.Doors = append(d.Doors, door)
	}
	return d
}

func devices(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	h.addController(t, other, 1)
	list, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	equal(t, list, []store.Device{listed(h.owner, h.controller, h.doors)})
	list, err = h.Devices(t.Context(), lintel.NewID())
	must(t, err)
	equal(t, list, nil)
}

func deviceOrder(t *testing.T, h *house) {
	h.controller.Name = "Garage"
	add := func(name string, created time.Time, numbers ...int) {
		c, doors := newController(h.owner, len(numbers))
		c.Name, c.CreatedAt = name, created
		for i, n := range numbers {
			doors[i].Number = n
		}
		must(t, h.AddController(t.Context(), c, "x", doors))
	}
	add("newest", epoch.Add(time.Millisecond), 3, 1, 2)
	add("shed", epoch, 1)
	add("barn", epoch, 2, 1)
	add("oldest", epoch.Add(-time.Hour), 32, 1)
	list, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	type row struct {
		name    string
		numbers []int
	}
	var got []row
	for _, d := range list {
		r := row{name: d.Name}
		for _, door := range d.Doors {
			r.numbers = append(r.numbers, door.Number)
		}
		got = append(got, r)
	}
	equal(t, got, []row{{"oldest", []int{1, 32}}, {"Garage", []int{1, 2}}, {"barn", []int{1, 2}}, {"shed", []int{1}}, {"newest", []int{1, 2, 3}}})
}

func deviceRevoked(t *testing.T, h *house) {
	h.revokeController(t, h.controller)
	list, err := h.Devices(t.Context(), h.owner.ID)
	must(t, err)
	want := listed(h.owner, h.controller, h.doors)
	want.Revoked = true
	equal(t, list, []store.Device{want})
}

func allDevices(t *testing.T, h *house) {
	other := h.addPerson(t, "other@example.org")
	c, doors := newController(other, 1)
	c.CreatedAt = epoch.Add(-time.Second)
	must(t, h.AddController(t.Context(), c, "x", doors))
	list, err := h.AllDevices(t.Context())
	must(t, err)
	equal(t, list, []store.Device{listed(other, c, doors), listed(h.owner, h.controller, h.doors)})
}
