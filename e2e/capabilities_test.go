package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestCapabilitiesAreNamed: what an enrolled device can do is printed when it is made, in
// the list, and with its driver; a controller without a driver has no such field.
func TestCapabilitiesAreNamed(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	h.addController(h.Email, "Own")
	type listed struct {
		Name, Driver, Warns string
		Capabilities        []string
	}
	every := func(out string) (found map[string]listed) {
		found = map[string]listed{}
		for line := range strings.Lines(out) {
			l := parsed[listed](t, line)
			found[l.Driver] = l
		}
		return found
	}
	own := lintel(t, "controller", "list", "--data", h.Data, "--json")
	if strings.Contains(own, "capabilities") || strings.Contains(own, "driver") {
		t.Errorf("a controller without a driver is listed as %s", own)
	}
	add := []string{"controller", "add", "--data", h.Data, "--json", "--user", h.Email, "--name", "Left", "--driver"}
	added := every(lintel(t, append(add, "opengarage", "--base", "OG")...) + lintel(t, append(add, "ratgdo", "--base", "r/door", "--upstream")...))
	list := every(lintel(t, "controller", "list", "--data", h.Data, "--json"))
	all := every(lintel(t, "controller", "drivers", "--json"))
	want := map[string]listed{
		"opengarage": {Warns: "5s", Capabilities: []string{"open", "close", "obstruction"}},
		"ratgdo":     {Capabilities: []string{"open", "close", "obstruction"}},
	}
	for driver, w := range want {
		for where, l := range map[string]listed{"add": added[driver], "list": list[driver], "drivers": all[driver]} {
			if l.Warns != w.Warns || !slices.Equal(l.Capabilities, w.Capabilities) {
				t.Errorf("%s, %s: %+v", driver, where, l)
			}
		}
	}
	if len(all) != 7 {
		t.Errorf("%d drivers", len(all))
	}
}

// TestADriverAndANameAreEnough: where there is one account, and the device is to take the
// topics that are printed.
func TestADriverAndANameAreEnough(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	v := parsed[vendor](t, lintel(t, "controller", "add", "--data", h.Data, "--json", "--driver", "ratgdo", "--name", "Main"))
	if !strings.Contains(v.Setup, v.Secret) || !strings.Contains(v.Setup, "deviceName:       main") {
		t.Errorf("it printed %s", v.Setup)
	}
	refused(t, invocation{args: []string{"controller", "add", "--data", h.Data, "--driver", "ratgdo", "--name", "Main", "--upstream"}})
	h.addUser("second@house.example")
	refused(t, invocation{args: []string{"controller", "add", "--data", h.Data, "--driver", "ratgdo", "--name", "Main"}})
}
