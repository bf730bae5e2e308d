package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/door"
	"lintel/driver"
	"lintel/sim/firmware"
)

// plugged is an emulated firmware at the service's MQTT endpoint.
type plugged struct {
	house
	*firmware.Device
	door lintel.Door
	id   lintel.ID
}

// emulated are the firmwares as somebody would enrol them.
func emulated() map[string]demoVendor {
	found := map[string]demoVendor{}
	for _, d := range vendorHouse() {
		found[d.vendor.driver] = *d.vendor
	}
	found["shelly1"] = demoVendor{"shelly1", driver.Settings{Base: "shelly1-68C63AFA0C2B", Sensor: true, Sole: true}, firmware.Shelly1}
	return found
}

// plug enrols a device and powers it on.
func (h house) plug(t *testing.T, kind string, open bool, faults firmware.Faults) plugged {
	t.Helper()
	v := emulated()[kind]
	v.settings.Travel = time.Second
	settings, err := json.Marshal(v.settings)
	if err != nil {
		t.Fatal(err)
	}
	devices, err := h.store.AllDevices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.controller, err = enrolAs(t.Context(), h.store, lintel.Controller{OwnerID: devices[0].OwnerID, Name: t.Name(), Driver: kind, Settings: string(settings)}, []string{"Left"})
	if err != nil {
		t.Fatal(err)
	}
	id, doorID := lintel.ID(h.controller.ControllerID), lintel.ID(h.controller.Doors[0].DoorID)
	d := v.emulate(firmware.Config{Broker: h.mqtt, Username: h.controller.ControllerID, Password: h.controller.Secret,
		Base: v.settings.Base, Entity: v.settings.Entity, Travel: 300 * time.Millisecond, Faults: faults, Now: time.Now})
	if open {
		d.Door().Put(1, 1)
	}
	p := plugged{h, d, lintel.Door{ID: doorID, ControllerID: id, Number: 1}, id}
	runUntilTheEnd(t, d.Run)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the history says %s", p.soFar(t))
		}
	})
	return p
}

// says waits until the service shows a fresh value.
func (p plugged) says(t *testing.T, value string) {
	t.Helper()
	eventually(t, "the door to be "+value, func() bool {
		s, fresh := p.control.State(p.door)
		return fresh && s.Value == value
	})
}

// asks toggles and wants a status.
func (p plugged) asks(t *testing.T, state string, want int) {
	t.Helper()
	if got := p.toggle(t, state); got != want {
		t.Errorf("asked to be %s: %d, want %d", state, got, want)
	}
}

// history waits until it ends with something, and returns it in full: each value with
// its failure.
func (p plugged) history(t *testing.T, end string) (all string) {
	t.Helper()
	eventually(t, "the history to end with "+end, func() bool {
		all = p.soFar(t)
		return strings.HasSuffix(all, end)
	})
	return all
}

func (p plugged) soFar(t *testing.T) string {
	t.Helper()
	events, err := p.store.Events(context.Background(), p.door.ID, 100)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(events)
	var said []string
	for _, e := range events {
		said = append(said, strings.TrimSuffix(e.State.Value+":"+e.Reason, ":"))
	}
	return strings.Join(said, " ")
}

// moved wants what the opener was made to do, in order.
func (p plugged) moved(t *testing.T, want ...door.Effect) {
	t.Helper()
	var got []door.Effect
	for _, a := range p.Device.Door().Log() {
		got = append(got, a.Effect)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the opener was made to %v, want %v", got, want)
	}
}

// ignored is what becomes of a command that firmware takes and does nothing about.
var ignored = map[string]struct {
	open bool   // the door is open, and asked to close; else the other way
	ends string // of the history
}{
	"ratgdo":     {true, "closing unknown open:did_not_move"}, // which is how it answers a question
	"esphome":    {true, "closing unknown:not_reported"},
	"opengarage": {true, "closing open:did_not_move"},
	"garadget":   {false, "opening closed:did_not_move"},
	"tasmota":    {false, "opening closed:did_not_move"},
	"shelly":     {false, "opening closed:did_not_move"},
	"shelly1":    {false, "opening closed:did_not_move"},
}

// TestIgnoredCommand: a door is not called closed for having been told to close, and the
// history says what came of it.
func TestIgnoredCommand(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	together(t, emulated(), func(t *testing.T, kind string, _ demoVendor) {
		want := ignored[kind]
		p := h.plug(t, kind, want.open, firmware.Faults{Ignores: true})
		from, to := "closed", "OPEN"
		if want.open {
			from, to = "open", "CLOSED"
		}
		p.says(t, from)
		p.asks(t, to, http.StatusOK)
		all := p.history(t, want.ends)
		if want.open && strings.Contains(all, "closed") {
			t.Errorf("the history says %s", all)
		}
		p.moved(t)
		p.says(t, from) // of ESPHome, once its connection was reset
	})
}

// together runs a row as a test of its own, all of them at once: they mostly wait.
func together[T any](t *testing.T, rows map[string]T, run func(t *testing.T, name string, row T)) {
	var running sync.WaitGroup
	defer running.Wait()
	for name, row := range rows {
		running.Go(func() { t.Run(name, func(t *testing.T) { run(t, name, row) }) })
	}
}

// cut ends the device's connection as the service does, and waits until it has come back.
func (p plugged) cut(t *testing.T) {
	t.Helper()
	before, err := p.store.Device(t.Context(), p.id)
	if err != nil || !p.broker.End(p.id) {
		t.Fatalf("%s is not connected: %v", p.id, err)
	}
	eventually(t, "the device to come back", func() bool {
		now, err := p.store.Device(t.Context(), p.id)
		return err == nil && now.LastContactAt.After(before.LastContactAt) && p.control.Connected(p.id)
	})
}

