package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lintel"
	"lintel/client"
	"lintel/config"
	"lintel/door"
	"lintel/sim"
)

// stepping is a clock that a test steps.
type stepping struct {
	now func() time.Time
	off atomic.Int64 // nanoseconds
}

func (s *stepping) Now() time.Time       { return s.now().Add(time.Duration(s.off.Load())) }
func (s *stepping) step(d time.Duration) { s.off.Add(int64(d)) }

// cable leads controllers to a service, and holds what it says to them.
type cable struct {
	listener net.Listener
	target   string

	mu      sync.Mutex // guards what follows
	free    *sync.Cond
	holding bool
	pulled  bool
	conns   []net.Conn
}

func newCable(t *testing.T, target string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{listener: l, target: target}
	c.free = sync.NewCond(&c.mu)
	t.Cleanup(func() { l.Close(); c.hold(false); c.pull() })
	go func() {
		for {
			controller, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			go c.carry(controller)
		}
	}()
	return c
}

func (c *cable) carry(controller net.Conn) {
	service, err := net.Dial("tcp", c.target)
	if err != nil || !c.connect(controller, service) {
		controller.Close()
		return
	}
	go func() { _, _ = io.Copy(service, controller); service.Close() }()
	buffer := make([]byte, 4096)
	for {
		n, err := service.Read(buffer)
		c.mu.Lock()
		for c.holding {
			c.free.Wait()
		}
		c.mu.Unlock()
		if _, writeErr := controller.Write(buffer[:n]); err != nil || writeErr != nil {
			controller.Close()
			return
		}
	}
}

func (c *cable) hold(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = on
	c.free.Broadcast()
}

// connect keeps a connection, unless the cable is pulled.
func (c *cable) connect(controller, service net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pulled {
		service.Close()
		return false
	}
	c.conns = append(c.conns, controller, service)
	return true
}

// pull ends every connection, and plug lets controllers come back, with new sessions.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = true
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

func (c *cable) plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = false
}

// witness counts the lines that hardware writes.
type witness struct {
	mu  sync.Mutex // guards log
	log bytes.Buffer
}

func (w *witness) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

func (w *witness) moves() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.log.String(), "\n")
}

// stepped is a service and a controller, each with a clock that a test steps.
type stepped struct {
	t          *testing.T
	service    *service
	cable      *cable
	witness    witness
	wall       *stepping
	controller *stepping
	client     *client.Client
	door       string
}

const steppedDeadline = time.Second

func startStepped(t *testing.T) *stepped {
	t.Helper()
	s := &stepped{t: t, wall: &stepping{now: time.Now}, controller: &stepping{now: steadyClock()}}
	cfg, _, err := config.Load(config.Sources{Flags: map[string]string{
		"http": "127.0.0.1:0", "mqtt": "127.0.0.1:0", "data": t.TempDir(), "deadline": steppedDeadline.String(),
	}})
	s.must(err)
	log := slog.New(slog.DiscardHandler)
	s.service, err = startService(t.Context(), cfg, clocks{s.wall.Now, steadyClock()}, log)
	s.must(err)
	t.Cleanup(func() { s.must(s.service.close()) })
	owner := lintel.Person{ID: lintel.NewID(), Email: "owner@house.example", CreatedAt: time.Now()}
	s.must(s.service.store.AddPerson(t.Context(), owner, ""))
	made, err := enrolNative(t.Context(), s.service.store, owner.ID, "Garage", []string{"Door"})
	s.must(err)
	token, _, err := newToken(t.Context(), s.service.store, owner.ID, lintel.AllScopes, "test", 24*time.Hour)
	s.must(err)
	s.client, err = client.New(s.service.baseURL, client.StaticToken(token))
	s.must(err)
	s.cable, s.door = newCable(t, s.service.mqtt), made.Doors[0].DoorID
	s.run(log, sim.Unit{ID: made.ControllerID, Secret: made.Secret, Behaviour: sim.Works,
		Doors: []sim.Door{{Opener: door.Discrete, Sensors: 2, Travel: 50 * time.Millisecond}}})
	return s
}

// run runs the controller until the test ends.
func (s *stepped) run(log *slog.Logger, unit sim.Unit) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		sim.Fleet{Broker: s.cable.listener.Addr().String(), Units: []sim.Unit{unit}, Record: &s.witness, Now: s.controller.Now, Log: log}.Run(ctx)
	})
	s.t.Cleanup(func() { cancel(); running.Wait() })
}

func (s *stepped) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// seen waits until the service knows by a fresh report that the door is there.
func (s *stepped) seen(value string) {
	s.t.Helper()
	s.await(value, true)
}

