package gpio

import (
	"errors"
	"fmt"
	"time"

	"lintel/door"
	"lintel/protocol"
)

// Check returns every fault of the wiring at once, nil for none.
func (c Config) Check() error {
	var faults []error
	if len(c.Doors) == 0 {
		faults = append(faults, errors.New("there is no door"))
	}
	numbers, used := map[int]bool{}, map[string]string{}
	for _, d := range c.Doors {
		say := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("door %d: "+format, append([]any{d.Number}, args...)...))
		}
		switch {
		case d.Number < 1 || d.Number > protocol.MaxDoors:
			say("its number is not 1 to %d", protocol.MaxDoors)
		case numbers[d.Number]:
			say("there are two of that number")
		}
		numbers[d.Number] = true
		d.checkOpener(say)
		d.checkSensors(say)
		d.checkWarning(say)
		d.checkTimes(say)
		for _, l := range d.lines() {
			here := fmt.Sprintf("%s of door %d", l.name, d.Number)
			if other, taken := used[l.line.String()]; taken {
				say("%s uses %s, and so does %s", l.name, l.line, other)
				continue
			}
			used[l.line.String()] = here
		}
	}
	return errors.Join(faults...)
}

// checkOpener: an opener has the outputs that its kind needs, and no others.
func (d Door) checkOpener(say func(string, ...any)) {
	kinds := map[door.Opener]map[string]bool{ // true: needed, false: allowed
		door.Monitor:   {},
		door.OneButton: {"relay": true},
		door.Discrete:  {"open": true, "close": true, "stop": false},
	}
	for _, o := range d.outputs() {
		if o.effect == door.NoEffect {
			continue // any door may have a light and a buzzer
		}
		needed, allowed := kinds[d.Opener][o.name]
		switch {
		case needed && o.line == nil:
			say("a %s opener needs the output %s", d.Opener, o.name)
		case !allowed && o.line != nil:
			say("a %s opener has no output %s", d.Opener, o.name)
		}
	}
}

func (d Door) checkSensors(say func(string, ...any)) {
	if d.ClosedSensor == nil && d.OpenSensor == nil {
		say("it has neither closed_sensor nor open_sensor: without one its state is never known, and it could never be moved")
	}
	for _, in := range d.inputs() {
		if in.contact != nil && (in.contact.Debounce < 0 || in.contact.Debounce > MaxDebounce) {
			say("%s: debounce %s is not 0s to %s", in.name, in.contact.Debounce, MaxDebounce)
		}
	}
}

func (d Door) checkWarning(say func(string, ...any)) {
	switch {
	case d.Warning < 0 || d.Warning > MaxWarning:
		say("warning %s is not 0s to %s", d.Warning, MaxWarning)
	case d.Warning > 0 && d.Opener == door.Monitor:
		say("a monitor closes nothing, and needs no warning")
	case d.Warning > 0 && d.Light == nil && d.Buzzer == nil:
		say("warning needs a light or a buzzer to warn with")
	}
}

func (d Door) checkTimes(say func(string, ...any)) {
	between := func(name string, value, least, most time.Duration) {
		if value < least || value > most {
			say("%s %s is not %s to %s", name, value, least, most)
		}
	}
	between("pulse", d.Pulse, MinPulse, MaxPulse)
	between("travel", d.Travel, MinTravel, MaxTravel)
}

// Doubts returns what is no fault, and yet may not be what was meant.
func (c Config) Doubts() []string {
	var doubts []string
	for _, d := range c.Doors {
		say := func(text string) { doubts = append(doubts, fmt.Sprintf("door %d: %s", d.Number, text)) }
		oneSensor := (d.ClosedSensor == nil) != (d.OpenSensor == nil)
		switch {
		case d.Opener == door.OneButton && oneSensor && !d.SoleControl && d.ClosedSensor != nil:
			say("with one button and no open_sensor it can be opened, and closed only by hand: see sole_control")
		case d.Opener == door.OneButton && oneSensor && !d.SoleControl:
			say("with one button and no closed_sensor it can be closed, and opened only by hand: see sole_control")
		case d.ClosedSensor == nil:
			say("without closed_sensor it is never shown as closed")
		}
		switch {
		case d.Warning == 0 && (d.Light != nil || d.Buzzer != nil):
			say("light and buzzer are never used, because warning is 0s")
		case d.Warning > 0 && (d.Light == nil || d.Buzzer == nil):
			say("it warns by one of light and buzzer only; rules for closing a door that nobody watches ask for both")
		case d.Warning > 0 && d.Warning < 5*time.Second:
			say("rules for closing a door that nobody watches ask for a warning of at least 5s")
		}
	}
	return doubts
}
