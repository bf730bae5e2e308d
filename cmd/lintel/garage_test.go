package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/config"
	"lintel/controller"
	"lintel/door"
	"lintel/hardwaretest/board"
	"lintel/sim"
)

const testWiring = `
[[door]]
number = 1
opener = "discrete"
travel = "10s"
pulse = "50ms"
open = { line = "gpiochip0:17" }
close = { line = "gpiochip0:27", active_low = true }
stop = { line = "gpiochip0:22" }
closed_sensor = { line = "gpiochip0:23" }
open_sensor = { line = "gpiochip0:24" }
`

// garage is a simulated door on fake lines: its opener is wired to the outputs, its
// sensors to the inputs.
type garage struct {
	board *board.Board
	door  *sim.Hardware
}

func newGarage(t *testing.T) garage {
	g := garage{board.New(), sim.NewHardware([]sim.Door{{Opener: door.Discrete, Sensors: 2, Travel: 500 * time.Millisecond}}, time.Now)}
	wired := map[string]door.Effect{"gpiochip0:17": door.DriveOpen, "gpiochip0:27": door.DriveClose, "gpiochip0:22": door.DriveStop}
	g.board.Changed = func(line string, active bool) {
		if e, ok := wired[line]; ok && active {
			if err := g.door.Actuate(1, e); err != nil {
				t.Error(err)
			}
		}
	}
	g.board.Drive("gpiochip0:24", true)
	runUntilTheEnd(t, g.door.Run)
	runUntilTheEnd(t, g.sense)
	return g
}

// sense puts what the door's sensors show on the inputs: a contact to ground is closed
// where the door is.
func (g garage) sense(ctx context.Context) {
	inputs := map[door.End]string{door.ClosedEnd: "gpiochip0:23", door.OpenEnd: "gpiochip0:24"}
	for {
		select {
		case in := <-g.door.Inputs():
			s := in.In.(door.Sensed)
			g.board.Drive(inputs[s.End], s.Reading != door.At)
		case <-ctx.Done():
			return
		}
	}
}

// pulses returns which outputs were made active, in order.
func (g garage) pulses() []string {
	var lines []string
	for _, c := range g.board.Record() {
		if c.Active {
			lines = append(lines, c.Line)
		}
	}
	return lines
}

// runUntilTheEnd runs something until the test ends, and waits for it.
func runUntilTheEnd(t *testing.T, run func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop
}

// agent runs the real agent on the garage's lines; it must not end by itself.
func (g garage) agent(t *testing.T, dialer controller.Dialer) (stop func()) {
	t.Helper()
	a := g.newAgent(t, dialer)
	return runUntilTheEnd(t, func(ctx context.Context) {
		if err := a.run(ctx); err != nil {
			t.Error(err)
		}
	})
}

func (g garage) newAgent(t *testing.T, dialer controller.Dialer) agent {
	t.Helper()
	wiring, err := parseWiring([]byte(testWiring))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	m, err := serviceManager(log)
	if err != nil {
		t.Fatal(err)
	}
	return agent{wiring: wiring, lines: g.board, dialer: dialer, manager: m, now: steadyClock(), log: log}
}

// patience is how long to wait for what should happen. Some firmware takes half a minute
// for it.
const patience = 60 * time.Second

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	timeout := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("waited %s for: %s", patience, what)
		}
	}
}

// house is a running service with one controller and a token for its door.
type house struct {
	*service
	controller credentials
	token      string
}

func newHouse(t *testing.T) house {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{Flags: map[string]string{"http": "127.0.0.1:0", "mqtt": "127.0.0.1:0", "data": t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := startService(t.Context(), cfg, systemClocks(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	owner, err := newPerson(t.Context(), s.store, "owner@lintel.example", "", "", "a long enough password")
	if err != nil {
		t.Fatal(err)
	}
	h := house{service: s}
	if h.controller, err = enrolNative(t.Context(), s.store, owner.ID, "Garage", []string{"Left"}); err != nil {
		t.Fatal(err)
	}
	if h.token, _, err = newToken(t.Context(), s.store, owner.ID, lintel.AllScopes, "test", time.Hour); err != nil {
		t.Fatal(err)
	}
	return h
}

// toggle asks for a movement over HTTP and returns the status.
func (h house) toggle(t *testing.T, state string) int {
	t.Helper()
	body := fmt.Sprintf(`{"door_id":%q,"door_state":%q}`, h.controller.Doors[0].DoorID, state)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.baseURL+"/api/oauth/v1/endpoints/toggle", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+h.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// state returns what the service stored of the door.
func (h house) state(t *testing.T) string {
	t.Helper()
	devices, err := h.store.AllDevices(t.Context())
	if err != nil || len(devices) != 1 {
		t.Fatalf("%d controllers, %v", len(devices), err)
	}
	return devices[0].Doors[0].State.Value
}

func (h house) dialer() controller.Dialer {
	return controller.MQTT{Broker: h.mqtt, ID: h.controller.ControllerID, Secret: h.controller.Secret}
}

// blockedDialer has no network until it is free.
type blockedDialer struct {
	controller.Dialer
	free chan struct{}
}

func (d *blockedDialer) Dial(ctx context.Context, will []byte) (controller.Conn, error) {
	select {
	case <-d.free:
		return d.Dialer.Dial(ctx, will)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
