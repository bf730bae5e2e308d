package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lintel"
	"lintel/conformance"
	"lintel/controller"
	"lintel/gpio"
	"lintel/hardwaretest/board"
	"lintel/secret"
)

// TestAToggleIsAPulseOnALine: from HTTP to the contact, and back to the sensor; the
// end of the agent, and another start, move nothing.
func TestAToggleIsAPulseOnALine(t *testing.T) {
	t.Parallel()
	h, g := newHouse(t), newGarage(t)
	stop := g.agent(t, h.dialer())
	for _, step := range []struct{ ask, value, line string }{
		{"OPEN", "open", "gpiochip0:17"}, {"CLOSED", "closed", "gpiochip0:27"},
	} {
		eventually(t, "the agent to be there", func() bool { return h.toggle(t, step.ask) == http.StatusOK })
		eventually(t, "the door to be "+step.value, func() bool { return h.state(t) == step.value })
	}
	if got := g.pulses(); !slices.Equal(got, []string{"gpiochip0:17", "gpiochip0:27"}) {
		t.Errorf("pulses on %v", got)
	}
	stop()
	if n := g.board.Taken(); n != 0 {
		t.Errorf("%d lines were not released", n)
	}
	stop = g.agent(t, h.dialer())
	eventually(t, "the agent to be back", func() bool { return h.toggle(t, "CLOSED") == http.StatusOK })
	stop()
	if n := len(g.pulses()); n != 2 {
		t.Errorf("%d pulses after a restart", n)
	}
}

