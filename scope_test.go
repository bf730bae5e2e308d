package lintel_test

import (
	"strings"
	"testing"

	"lintel"
)

const every = lintel.ScopeOpen | lintel.ScopeClose | lintel.ScopeRead

func TestParseScope(t *testing.T) {
	for s, want := range map[string]lintel.Scope{
		"OPENDOOR":                  lintel.ScopeOpen,
		"CLOSEDOOR":                 lintel.ScopeClose,
		"READ":                      lintel.ScopeRead,
		"OPENDOOR,CLOSEDOOR":        lintel.ScopeOpen | lintel.ScopeClose,
		"CLOSEDOOR OPENDOOR":        lintel.ScopeOpen | lintel.ScopeClose,
		"opendoor, CloseDoor  read": every,
		",READ, ,READ":              lintel.ScopeRead,
	} {
		if got, err := lintel.ParseScope(s); got != want || err != nil {
			t.Errorf("%q was read as %v, %v", s, got, err)
		}
	}
}

// TestParseScopeRefuses holds that a misspelt name is never left out silently.
func TestParseScopeRefuses(t *testing.T) {
	for _, s := range []string{
		"", " ", ",", "OPEN", "OPENDOORS", "OPENDOOR;READ", "OPENDOOR\tREAD", "OPENDOOR\nREAD", "OPENDOOR,ADMIN", "*", "1", "OPENDOOR,\x00",
	} {
		if got, err := lintel.ParseScope(s); got != 0 || lintel.CodeOf(err) != lintel.CodeInvalid {
			t.Errorf("%q was read as %v, %v", s, got, err)
		}
	}
	_, err := lintel.ParseScope("OPENDOOR,OPNEDOOR")
	if !strings.Contains(lintel.MessageOf(err), `"OPNEDOOR"`) {
		t.Errorf("the message does not name what is wrong: %v", err)
	}
}

// TestEveryScopeSet goes through all sets: written and read they are the same,
// and Has is inclusion.
func TestEveryScopeSet(t *testing.T) {
	for s := range every + 1 {
		if s != 0 {
			if got, err := lintel.ParseScope(s.String()); got != s || err != nil {
				t.Errorf("%q was read as %v, %v", s, got, err)
			}
		}
		for want := range every + 1 {
			included := true
			for _, one := range []lintel.Scope{lintel.ScopeOpen, lintel.ScopeClose, lintel.ScopeRead} {
				if want&one != 0 && s&one == 0 {
					included = false
				}
			}
			if s.Has(want) != included {
				t.Errorf("%q has %q: %v", s, want, s.Has(want))
			}
		}
	}
	if got := every.String(); got != "OPENDOOR CLOSEDOOR READ" {
		t.Errorf("all scopes are %q", got)
	}
}

func FuzzParseScope(f *testing.F) {
	f.Add("OPENDOOR,CLOSEDOOR")
	f.Add("read \x00")
	f.Fuzz(func(t *testing.T, s string) {
		set, err := lintel.ParseScope(s)
		if (err == nil) != (set != 0) || set&^every != 0 {
			t.Fatalf("%q was read as %d, %v", s, set, err)
		}
	})
}
