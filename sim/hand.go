package sim

import (
	"time"

	"lintel/door"
)

// Put is a person who moves a door by hand, to a position from 0, closed, to 1, open.
// There it rests.
func (h *Hardware) Put(number int, position float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doors[number].motor.put(h.now(), position)
	h.wake()
}

func (m *motor) put(now time.Time, position float64) {
	m.advance(now)
	m.position, m.way = position, door.NoDirection
}
