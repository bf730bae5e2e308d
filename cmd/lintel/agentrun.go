package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"lintel/controller"
	"lintel/gpio"
)

// agent is one controller on GPIO lines.
type agent struct {
	wiring  gpio.Config
	lines   gpio.Lines
	dialer  controller.Dialer
	manager *manager
	now     func() time.Time // steady
	log     *slog.Logger
}

// run is the agent from its start until ctx ends, or until its hardware cannot go on.
// Every output is inactive when it returns, and when it panics. It does not wait for a
// sensor that hangs.
func (a agent) run(ctx context.Context) (err error) {
	hardware, err := gpio.Open(a.wiring, a.lines, a.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hardware.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	var failed error
	var running sync.WaitGroup
	running.Go(func() {
		defer cancel()
		failed = hardware.Run(ctx)
	})
	controller.New(controller.Config{
		Firmware: "lintel-agent " + version, Doors: a.wiring.Machines(), Hardware: hardware, Dialer: a.dialer,
		Now: a.now, Log: a.log, BeatEvery: a.manager.every,
		Beat: func() {
			if hardware.Alive() {
				a.manager.beat()
			}
		},
	}).Run(ctx)
	a.manager.tell(daemon.SdNotifyStopping)
	cancel()
	running.Wait()
	return failed
}

// manager is the service manager that started this process, systemd, or none.
type manager struct {
	every   time.Duration // between two beats
	watches bool          // it restarts a process whose beats end
	ready   bool          // it has been told so; of the controller's loop alone
	log     *slog.Logger
}

// serviceManager finds the manager by the variables that it has set.
func serviceManager(log *slog.Logger) (*manager, error) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return nil, fmt.Errorf("the service manager's watchdog: %w", err)
	}
	m := &manager{every: limit / 2, watches: limit > 0, log: log}
	if !m.watches {
		m.every = time.Minute
	}
	return m, nil
}

// beat is called by the controller's own loop while that is alive, and the sensors
// answer: first when the hardware is up and the controller runs.
func (m *manager) beat() {
	if !m.ready {
		m.ready = true
		m.tell(daemon.SdNotifyReady)
	}
	if m.watches {
		m.tell(daemon.SdNotifyWatchdog)
	}
}

func (m *manager) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Warn("the service manager cannot be told", "state", state, "error", err)
	}
}
