package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lintel/client"
)

func TestServersHaveOneName(t *testing.T) {
	for given, want := range map[string]string{
		"https://garage.example":      "https://garage.example",
		"HTTPS://Garage.Example:443/": "https://garage.example",
		"garage.example:8443":         "https://garage.example:8443",
		"http://127.0.0.1:80":         "http://127.0.0.1",
		"https://[::1]:443":           "https://[::1]",
		"http://localhost:443":        "http://localhost:443",
	} {
		if got, err := parseOrigin(given); got != want {
			t.Errorf("%s: got %s (%v), want %s", given, got, err, want)
		}
	}
	for _, given := range []string{"ftp://h", "https://", "https://u:p@h", "https://h/path", "https://h?q", "https://h/#x", "://", "https://h:port"} {
		if got, err := parseOrigin(given); exitCode(err) != exitUsage {
			t.Errorf("%s: got %s, %v", given, got, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	for origin, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:80": true, "http://127.9.9.9": true,
		"http://192.168.1.1": false, "http://localhost.example": false, "http://127.0.0.1.example": false,
	} {
		if loopback(origin) != want {
			t.Errorf("%s: want %v", origin, want)
		}
	}
}

// TestAnExactNameWins over longer ones that it is a part of.
func TestAnExactNameWins(t *testing.T) {
	doors := []client.Door{{ID: "a", Name: "Garage"}, {ID: "b", Name: "garage left"}, {ID: "c", Name: "Old garage"}, {ID: "d", Name: "GARAGE"}}
	for asked, want := range map[string]string{"Garage": "a", "GARAGE": "d", "garage l": "b", "old": "c", "left": "b", "D": "d"} {
		if got, err := findDoor(doors, asked); got.ID != want {
			t.Errorf("%q: got %+v, %v, want %s", asked, got, err, want)
		}
	}
	if got, err := findDoor(doors, "garage"); exitCode(err) != exitNoDoor || !strings.Contains(err.Error(), "  d  GARAGE") {
		t.Errorf("two in another case: got %+v, %v", got, err)
	}
	if _, err := findDoor(nil, "x"); exitCode(err) != exitNoDoor {
		t.Errorf("no doors: %v", err)
	}
}

func TestExitCodesAreListedInHelp(t *testing.T) {
	for code := range exitNotSeen + 1 {
		if !strings.Contains(exitHelp, fmt.Sprintf("\n  %d  ", code)) {
			t.Errorf("%d is not in the help", code)
		}
	}
	if exitCode(errors.New("x")) != exitOther {
		t.Error("an error without a code")
	}
	for _, cmd := range root().Commands() {
		if ours := slices.Contains([]string{"login", "logout", "doors", "open", "close"}, cmd.Name()); ours && !strings.Contains(cmd.Long, exitHelp) {
			t.Errorf("%s does not list its exit codes", cmd.Name())
		} else if ours && cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", cmd.Name())
		}
	}
}

func TestTextsAreFitForATerminal(t *testing.T) {
	if got := printable("Tür \x1b[2J\n\u202e車庫"); got != "Tür \uFFFD[2J\uFFFD\uFFFD車庫" {
		t.Errorf("got %q", got)
	}
}
