package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"lintel/door"
	"lintel/gpio"
)

// agentWiring reads a configuration file of the agent, and reports every fault in it at
// once. What it returns beside an error is for gpio.Release only.
func agentWiring(path string) (gpio.Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return gpio.Config{}, fmt.Errorf("there is no file %s; \"lintel agent --sample\" prints one to start from, and --config names another", path)
	}
	if err != nil {
		return gpio.Config{}, err
	}
	return parseWiring(text)
}

func parseWiring(text []byte) (gpio.Config, error) {
	var keys map[string]any
	if err := toml.Unmarshal(text, &keys); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			err = errors.New(at.String())
		}
		return rescuedWiring(text), err
	}
	var faults []error
	file := section{keys: keys, faults: &faults}
	var wiring gpio.Config
	for i, d := range file.sections("door") {
		d.where = fmt.Sprintf("door %v: ", d.keys["number"])
		if d.keys["number"] == nil {
			d.where = fmt.Sprintf("door number %d in the file: ", i+1)
		}
		wiring.Doors = append(wiring.Doors, d.door())
	}
	file.end()
	return wiring, errors.Join(append(faults, wiring.Check())...)
}

// section is one table of the file. What is read is taken out of it.
type section struct {
	where  string // begins what is said of it
	keys   map[string]any
	faults *[]error
}

func (s section) fault(format string, args ...any) {
	*s.faults = append(*s.faults, fmt.Errorf("%s"+format, append([]any{s.where}, args...)...))
}

// end reports what nobody has read.
func (s section) end() {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		s.fault("unknown key %q", key)
	}
}

// take returns a value, the default for none. One of another type is a fault.
func take[T any](s section, key, kind string, missing T) T {
	given, ok := s.keys[key]
	delete(s.keys, key)
	if !ok {
		return missing
	}
	value, ok := given.(T)
	if !ok {
		s.fault("%s is not %s", key, kind)
		return missing
	}
	return value
}

func (s section) text(key, missing string) string {
	return take(s, key, "a text in quotes", missing)
}
func (s section) yes(key string, missing bool) bool { return take(s, key, "true or false", missing) }

// number returns what fits every int.
func (s section) number(key string) int {
	return int(min(max(take[int64](s, key, "a number", 0), math.MinInt32), math.MaxInt32))
}

func (s section) duration(key string, missing time.Duration) time.Duration {
	const kind = `a duration in quotes, like "500ms" or "15s"`
	text := take(s, key, kind, missing.String())
	value, err := time.ParseDuration(text)
	if err != nil {
		s.fault("%s: %q is not %s", key, text, kind)
		return missing
	}
	return value
}

// sections returns an array of tables.
func (s section) sections(key string) []section {
	var all []section
	for _, given := range take[[]any](s, key, "a list of tables: write [["+key+"]]", nil) {
		keys, ok := given.(map[string]any)
		if !ok {
			s.fault("%s is not a list of tables: write [[%s]]", key, key)
			continue
		}
		all = append(all, section{keys: keys, faults: s.faults})
	}
	return all
}

// table returns a table in this one, if it is there.
func (s section) table(key string) (section, bool) {
	if _, ok := s.keys[key]; !ok {
		return section{}, false
	}
	keys := take[map[string]any](s, key, "a table, like { line = \"gpiochip0:17\" }", nil)
	return section{where: s.where + key + ": ", keys: keys, faults: s.faults}, keys != nil
}

func (s section) door() gpio.Door {
	defer s.end()
	return gpio.Door{
		Number: s.number("number"), Opener: s.opener(),
		Relay: s.output("relay"), Open: s.output("open"), Close: s.output("close"), Stop: s.output("stop"),
		Light: s.output("light"), Buzzer: s.output("buzzer"),
		ClosedSensor: s.contact("closed_sensor", true), OpenSensor: s.contact("open_sensor", true), Obstruction: s.contact("obstruction", false),
		Pulse: s.duration("pulse", gpio.DefaultPulse), Travel: s.duration("travel", gpio.DefaultTravel), Warning: s.duration("warning", 0),
		SoleControl: s.yes("sole_control", false),
	}
}

func (s section) opener() door.Opener {
	text := s.text("opener", "")
	for _, o := range door.Openers {
		if o.String() == text {
			return o
		}
	}
	s.fault("opener: %q is not \"one-button\", \"discrete\" or \"monitor\"", text)
	return door.Monitor
}

// line reads where a line is. One that cannot be read is kept without a chip, so that it
// is not also said to be missing.
func (s section) line(activeLow bool) gpio.Line {
	text := s.text("line", "")
	line, err := gpio.ParseLine(text)
	if err != nil {
		s.fault("line: %w", err)
		line = s.doubtful()
	}
	line.ActiveLow = s.yes("active_low", activeLow)
	return line
}

func (s section) output(key string) *gpio.Line {
	table, ok := s.table(key)
	if !ok {
		return nil
	}
	before := len(*s.faults)
	line := table.line(false)
	table.end()
	if len(*s.faults) > before {
		line = table.doubtful() // a slip in active_low would make it active where it is to be inactive
	}
	return &line
}

// doubtful returns a line that is none, and that no other line equals.
func (s section) doubtful() gpio.Line { return gpio.Line{Chip: s.where} }

// contact reads an input. Most contacts lie between the line and ground, with the
// chip's own resistor to keep the line high: a sensor's closes at its end, an
// obstruction sensor's opens, so that a broken wire looks like an obstruction.
func (s section) contact(key string, activeLow bool) *gpio.Contact {
	table, ok := s.table(key)
	if !ok {
		return nil
	}
	defer table.end()
	contact := gpio.Contact{Line: table.line(activeLow), Debounce: table.duration("debounce", gpio.DefaultDebounce)}
	var err error
	if contact.Bias, err = gpio.ParseBias(table.text("bias", gpio.PullUp.String())); err != nil {
		table.fault("bias: %w", err)
	}
	return &contact
}
