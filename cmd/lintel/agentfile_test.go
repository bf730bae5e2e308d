package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lintel/door"
	"lintel/gpio"
	"lintel/secret"
)

func TestTheSampleIsValid(t *testing.T) {
	wiring, err := parseWiring([]byte(agentSample))
	if err != nil {
		t.Fatal(err)
	}
	if doubts := wiring.Doubts(); len(doubts) > 0 {
		t.Error(doubts)
	}
	var lines []string // that are commented out, made live
	for _, line := range strings.Split(strings.Replace(agentSample, `"one-button" `, `"discrete" `, 1), "\n") {
		if strings.HasPrefix(line, "relay") {
			continue
		}
		if strings.Contains(line, "{ line") {
			line = strings.TrimPrefix(line, "# ")
		}
		lines = append(lines, line)
	}
	if _, err := parseWiring([]byte(strings.Join(lines, "\n"))); err != nil {
		t.Errorf("%v in\n%s", err, strings.Join(lines, "\n"))
	}
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	wiring, err := parseWiring([]byte(`
[[door]]
number = 7
opener = "one-button"
relay = { line = "gpiochip0:17" }
closed_sensor = { line = "gpiochip0:23" }
obstruction = { line = "gpiochip0:24", bias = "none", debounce = "0s" }
`))
	if err != nil {
		t.Fatal(err)
	}
	d := wiring.Doors[0]
	if d.Number != 7 || d.Opener != door.OneButton || d.Pulse != 500*time.Millisecond || d.Travel != 30*time.Second || d.Warning != 0 || d.SoleControl {
		t.Errorf("%+v", d)
	}
	if *d.Relay != (gpio.Line{Chip: "gpiochip0", Offset: 17}) {
		t.Errorf("%+v", d.Relay)
	}
	if want := (gpio.Contact{Line: gpio.Line{Chip: "gpiochip0", Offset: 23, ActiveLow: true}, Bias: gpio.PullUp, Debounce: 20 * time.Millisecond}); *d.ClosedSensor != want {
		t.Errorf("%+v", d.ClosedSensor)
	}
	if want := (gpio.Contact{Line: gpio.Line{Chip: "gpiochip0", Offset: 24}}); *d.Obstruction != want {
		t.Errorf("%+v", d.Obstruction)
	}
}

// TestEveryFaultOfAFileAtOnce: what cannot be read, what nobody knows, and what does
// not go together.
func TestEveryFaultOfAFileAtOnce(t *testing.T) {
	_, err := parseWiring([]byte(`
colour = "red"
[[door]]
number = 1
opener = "discreet"
pulse = 500
travel = "soon"
warning = "0s"
sole_control = "no"
closed_sensor = { line = "17", bias = "up", debounc = "20ms" }
open_sensor = { line = "gpiochip0:24", debounce = "2s" }
light = "gpiochip0:5"
[[door]]
opener = "one-button"
`))
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		`unknown key "colour"`, `door 1: opener: "discreet" is not`, `door 1: pulse is not a duration in quotes`, `door 1: travel: "soon" is not a duration`,
		`door 1: sole_control is not true or false`, `door 1: closed_sensor: line: "17" is not a line`, `door 1: closed_sensor: bias: "up" is not`,
		`door 1: closed_sensor: unknown key "debounc"`, `door 1: open_sensor: debounce 2s is not`, `door 1: light is not a table`,
		`door 0: its number is not`, `needs the output relay`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not among the faults: %s", want)
		}
	}
	for _, text := range []string{"", "door = 1", "door = [1]", "[[door]", "[door]\nnumber = 1"} {
		if _, err := parseWiring([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestCredentialsAreForTheirOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "garage.json")
	line := `{"controller_id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa","name":"Garage","secret":"` + secret.New(secret.ControllerSecret) + `","doors":[]}` + "\n"
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write(line, 0o600)
	if own, err := ownCredentials(path); err != nil || own.ControllerID == "" || own.Secret == "" {
		t.Fatalf("%v", err)
	}
	for _, text := range []string{"", "{}", line + line, strings.Replace(line, "aaaa-", "AAAA-", 1), strings.Replace(line, "ltc_", "ltc-", 1)} {
		write(text, 0o600)
		if _, err := ownCredentials(path); err == nil || strings.Contains(err.Error(), "ltc") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o602, 0o660} {
		write(line, mode)
		if _, err := ownCredentials(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

func TestDoorsAreThoseThatWereEnrolled(t *testing.T) {
	wiring := gpio.Config{Doors: []gpio.Door{{Number: 1}, {Number: 2}, {Number: 3}}}
	listed := credentials{Doors: []doorListed{{Number: 1}, {Number: 3}, {Number: 4}}}
	if err := checkEnrolled(wiring, listed); err == nil || !strings.HasPrefix(err.Error(), "door 2 ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if err := checkEnrolled(wiring, credentials{}); err != nil {
		t.Error(err)
	}
}

func TestPlainTextStaysOnThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1883": true, "localhost:1883": true, "[::1]:1883": true,
		"192.0.2.1:1883": false, "doors.example:1883": false, "localhost.example:1883": false,
	} {
		if err := checkBroker(address, false); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
		if err := checkBroker(address, true); err != nil {
			t.Errorf("%s, protected: %v", address, err)
		}
	}
	for _, address := range []string{"", "doors.example", ":1883", "doors.example:"} {
		if checkBroker(address, true) == nil {
			t.Errorf("%q was taken", address)
		}
	}
}