// TestACloseIsWarnedOfOnALine: the buzzer comes first, and the contact after it. To open
// needs no warning.
func TestACloseIsWarnedOfOnALine(t *testing.T) {
	t.Parallel()
	h, g := newHouse(t), newGarage(t)
	a := g.newAgent(t, h.dialer())
	a.wiring.Doors[0].Warning, a.wiring.Doors[0].Buzzer = time.Second, &gpio.Line{Chip: "gpiochip0", Offset: 6}
	runUntilTheEnd(t, func(ctx context.Context) {
		if err := a.run(ctx); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the agent to be there", func() bool { return h.toggle(t, "OPEN") == http.StatusOK })
	eventually(t, "the door to be open", func() bool { return h.state(t) == "open" })
	if status := h.toggle(t, "CLOSED"); status != http.StatusOK {
		t.Fatalf("close: %d", status)
	}
	eventually(t, "the door to be closed", func() bool { return h.state(t) == "closed" })
	if got := g.pulses(); !slices.Equal(got, []string{"gpiochip0:17", "gpiochip0:6", "gpiochip0:27"}) {
		t.Errorf("active were %v", got)
	}
}

// TestNoCloseWithoutItsWarning: the caller is told where it cannot begin, and the
// history where it fails later.
func TestNoCloseWithoutItsWarning(t *testing.T) {
	t.Parallel()
	h, g := newHouse(t), newGarage(t)
	a := g.newAgent(t, h.dialer())
	a.wiring.Doors[0].Warning, a.wiring.Doors[0].Buzzer = time.Second, &gpio.Line{Chip: "gpiochip0", Offset: 6}
	runUntilTheEnd(t, func(ctx context.Context) { _ = a.run(ctx) })
	eventually(t, "the agent to be there", func() bool { return h.toggle(t, "OPEN") == http.StatusOK })
	eventually(t, "the door to be open", func() bool { return h.state(t) == "open" })
	g.board.Fail("gpiochip0:6", errors.New("gone"))
	if status := h.toggle(t, "CLOSED"); status != http.StatusNotImplemented {
		t.Errorf("a warning that cannot begin: %d", status)
	}
	g.board.Fail("gpiochip0:6", nil)
	if status := h.toggle(t, "CLOSED"); status != http.StatusOK {
		t.Fatalf("close: %d", status)
	}
	g.board.Fail("gpiochip0:6", errors.New("gone"))
	eventually(t, "the close to be dropped", func() bool {
		events, err := h.store.Events(t.Context(), lintel.ID(h.controller.Doors[0].DoorID), 1)
		return err == nil && len(events) == 1 && events[0].Reason == "close_dropped"
	})
	if got := g.pulses(); slices.Contains(got, "gpiochip0:27") {
		t.Errorf("active were %v", got)
	}
}

// TestTheAgentEndsWhereAContactStaysClosed: the end of the process is the last that can
// be done about it, and its manager starts it again.
func TestTheAgentEndsWhereAContactStaysClosed(t *testing.T) {
	t.Parallel()
	h, g := newHouse(t), newGarage(t)
	g.board.Changed = func(line string, active bool) {
		if active {
			g.board.Fail(line, errors.New("gone"))
		}
	}
	ended := make(chan error, 1)
	a := g.newAgent(t, h.dialer())
	runUntilTheEnd(t, func(ctx context.Context) { ended <- a.run(ctx) })
	eventually(t, "the pulse", func() bool { return h.toggle(t, "OPEN") == http.StatusOK })
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "cannot be made inactive") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
}

// TestWhatHappensOfflineIsReportedLater: the sensors are watched before there is a
// network.
func TestWhatHappensOfflineIsReportedLater(t *testing.T) {
	t.Parallel()
	h, g := newHouse(t), newGarage(t)
	way := &blockedDialer{Dialer: h.dialer(), free: make(chan struct{})}
	g.agent(t, way)
	eventually(t, "the lines to be taken", func() bool { return g.board.Taken() == 5 })
	g.door.Put(1, 1)
	eventually(t, "the sensor to show it", func() bool { return !g.board.High("gpiochip0:24") })
	close(way.free)
	eventually(t, "the report", func() bool { return h.state(t) == "open" })
}

// TestTheAgentConforms to every rule of the controller protocol but the slow ones,
// which hold for the runtime that it shares with the simulator.
func TestTheAgentConforms(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := conformance.Config{
		Controller: lintel.NewID(), Secret: secret.New(secret.ControllerSecret), Door: 1, Move: true, Quick: true,
		Timeout: patience, Travel: 10 * time.Second, Now: steadyClock(), Wall: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	newGarage(t).agent(t, controller.MQTT{Broker: listener.Addr().String(), ID: string(cfg.Controller), Secret: cfg.Secret})
	report, err := conformance.Run(t.Context(), listener, cfg)
	if err != nil {
		t.Fatal(err)
	}
	slow := map[string]bool{}
	for _, r := range conformance.Rules() {
		slow[r.Name] = r.Slow
	}
	for _, r := range report.Results {
		if r.Outcome == conformance.Fail || r.Outcome == conformance.Skip != slow[r.Rule] {
			t.Errorf("%s: %s: %s", r.Rule, r.Outcome, r.Seen)
		}
	}
	if n := report.Count(conformance.Pass); n < 40 {
		t.Errorf("%d rules were kept", n)
	}
}

// listenAsManager is a service manager whose watchdog bites after limit. hear returns
// the next message, none after wait.
func listenAsManager(t *testing.T, limit time.Duration) (hear func(wait time.Duration) string) {
	t.Helper()
	address := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	socket, err := net.ListenUnixgram("unixgram", address)
	switch {
	case err != nil && runtime.GOOS == "windows":
		t.Skipf("no datagrams over Unix sockets here: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	t.Setenv("NOTIFY_SOCKET", address.Name)
	t.Setenv("WATCHDOG_USEC", strconv.FormatInt(limit.Microseconds(), 10))
	return func(wait time.Duration) string {
		t.Helper()
		message := make([]byte, 100)
		if err := socket.SetReadDeadline(time.Now().Add(wait)); err != nil {
			t.Fatal(err)
		}
		n, err := socket.Read(message)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		return string(message[:n])
	}
}

// TestTheServiceManagerIsTold when the agent is ready, that it is alive, and when it stops.
func TestTheServiceManagerIsTold(t *testing.T) {
	hear := listenAsManager(t, 100*time.Millisecond)
	stop := newGarage(t).agent(t, &blockedDialer{}) // no network: it is ready all the same
	for i, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := hear(patience); got != want {
			t.Errorf("message %d is %q, not %s", i+1, got, want)
		}
	}
	go stop()
	for got := hear(patience); got != "STOPPING=1"; got = hear(patience) {
		if got != "WATCHDOG=1" {
			t.Fatalf("at the end it said %q", got)
		}
	}
}

// TestTheServiceManagerIsNotToldWhileASensorHangs, so that it starts the agent anew; and
// the agent ends though it hangs.
func TestTheServiceManagerIsNotToldWhileASensorHangs(t *testing.T) {
	hear := listenAsManager(t, 20*time.Second)
	synctest.Test(t, func(t *testing.T) {
		b := board.New()
		a := garage{board: b}.newAgent(t, &blockedDialer{})
		a.now = time.Now
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.run(ctx) }()
		<-time.After(25 * time.Second)
		defer b.Hang("gpiochip0:23")()
		<-time.After(40 * time.Second) // no longer: a socket holds few messages
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("it waits for the sensor")
		}
	})
	var said []string
	for got := hear(time.Second); got != ""; got = hear(time.Second) {
		said = append(said, got)
	}
	if want := []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1", "STOPPING=1"}; !slices.Equal(said, want) {
		t.Errorf("it said %v", said)
	}
}

