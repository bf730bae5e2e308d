package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestVendorHouse opens and closes the door of each emulated device.
func TestVendorHouse(t *testing.T) {
	t.Parallel()
	p := start(t, "demo", "--house", "vendors", "--json", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--data", t.TempDir())
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("demo printed no line: %v\n%s", err, p.stderr)
	}
	s := parsed[site](t, line)
	s.process = p
	ready := parsed[object](t, line)
	sameNames(t, "the line", ready, "base_url", "mqtt_addr", "access_token", "user", "other_access_token", "clients", "doors")
	var drivers, doors []string
	for _, door := range parsed[[]object](t, string(ready["doors"])) {
		sameNames(t, "door", door, "door_id", "name", "hardware_name", "behaviour", "driver")
		drivers = append(drivers, parsed[string](t, string(door["driver"]))+" "+parsed[string](t, string(door["behaviour"])))
		doors = append(doors, parsed[string](t, string(door["door_id"])))
	}
	if got := strings.Join(drivers, ", "); got != "ratgdo works, esphome works, opengarage works, garadget works, tasmota works, shelly works" {
		t.Fatalf("the house has %s", got)
	}
	for i, door := range doors { // at once: the line comes when all are known
		if d := s.listed(door); d.StateDetail.Value != "closed" || !d.StateDetail.Fresh {
			t.Errorf("%s: the door starts %s", drivers[i], d)
		}
	}
	for _, to := range []string{"OPEN", "CLOSED"} {
		for i, door := range doors {
			if r := s.toggle(door, to); r.Status != http.StatusOK {
				t.Fatalf("%s: asked to be %s: %d %s %q", drivers[i], to, r.Status, r.Body, r.Header.Get("Lintel-Reason"))
			}
		}
		for i, door := range doors {
			eventually(t, drivers[i]+": the door to be "+to, func() bool {
				d := s.listed(door)
				return d.StateDetail.Value == strings.ToLower(to) && d.StateDetail.Fresh && d.State == to
			})
		}
	}
	if rest := p.interruptAndRead(); rest != "" {
		t.Errorf("it goes on to print %q", rest)
	}
}

// TestHouseIsOneThatThereIs: a word that is no house starts nothing.
func TestHouseIsOneThatThereIs(t *testing.T) {
	t.Parallel()
	if said := refused(t, invocation{args: []string{"demo", "--house", "haunted"}}); !strings.Contains(said, "statuses or vendors") {
		t.Errorf("it says %q", said)
	}
}