// TestFaultyFirmware: with each fault that a firmware is known for, a request ends as
// docs/hardware.md says: the door goes the way that was asked for, or nothing is sent.
func TestFaultyFirmware(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	together(t, faultyFirmware, func(t *testing.T, name string, row faulty) {
		kind, _, _ := strings.Cut(name, " ")
		row.then(t, h.plug(t, kind, row.open, row.faults))
	})
}

// faulty is a firmware with a fault, and what becomes of requests.
type faulty struct {
	open   bool // the door is open at first
	faults firmware.Faults
	then   func(t *testing.T, p plugged)
}

// faultyFirmware begins each name with the driver's.
var faultyFirmware = map[string]faulty{
	"ratgdo guards": {faults: firmware.Faults{Guard: firmware.RatgdoGuard}, then: func(t *testing.T, p plugged) {
		eventually(t, "the device to connect", func() bool { return p.control.Connected(p.id) })
		p.asks(t, "OPEN", http.StatusPreconditionRequired) // nobody knows where the door is
		p.says(t, "closed")
		p.opens(t, door.Pulse)
		p.cut(t) // it now obeys what somebody may have left for it: nothing
		p.says(t, "open")
		p.moved(t, door.Pulse)
	}},
	"ratgdo has the old connection's will last": {faults: firmware.Faults{LateWill: true}, then: func(t *testing.T, p plugged) {
		p.says(t, "closed")
		p.cut(t)
		p.says(t, "closed")
		p.opens(t, door.Pulse)
	}},
	"ratgdo loses reports":   {faults: firmware.Faults{LosesReports: true}, then: opensOnceAsked(door.Pulse)},
	"garadget loses reports": {faults: firmware.Faults{LosesReports: true}, then: opensOnceAsked(door.Pulse)},
	"tasmota loses reports":  {faults: firmware.Faults{LosesReports: true}, then: opensOnceAsked(door.Pulse)},
	"shelly loses reports":   {faults: firmware.Faults{LosesReports: true}, then: opensOnceAsked(door.Pulse)},
	"shelly1 loses reports":  {faults: firmware.Faults{LosesReports: true}, then: opensOnceAsked(door.Pulse)},
	"esphome loses reports": {open: true, faults: firmware.Faults{LosesReports: true}, then: func(t *testing.T, p plugged) {
		p.says(t, "open")
		p.asks(t, "CLOSED", http.StatusOK)
		p.history(t, "closing unknown:not_reported")
		p.says(t, "closed") // once its connection was reset
		p.isClosed(t)
		p.moved(t, door.DriveClose)
	}},
	"esphome warns": {open: true, faults: firmware.Faults{Alarm: firmware.OpenGarageAlarm}, then: func(t *testing.T, p plugged) {
		p.says(t, "open")
		p.asks(t, "CLOSED", http.StatusOK)
		p.says(t, "closed")
		p.isClosed(t)
		p.history(t, "closing closed")
		p.moved(t, door.DriveClose)
	}},
	"opengarage warns": {open: true, faults: firmware.Faults{Alarm: firmware.OpenGarageAlarm}, then: func(t *testing.T, p plugged) {
		p.says(t, "open")
		p.asks(t, "CLOSED", http.StatusOK)
		p.says(t, "closed")
		p.isClosed(t)
		p.history(t, "closing closed")
		p.opens(t, door.DriveClose, door.DriveOpen)
	}},
	"opengarage waits with its reports": {faults: firmware.Faults{Waits: true}, then: func(t *testing.T, p plugged) {
		eventually(t, "the device to connect", func() bool { return p.control.Connected(p.id) })
		p.asks(t, "OPEN", http.StatusPreconditionRequired)
		p.says(t, "closed")
		p.opens(t, door.DriveOpen)
	}},
	"opengarage loses reports": {faults: firmware.Faults{LosesReports: true}, then: func(t *testing.T, p plugged) {
		p.says(t, "closed") // by OUT/STATE
		p.opens(t, door.DriveOpen)
		p.asks(t, "CLOSED", http.StatusPreconditionRequired) // it has not said that it speaks Security+
		p.moved(t, door.DriveOpen)
	}},
	"garadget has old times": {faults: firmware.Faults{StaleTime: 40 * time.Hour}, then: func(t *testing.T, p plugged) {
		p.says(t, "closed")
		p.opens(t, door.Pulse)
	}},
	"tasmota sends parts": {faults: firmware.Faults{Deltas: true}, then: func(t *testing.T, p plugged) {
		p.says(t, "closed")
		p.opens(t, door.Pulse)
	}},
	"shelly sends parts": {faults: firmware.Faults{Deltas: true}, then: func(t *testing.T, p plugged) {
		p.says(t, "closed")
		p.opens(t, door.Pulse)
	}},
}

// opens asks a closed door to open, and wants it to, once.
func (p plugged) opens(t *testing.T, all ...door.Effect) {
	t.Helper()
	p.asks(t, "OPEN", http.StatusOK)
	p.says(t, "open")
	if p.Closed() {
		t.Error("the door is closed")
	}
	p.moved(t, all...)
	if said := p.history(t, "open"); strings.Contains(said, ":") {
		t.Errorf("the history says %s", said)
	}
}

// opensOnceAsked is opens for firmware whose door has long moved when it is asked.
func opensOnceAsked(effect door.Effect) func(t *testing.T, p plugged) {
	return func(t *testing.T, p plugged) {
		p.says(t, "closed")
		p.opens(t, effect)
	}
}

func (p plugged) isClosed(t *testing.T) {
	t.Helper()
	if !p.Closed() {
		t.Error("the door is called closed, and is not")
	}
}
