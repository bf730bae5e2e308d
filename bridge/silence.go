package bridge

import (
	"log/slog"
	"slices"
	"time"

	"lintel/door"
)

// A device behind the owner's broker that has fallen silent is asked, again and again,
// and is gone where it does not answer: its connection does not end with it, and neither
// a will nor the right to read it can be counted on. Both are below control.FreshFor
// together, and the first is long, since a question has some firmware tell everybody at
// that broker everything anew.
const (
	silentFor = 60 * time.Second
	goneAfter = 85 * time.Second
)

// silent is how long ago the device was last heard, or connected.
func (u *unit) silent() time.Duration { return u.now().Sub(time.UnixMilli(u.heardAt.Load())) }

// ask has the device say where its door is.
func (u *unit) ask(log *slog.Logger) {
	u.mu.Lock()
	messages := u.device.Connected()
	u.questioned, u.askedAt = u.known.Load() && len(messages) > 0, u.now()
	u.holding = u.questioned && u.far && u.silent() >= silentFor
	u.mu.Unlock()
	for _, m := range messages {
		if err := u.conn.SendTo(m.Topic, m.Payload); err != nil {
			log.Info("a device could not be asked", "controller", u.conn.ID(), "error", err)
			return
		}
	}
}

// askEvery is the pause between two questions to a device that does not say where
// its door is: ratgdo ignores whatever comes in the first 10 s of a connection,
// questions and commands alike. It is shorter than the machine waits for a door to
// leave an end, so that an ignored command is found out before it is believed.
const askEvery = 5 * time.Second

// askOn asks whenever the device has not said where its door is since it connected,
// or since the last command, and a device of the owner's broker that is silent. A device
// that has said nothing for so long after a command that its door must be somewhere has
// its connection reset: all firmware says where its door is when it comes back, also
// what cannot be asked.
func (u *unit) askOn(log *slog.Logger) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for u.ask(log); ; {
		select {
		case <-ticker.C:
		case <-u.ended:
			return
		}
		silent, known := u.silent(), u.known.Load()
		switch {
		case u.far && silent >= goneAfter:
			log.Warn("a device has been silent for too long: it is gone until it speaks", "controller", u.conn.ID())
			u.conn.Expire()
			return
		case !known && u.unanswered() > u.patience():
			log.Warn("a device has said nothing since a command: its connection is reset", "controller", u.conn.ID())
			u.conn.Reset()
			return
		case u.waits(silent):
		case u.doubtful():
			u.ask(log)
		case !known, u.far && silent >= silentFor:
			u.ask(log)
		}
	}
}

// recheckAfter is how long after a command a device that has only repeated itself is asked
// once more. What it repeated may have been its answer to a question of before the
// command, and its report of the movement may be lost. It is when a door that warns by
// itself has left, and the door machine has made up its mind.
const recheckAfter = 13 * time.Second

// doubtful reports, once for each command, that the device has since said nothing but
// what it said before.
func (u *unit) doubtful() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	since := u.unanswered()
	if u.rechecked || u.before == nil || u.told != u.before || since < recheckAfter || since > u.patience() {
		return false
	}
	u.rechecked = true
	return true
}

// waits ends the waiting for the answer to a question that the device was asked because
// it was silent, and has said something to. Where that was unknown and no more, it is
// to be believed now, which waits reports.
func (u *unit) waits(silent time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.questioned = u.questioned && u.now().Sub(u.askedAt) < askEvery
	u.holding = u.holding && silent >= silentFor
	if u.held {
		select {
		case u.overdue <- struct{}{}:
		default:
		}
	}
	return u.held
}

// holdBack keeps from the door machine that a device which was silent and is asked says
// unknown: ratgdo says so first, to everybody, and then where the door is. Passed on,
// each question would be two changes in the door's history. It is called with mu.
func (u *unit) holdBack(inputs []door.Input) []door.Input {
	if slices.ContainsFunc(inputs, tells) {
		u.questioned, u.holding, u.held = false, false, false
		return inputs
	}
	i := slices.Index(inputs, door.Input(door.Reported{Value: door.Unknown}))
	if i < 0 {
		return inputs
	}
	u.holding, u.held = false, u.holding
	if u.held {
		return slices.Delete(inputs, i, i+1)
	}
	return inputs
}

// believe passes on what was held back, unless the device has said more since.
func (u *unit) believe() []door.Input {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.held {
		return nil
	}
	u.held, u.ahead = false, 1
	return []door.Input{door.Reported{Value: door.Unknown}}
}
