package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The names of sync as the deployed services have them, and state_detail.
var (
	deviceNames = strings.Fields(`active number_of_entities_controlled owner_first_name owner_last_name registered
		bluetooth_onboard bluetooth_mac_address last_contact time_before_door_open_alert blackbox_code software_version id doors`)
	doorNames = strings.Fields(`entity_number name active state last_toggled user_relationship id image light sensor
		bluetooth_sensor bluetooth_sensor_mac_address bluetooth_sensor_battery_level door_auto_close_enabled door_auto_close_delay state_detail`)
	detailNames = strings.Fields(`value since observed_at source fresh`)
)

type object = map[string]json.RawMessage

// TestNamesOfSync holds sync to exactly its names: clients were written for them.
func TestNamesOfSync(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	answer := parsed[object](t, string(do(t, "POST", d.BaseURL+syncPath, d.Token, "").Body))
	sameNames(t, "sync", answer, "devices")
	devices := parsed[[]object](t, string(answer["devices"]))
	if len(devices) != len(d.Doors) {
		t.Fatalf("%d devices are listed, want %d", len(devices), len(d.Doors))
	}
	for _, device := range devices {
		sameNames(t, "device", device, deviceNames...)
		doors := parsed[[]object](t, string(device["doors"]))
		if len(doors) != 1 {
			t.Fatalf("the device has %d doors: %s", len(doors), device["doors"])
		}
		sameNames(t, "door", doors[0], doorNames...)
		sameNames(t, "state_detail", parsed[object](t, string(doors[0]["state_detail"])), detailNames...)
	}
}

// TestValuesOfSync checks each field's form, in a house where all is known.
func TestValuesOfSync(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	const uuid, moment = `"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`, `"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d"`
	const utc = `"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`
	forms := map[string]map[string]string{
		"device": {
			"id": uuid, "active": `true`, "registered": `true`, "number_of_entities_controlled": `1`, "owner_first_name": `"Dana"`,
			"owner_last_name": `"Demo"`, "bluetooth_onboard": `false`, "bluetooth_mac_address": `""`, "last_contact": moment,
			"time_before_door_open_alert": `900`, "blackbox_code": `"[0-9a-f]{16}"`, "software_version": `".+"`,
		},
		"door": {
			"id": `"` + d.Doors[0].DoorID + `"`, "entity_number": `1`, "name": `"` + d.Doors[0].Name + `"`, "active": `true`, "state": `"CLOSED"`,
			"last_toggled": `null|` + moment, "user_relationship": `"Owner"`, "image": `""`, "light": `false`, "sensor": `true`,
			"bluetooth_sensor": `false`, "bluetooth_sensor_mac_address": `""`, "bluetooth_sensor_battery_level": `0`,
			"door_auto_close_enabled": `false`, "door_auto_close_delay": `0`,
		},
		"state_detail": {"value": `"closed"`, "source": `"sensor"`, "fresh": `true`, "since": utc, "observed_at": utc},
	}
	answer := parsed[struct{ Devices []object }](t, string(do(t, "GET", d.BaseURL+syncPath, d.Token, "").Body))
	var device, door object
	for _, device = range answer.Devices {
		door = parsed[[]object](t, string(device["doors"]))[0]
		if string(door["id"]) == `"`+d.Doors[0].DoorID+`"` {
			break
		}
	}
	for what, fields := range map[string]object{"device": device, "door": door, "state_detail": parsed[object](t, string(door["state_detail"]))} {
		for name, form := range forms[what] {
			if !regexp.MustCompile(`^(` + form + `)$`).Match(fields[name]) {
				t.Errorf("%s: %s is %s, not of the form %s", what, name, fields[name], form)
			}
		}
	}
}

