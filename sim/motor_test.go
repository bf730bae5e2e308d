package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"lintel/door"
)

// TestNoWrongWayAgainstPhysics drives the door machine and a physical door
// through random commands, wall-button presses, waits and broken sensor wires. Whatever
// happens at the wall, no actuation for a request to close starts the door up, and none
// for a request to open starts it down.
func TestNoWrongWayAgainstPhysics(t *testing.T) {
	for _, opener := range []door.Opener{door.OneButton, door.Discrete} {
		t.Run(opener.String(), func(t *testing.T) {
			for _, ends := range [][2]bool{{true, false}, {false, true}, {true, true}} {
				for _, warning := range []time.Duration{0, 10 * time.Second} {
					for _, sole := range []bool{false, true} {
						rapid.Check(t, func(t *rapid.T) {
							drive(t, door.Config{Opener: opener, ClosedSensor: ends[0], OpenSensor: ends[1], Travel: 10 * time.Second, Warning: warning, SoleControl: sole})
						})
					}
				}
			}
		})
	}
}

// rig is a machine and the physical door it believes to know.
type rig struct {
	config door.Config
	state  door.State
	motor  motor
	shown  [2]door.Reading
	broken [2]bool // the sensor's wire is: it never shows the door again
	now    time.Time
	t      *rapid.T
}

func drive(t *rapid.T, config door.Config) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &rig{
		config: config,
		motor:  motor{travel: 8 * time.Second, at: now, position: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "start")},
		now:    now, t: t,
	}
	r.sense()
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		r.wait(time.Duration(rapid.IntRange(0, 15_000).Draw(t, "wait")) * time.Millisecond)
		switch what := rapid.SampledFrom([]string{"open", "close", "stop", "wall", "wait", "break"}).Draw(t, "what"); {
		case what == "open":
			r.ask(door.DoOpen, door.Down)
		case what == "close":
			r.ask(door.DoClose, door.Up)
		case what == "stop":
			r.ask(door.DoStop, door.NoDirection)
		case what == "wall" && !config.SoleControl:
			r.motor.actuate(r.now, door.Pulse)
		case what == "break" && rapid.IntRange(0, 3).Draw(t, "rarely") == 0:
			r.broken[rapid.IntRange(0, 1).Draw(t, "which")] = true
		}
		r.sense()
	}
}

// ask puts a request to the machine, carries its effect out, and looks which
// way the door started.
func (r *rig) ask(a door.Action, wrong door.Direction) {
	r.step(door.Asked{Action: a}, wrong)
}

// step gives the machine an input, and the motor what follows from it. The one thing
// that follows by itself is a close that was warned of.
func (r *rig) step(in door.Input, wrong door.Direction) {
	var d door.Decision
	r.state, d = r.config.Step(r.now, r.state, in)
	switch d.Effect {
	case door.NoEffect, door.Warn, door.Quiet:
		return
	}
	before := r.motor.way
	r.motor.actuate(r.now, d.Effect)
	if way := r.motor.way; way != before && way != door.NoDirection && way == wrong {
		r.t.Fatalf("after %T%+v, %s sent the door %s; believed %s, really at %.2f", in, in, d.Effect, way, r.state.Value, r.motor.position)
	}
}

// wait lets time pass in small steps, so that sensors are seen when they change.
func (r *rig) wait(d time.Duration) {
	for end := r.now.Add(d); r.now.Before(end); {
		r.now = r.now.Add(50 * time.Millisecond)
		r.motor.advance(r.now)
		r.sense()
		r.step(door.Tick{}, door.Up)
	}
}

func (r *rig) sense() {
	r.motor.advance(r.now)
	for end, reading := range r.motor.readings() {
		if r.broken[end] {
			reading = door.Away
		}
		if reading != r.shown[end] {
			r.shown[end] = reading
			r.step(door.Sensed{End: door.End(end), Reading: reading}, door.Up)
		}
	}
}

func TestMotorTakesItsTimeAndStaysBetweenItsEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		m := motor{travel: 4 * time.Second, at: now}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			m.actuate(now, rapid.SampledFrom([]door.Effect{door.NoEffect, door.Pulse, door.DriveOpen, door.DriveClose, door.DriveStop}).Draw(t, "effect"))
			if m.position < 0 || m.position > 1 {
				t.Fatalf("position %v", m.position)
			}
			wait, moving := m.next()
			if moving != (m.way != door.NoDirection) || wait > m.travel+time.Millisecond {
				t.Fatalf("next in %v (%v) while moving %s", wait, moving, m.way)
			}
			if moving {
				then := m
				then.advance(now.Add(wait))
				if then.readings() == m.readings() {
					t.Fatalf("no sensor changes at %v, when one should", then.position)
				}
			}
		}
	})
}
