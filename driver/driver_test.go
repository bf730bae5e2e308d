package driver_test

import (
	"strings"
	"testing"

	"lintel/driver"
)

// TestUsableIsWhatCanBeAskedFor: a light that nobody can switch is not promised.
func TestUsableIsWhatCanBeAskedFor(t *testing.T) {
	for want, c := range map[string]driver.Capabilities{
		"open close":                  {Light: true, Lock: true, Position: true},
		"open close stop":             {Stop: true},
		"open close stop obstruction": {Stop: true, Light: true, Lock: true, Obstruction: true, Position: true},
	} {
		if got := strings.Join(c.Usable(), " "); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