// TestSyncByGetAndPost: the deployed services document one each.
func TestSyncByGetAndPost(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	get := do(t, "GET", d.BaseURL+syncPath, d.Token, "")
	for _, body := range []string{"", "{}", "not read"} {
		if post := do(t, "POST", d.BaseURL+syncPath, d.Token, body); post.Status != get.Status || unobserved(post.Body) != unobserved(get.Body) {
			t.Errorf("POST %q: got %d %s\nGET: %d %s", body, post.Status, post.Body, get.Status, get.Body)
		}
	}
	// No body is read, so none needs a media type.
	if r := do(t, "POST", d.BaseURL+syncPath, d.Token, "", "Content-Type", ""); r.Status != http.StatusOK {
		t.Errorf("without a Content-Type: got %d", r.Status)
	}
}

// TestStateWhileADoorMoves: everything but closed by a sensor is OPEN.
func TestStateWhileADoorMoves(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	door := d.door("works").DoorID
	d.awaitDoor(door, "closed/sensor/true/CLOSED")
	for _, way := range []struct{ state, through, to string }{
		{"OPEN", "opening", "open/sensor/true/OPEN"},
		{"CLOSED", "closing", "closed/sensor/true/CLOSED"},
	} {
		if r := d.toggle(door, way.state); r.Status != http.StatusOK {
			t.Fatalf("got %d %s", r.Status, r.Body)
		}
		seen := map[string]bool{}
		eventually(t, "the door to be "+way.to, func() bool {
			now := d.listed(door)
			seen[now.StateDetail.Value] = true
			if closed := now.String() == "closed/sensor/true/CLOSED"; (now.State == "CLOSED") != closed {
				t.Errorf("the door is shown as %s", now)
			}
			return now.String() == way.to && seen[way.through]
		})
	}
	if d.listed(door).LastToggled == nil {
		t.Error("last_toggled is null after two movements")
	}
	// What is seen is known before it is on disk.
	eventually(t, "the history to hold the four changes", func() bool { return len(d.events(door)) >= 4 })
}

// TestAControllerThatGoesAway leaves a door that nobody knows to be closed.
func TestAControllerThatGoesAway(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	file := made.file(t)
	h.awaitDoor(made.door(), "unknown/inferred/false/OPEN") // never heard of
	fleet := func() *process { return start(t, "sim", "--broker", h.MQTT, "--credentials", file) }
	first := fleet()
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
	first.kill()
	h.awaitDoor(made.door(), "closed/sensor/false/OPEN")
	if r := h.toggle(made.door(), "CLOSED"); r.Status != http.StatusNotFound {
		t.Errorf("the door of an absent controller: got %d %s", r.Status, r.Body)
	}
	second := fleet()
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
	if err := second.interrupt(); err != nil {
		t.Errorf("the fleet ended with %v", err)
	}
	h.awaitDoor(made.door(), "closed/sensor/false/OPEN")
}

// TestWhatCountsAsClosed goes through what a controller may report.
func TestWhatCountsAsClosed(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made := h.addController(h.Email, "Garage")
	c := connect(t, h.MQTT, made)
	rows := []struct{ value, source, sensor, want string }{
		{"closed", "sensor", "ok", "closed/sensor/true/CLOSED"},
		{"closed", "opener", "ok", "closed/opener/true/CLOSED"},
		{"closed", "inferred", "ok", "closed/inferred/true/OPEN"},
		{"closed", "sensor", "lost", "closed/sensor/false/OPEN"},
		{"closing", "sensor", "ok", "closing/sensor/true/OPEN"},
		{"opening", "sensor", "ok", "opening/sensor/true/OPEN"},
		{"stopped", "inferred", "ok", "stopped/inferred/true/OPEN"},
		{"open", "sensor", "ok", "open/sensor/true/OPEN"},
		{"unknown", "inferred", "ok", "unknown/inferred/false/OPEN"},
		{"unknown", "inferred", "lost", "unknown/inferred/false/OPEN"},
	}
	for _, row := range rows {
		c.report(row.value, row.source, row.sensor)
		if shown := h.listed(made.door()).String(); shown != row.want {
			t.Errorf("%s by %s, sensor %s: shown as %s, want %s", row.value, row.source, row.sensor, shown, row.want)
		}
	}
	c.report("closed", "sensor", "ok")
	c.leave()
	h.awaitDoor(made.door(), "closed/sensor/false/OPEN")
}