// TestADoorWhoseSensorHangsIsNotShownAsClosed: the service is told that nothing is known.
func TestADoorWhoseSensorHangsIsNotShownAsClosed(t *testing.T) {
	t.Parallel()
	h, g := newHouse(t), newGarage(t)
	a := g.newAgent(t, h.dialer())
	runUntilTheEnd(t, func(ctx context.Context) { _ = a.run(ctx) })
	eventually(t, "the door to be closed", func() bool { return h.state(t) == "closed" })
	answer := g.board.Hang("gpiochip0:24")
	eventually(t, "the service to know nothing", func() bool { return h.state(t) == "unknown" })
	if status := h.toggle(t, "OPEN"); status == http.StatusOK {
		t.Error("a door that nobody sees was moved")
	}
	answer()
	eventually(t, "the door to be closed again", func() bool { return h.state(t) == "closed" })
}

// TestReleasingNeedsNoFaultlessFile: every output that can be read without a doubt is
// made inactive, whatever else is wrong. One in doubt could be made active.
func TestReleasingNeedsNoFaultlessFile(t *testing.T) {
	const open, shut, stop = `open = { line = "gpiochip0:17" }`, `close = { line = "gpiochip0:27", active_low = true }`, `stop = { line = "gpiochip0:22" }`
	for name, row := range map[string]struct {
		old, new string
		left     []string // outputs that are not touched
	}{
		"no fault":                    {},
		"a travel that is none":       {old: `"10s"`, new: `"soon"`},
		"a key that nobody knows":     {old: `number = 1`, new: "number = 1\ncolour = 3"},
		"no opener":                   {old: `opener = "discrete"`},
		"a sensor without a line":     {old: `{ line = "gpiochip0:23" }`, new: `{}`},
		"no TOML":                     {old: `travel = "10s"`, new: `travel = "10s`},
		"no TOML at the head":         {old: `[[door]]`, new: `[[door]`},
		"no TOML in an output":        {old: open, new: `open = { line = "gpiochip0:17 }`, left: []string{"gpiochip0:17"}},
		"an output spread over rows":  {old: open, new: "travel = 1\nopen.line = \"gpiochip0:17\"\nopen.active_low = ture", left: []string{"gpiochip0:17"}},
		"an output that is no line":   {old: open, new: `open = { line = "17" }`, left: []string{"gpiochip0:17"}},
		"a level that is none":        {old: open, new: `open = { line = "gpiochip0:17", active_low = "yes" }`, left: []string{"gpiochip0:17"}},
		"a misspelt level":            {old: open, new: `open = { line = "gpiochip0:17", active_lo = true }`, left: []string{"gpiochip0:17"}},
		"an output twice and unalike": {old: stop, new: `stop = { line = "gpiochip0:27" }`, left: []string{"gpiochip0:22", "gpiochip0:27"}},
		"an output twice":             {old: stop, new: `stop = { line = "gpiochip0:17" }`, left: []string{"gpiochip0:22"}},
		"an output that is an input":  {old: stop, new: `stop = { line = "gpiochip0:23" }`, left: []string{"gpiochip0:22", "gpiochip0:23"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := board.New()
			for line, rest := range map[string]bool{"gpiochip0:17": false, "gpiochip0:22": false, "gpiochip0:27": true, "gpiochip0:23": false} {
				b.Miss(line, !rest)
			}
			wiring, err := parseWiring([]byte(strings.Replace(testWiring, row.old, row.new, 1)))
			if (err == nil) != (row.old == "") {
				t.Errorf("the file: %v", err)
			}
			_ = gpio.Release(wiring, b)
			for line, rest := range map[string]bool{"gpiochip0:17": false, "gpiochip0:22": false, "gpiochip0:27": true} {
				if left := slices.Contains(row.left, line); (b.High(line) != rest) != left {
					t.Errorf("%s: high is %t", line, b.High(line))
				}
			}
			if b.Taken() != 0 || !b.High("gpiochip0:23") {
				t.Error("a line was kept, or a sensor's was driven")
			}
		})
	}
}

// TestTheReleaseCommandReportsFaults, and ends with 1.
func TestTheReleaseCommandReportsFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.toml")
	text := strings.ReplaceAll(testWiring, "gpiochip0", "gpiochip60000")
	if err := os.WriteFile(file, []byte(strings.Replace(text, `"10s"`, `"soon"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := agentCommand()
	cmd.SetArgs([]string{"--release", "--config", file})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	if err == nil || exitCode(err) != 1 {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"travel", "output open, gpiochip60000:17", "output close, gpiochip60000:27", "output stop, gpiochip60000:22"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

var _ gpio.Lines = (*board.Board)(nil)
