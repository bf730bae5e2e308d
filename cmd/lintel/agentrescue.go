package main

import (
	"strings"

	"github.com/pelletier/go-toml/v2"

	"lintel/gpio"
)

// rescuedWiring returns the lines of a configuration file that is no TOML as a whole: of
// each row that is a whole one by itself, key and table in braces. What is spread over
// rows is left out, because the row that is wrong may be that with its active_low.
func rescuedWiring(text []byte) gpio.Config {
	var doors []map[string]any
	for row := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(row, "=")
		key = strings.TrimSpace(key)
		var keys map[string]any
		if !strings.HasPrefix(strings.TrimSpace(value), "{") || toml.Unmarshal([]byte(row), &keys) != nil || keys[key] == nil {
			continue
		}
		if len(doors) == 0 || doors[len(doors)-1][key] != nil {
			doors = append(doors, map[string]any{}) // two doors may have it, and the row between them may be what is wrong
		}
		doors[len(doors)-1][key] = keys[key]
	}
	var wiring gpio.Config
	for _, keys := range doors {
		var faults []error // of what was left out
		wiring.Doors = append(wiring.Doors, section{keys: keys, faults: &faults}.door())
	}
	return wiring
}