// await waits until the door is listed so.
func (s *stepped) await(value string, fresh bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		doors, err := s.client.Doors(ctx)
		s.must(err)
		if doors[0].Value == value && doors[0].Fresh == fresh {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("the door is not %s, fresh %t, but %+v", value, fresh, doors[0])
		}
	}
}

// moved moves the door there and back, which is two actuations more.
func (s *stepped) moved() {
	s.t.Helper()
	before := s.witness.moves()
	_, err := s.client.Open(s.t.Context(), s.door)
	s.must(err)
	s.seen("open")
	_, err = s.client.Close(s.t.Context(), s.door)
	s.must(err)
	s.seen("closed")
	if more := s.witness.moves() - before; more != 2 {
		s.t.Errorf("two requests that were taken made the hardware act %d times", more)
	}
}

// recorded returns the newest command once its controller has answered, late or not.
func (s *stepped) recorded() lintel.Command {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1500 {
		commands, err := s.service.store.Commands(s.t.Context(), "", 100)
		s.must(err)
		for _, c := range commands {
			if c.Outcome.Status == lintel.StatusUnanswered && c.Outcome.Late != nil {
				return c
			}
		}
		<-tick.C
	}
	s.t.Fatal("no late answer is recorded")
	panic("unreachable")
}

// TestClocksThatStep: whichever clock is corrected by an hour while a command is on
// its way, what arrives late moves nothing, and what is asked before and after does.
func TestClocksThatStep(t *testing.T) {
	for _, row := range []struct {
		name    string
		by      time.Duration
		which   func(s *stepped) *stepping
		reasons string // with which the controller refuses
	}{
		{"the service's wall clock goes forward", time.Hour, func(s *stepped) *stepping { return s.wall }, "late"},
		{"the service's wall clock goes back", -time.Hour, func(s *stepped) *stepping { return s.wall }, "late"},
		// A controller's clock must not step. One that does all the same moves nothing.
		{"the controller's clock goes forward", time.Hour, func(s *stepped) *stepping { return s.controller }, "no_time late"},
		{"the controller's clock goes back", -time.Hour, func(s *stepped) *stepping { return s.controller }, "no_time late"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := startStepped(t)
			s.seen("closed")
			s.moved()
			clock := row.which(s)
			s.inFlight(func() { clock.step(row.by) })
			late := s.recorded()
			if !strings.Contains(row.reasons, late.Outcome.Late.Reason) || late.Outcome.Reason != "deadline" {
				t.Errorf("the history says %+v, late %+v", late.Outcome, late.Outcome.Late)
			}
			if moves := s.witness.moves(); moves != 2 {
				t.Errorf("the hardware acted %d times, 2 of them as it was asked to in time", moves)
			}
			s.seen("closed")
			s.anew() // with another session, which asks for the time at once
			s.moved()
			clock.step(-row.by)
			s.anew()
			s.moved()
		})
	}
}

// TestAWallClockThatStepsBeforeTheCommand: in the same session, by as little as a deadline
// may be ahead. Deadlines are not made by it: what is asked in time still moves the door,
// and what is held back until after its deadline does not.
func TestAWallClockThatStepsBeforeTheCommand(t *testing.T) {
	for _, by := range []time.Duration{50 * time.Second, -50 * time.Second, time.Hour, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			s := startStepped(t)
			s.seen("closed")
			s.wall.step(by)
			s.moved()
			s.inFlight(func() {})
			if late := s.recorded(); late.Outcome.Late.Reason != "late" {
				t.Errorf("the history says %+v, late %+v", late.Outcome, late.Outcome.Late)
			}
			if moves := s.witness.moves(); moves != 2 {
				t.Errorf("the hardware acted %d times, 2 of them as it was asked to in time", moves)
			}
		})
	}
}

// inFlight has a command on its way while something happens, until after its deadline.
func (s *stepped) inFlight(happens func()) {
	s.t.Helper()
	s.cable.hold(true)
	answered := make(chan error, 1)
	go func() {
		_, err := s.client.Open(s.t.Context(), s.door)
		answered <- err
	}()
	<-time.After(steppedDeadline / 2)
	happens()
	err := <-answered
	if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.Status != 404 || refusal.Reason != "deadline" {
		s.t.Errorf("the caller was told %v", err)
	}
	s.cable.hold(false)
}

// anew gives the closed door's controller another session.
func (s *stepped) anew() {
	s.t.Helper()
	s.cable.pull()
	s.await("closed", false)
	s.cable.plug()
	s.seen("closed")
}
