// Package sim is door hardware as physics: doors that take time to move,
// sensors at their ends, openers that behave like real ones, and faults. The
// controllers around it are real: they connect over TCP like any other.
package sim

import (
	"time"

	"lintel/door"
)

// motor is one door and its opener. Position 0 is closed, 1 is open.
type motor struct {
	travel   time.Duration // for the whole way
	position float64
	way      door.Direction // NoDirection at rest
	last     door.Direction // the last movement, which one-button openers remember
	at       time.Time      // when position was true
}

// advance moves the door along until now.
func (m *motor) advance(now time.Time) {
	part := float64(now.Sub(m.at)) / float64(m.travel)
	m.at = now
	switch m.way {
	case door.Up:
		m.position += part
	case door.Down:
		m.position -= part
	}
	m.position = min(max(m.position, 0), 1)
	if m.way == door.Up && m.position >= 1 || m.way == door.Down && m.position <= 0 {
		m.way = door.NoDirection
	}
}

// actuate does what the opener does on its inputs at now.
func (m *motor) actuate(now time.Time, e door.Effect) {
	m.advance(now)
	switch e {
	case door.DriveOpen:
		m.run(door.Up)
	case door.DriveClose:
		m.run(door.Down)
	case door.DriveStop:
		m.way = door.NoDirection
	case door.Pulse:
		m.pulse()
	}
}

// pulse is the one button: it stops a moving door, and starts a resting one away
// from its end or against its last movement.
func (m *motor) pulse() {
	switch {
	case m.way != door.NoDirection:
		m.way = door.NoDirection
	case m.position <= 0 || m.position < 1 && m.last == door.Down:
		m.run(door.Up)
	default:
		m.run(door.Down)
	}
}

func (m *motor) run(way door.Direction) {
	if way == door.Up && m.position >= 1 || way == door.Down && m.position <= 0 {
		return
	}
	m.way, m.last = way, way
}

// departs is how soon after its start a door has visibly left its end.
const departs = 20 * time.Millisecond

// next returns how long until the door has left its end or reaches the other;
// false at rest.
func (m *motor) next() (time.Duration, bool) {
	rest, atEnd := m.position, m.position >= 1
	switch m.way {
	case door.NoDirection:
		return 0, false
	case door.Up:
		rest, atEnd = 1-m.position, m.position <= 0
	}
	if atEnd {
		return min(departs, m.travel/2), true
	}
	return time.Duration(rest*float64(m.travel)) + time.Millisecond, true
}

// readings returns what sensors at the two ends show.
func (m *motor) readings() [2]door.Reading {
	r := [2]door.Reading{door.Away, door.Away}
	if m.position <= 0 {
		r[door.ClosedEnd] = door.At
	}
	if m.position >= 1 {
		r[door.OpenEnd] = door.At
	}
	return r
}
