package e2e

import (
	"net/http"
	"testing"
	"time"
)

// tapped is a garage whose controller's connection goes through a wiretap.
func tapped(t *testing.T, doors int, args ...string) (*garage, *wiretap) {
	t.Helper()
	g := newGarage(t, doors, args...)
	w := newWiretap(t, g.MQTT)
	g.connect(w.address)
	for n := range doors {
		g.awaitDoor(g.doorNumber(n+1), closedDoor)
	}
	t.Cleanup(w.plain)
	return g, w
}

// anew gives the controller another session: the door is not known until then.
func (g *garage) anew(w *wiretap, shown string) {
	g.t.Helper()
	w.pull()
	eventually(g.t, "the service to know that the controller is away", g.away)
	w.plug()
	g.awaitDoor(g.made.door(), shown)
}

// refusedFrame waits for a controller's answers to a command, and checks the last.
func (w *wiretap) refusedFrame(id string, count, code int, reason string) {
	w.t.Helper()
	w.await("the controller to answer", func() bool { return len(w.answers(id)) >= count })
	if all := w.answers(id); len(all) != count || all[count-1].Code != code || all[count-1].Reason != reason {
		w.t.Errorf("the controller answered %+v, not %d times and last %d %q", all, count, code, reason)
	}
}

// only lets everything through but commands, of which it makes something else.
func only(commands func(frame) []frame) func(frame) []frame {
	return func(f frame) []frame {
		if f.name() != "cmd" {
			return []frame{f}
		}
		return commands(f)
	}
}

func lost(frame) []frame { return nil }

// TestDoubledFrames: a command that arrives twice acts once, and its first answer stands.
func TestDoubledFrames(t *testing.T) {
	t.Parallel()
	g, w := tapped(t, 1)
	w.doTo(only(func(f frame) []frame { return []frame{f, f} }))
	g.moves("OPEN", openDoor)
	asked := g.newest()
	w.refusedFrame(asked.ID, 2, http.StatusBadRequest, "repeated")
	g.actuated(1, "after a command that arrived twice")
	g.recordedAs(asked.ID, "taken", "")
	g.moves("CLOSED", closedDoor)
}

// TestReorderedFrames: of two commands that change places, the one that was sent
// first arrives as the past. Its caller is told so.
func TestReorderedFrames(t *testing.T) {
	t.Parallel()
	g, w := tapped(t, 2, "--deadline", "25s")
	var first []frame // of the wiretap's own goroutine
	w.doTo(only(func(f frame) []frame {
		if first == nil {
			first = []frame{f}
			return nil
		}
		return []frame{f, first[0]}
	}))
	overtaken := g.background(t.Context(), g.doorNumber(1), "OPEN")
	w.await("the first command", func() bool { return len(w.commands()) == 1 })
	asked := g.newest()
	if r := g.toggle(g.doorNumber(2), "OPEN"); r.Status != http.StatusOK {
		t.Errorf("the second command: got %d %s", r.Status, r.Body)
	}
	g.answered(receive(t, "the answer to the first", overtaken), http.StatusBadRequest, "repeated")
	g.awaitDoor(g.doorNumber(2), openDoor)
	g.actuated(1, "after two commands that changed places")
	if done := pulses(t, g.log); done[0].Door != 2 {
		t.Errorf("the hardware did %+v", done)
	}
	g.recordedAs(asked.ID, "refused", "repeated")
	w.doTo(nil)
	g.moves("OPEN", openDoor)
}

// TestAFrameHeldBack arrives in its own session after its deadline, and again.
func TestAFrameHeldBack(t *testing.T) {
	t.Parallel()
	g, w := tapped(t, 1)
	w.doTo(only(lost))
	r := g.toggle(g.made.door(), "OPEN")
	if r.Status != http.StatusNotFound || r.Header.Get("Lintel-Reason") != "deadline" {
		t.Errorf("the caller was told %d %q", r.Status, r.Header.Get("Lintel-Reason"))
	}
	held := w.commands()[0]
	w.inject(held)
	w.refusedFrame(r.commandID(), 1, http.StatusNotFound, "late")
	w.inject(held)
	w.refusedFrame(r.commandID(), 2, http.StatusBadRequest, "repeated")
	eventually(t, "the late answer", func() bool { return g.record(r.commandID()).LateAt != nil })
	if kept := g.record(r.commandID()); kept.LateCode != http.StatusNotFound || kept.LateReason != "late" || kept.Status != "unanswered" {
		t.Errorf("the history says %+v", kept)
	}
	g.actuated(0, "after a command that arrived late")
	w.doTo(nil)
	g.moves("OPEN", openDoor)
}

// TestReplayedFrames: everything that was recorded of one session is played into the
// next, the time first, which would make old commands look fresh. The deadlines of
// the commands have not passed: the session's name alone keeps them out.
func TestReplayedFrames(t *testing.T) {
	t.Parallel()
	g, w := tapped(t, 1, "--deadline", "28s")
	g.moves("OPEN", openDoor)
	taken := g.newest()
	w.doTo(only(lost))
	waiting := g.background(t.Context(), g.made.door(), "CLOSED")
	w.await("the second command", func() bool { return len(w.commands()) == 2 })
	dropped := g.newest()
	recorded := append(w.sent("time"), w.commands()...)
	g.anew(w, openDoor)
	w.doTo(nil)
	for _, f := range recorded {
		w.inject(f)
	}
	w.refusedFrame(taken.ID, 2, http.StatusBadRequest, "wrong_session")
	w.refusedFrame(dropped.ID, 1, http.StatusBadRequest, "wrong_session")
	g.answered(receive(t, "the answer", waiting), http.StatusBadRequest, "wrong_session")
	g.actuated(1, "after the replay")
	g.recordedAs(taken.ID, "taken", "")
	g.recordedAs(dropped.ID, "refused", "wrong_session")
	g.moves("CLOSED", closedDoor)
}

// TestReplayedLate: the same for a command that nobody waits for any more. The history
// keeps that it was refused, and why.
func TestReplayedLate(t *testing.T) {
	t.Parallel()
	g, w := tapped(t, 1)
	w.doTo(only(lost))
	r := g.toggle(g.made.door(), "OPEN")
	g.anew(w, closedDoor)
	w.doTo(nil)
	w.inject(w.commands()[0])
	w.refusedFrame(r.commandID(), 1, http.StatusBadRequest, "wrong_session")
	eventually(t, "the late answer", func() bool { return g.record(r.commandID()).LateAt != nil })
	if kept := g.record(r.commandID()); kept.LateCode != http.StatusBadRequest || kept.LateReason != "wrong_session" || kept.Status != "unanswered" {
		t.Errorf("the history says %+v", kept)
	}
	g.actuated(0, "after the replay")
	g.moves("OPEN", openDoor)
}

// TestReplayedReports: what a controller said in one session ends the connection that
// says it in the next. The service does not believe an old state.
func TestReplayedReports(t *testing.T) {
	t.Parallel()
	g, w := tapped(t, 1)
	old := w.said("state")[0]
	g.moves("OPEN", openDoor)
	g.anew(w, openDoor)
	hellos := len(w.said("hello"))
	w.injectUp(old)
	w.await("the controller to be back with a new session", func() bool { return len(w.said("hello")) > hellos })
	g.awaitDoor(g.made.door(), openDoor)
	for _, e := range g.events(g.made.door()) {
		if e.Value == "closed" || e.Value == "closing" {
			t.Errorf("the history has the change %+v", e)
		}
	}
	g.actuated(1, "after the replay")
	g.moves("CLOSED", closedDoor)
}

// TestRestoredBackup goes back to a database of a moment at which a command was on
// its way, as docs/operating.md says. The command is never sent; frames of before do
// nothing; what the door's controller says now is what counts, although the restored
// database counts its sessions anew; and a revoked token is good again, as is said there.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	needTool(t, "sqlite3", "sqlite3")
	g, w := tapped(t, 1)
	g.moves("OPEN", openDoor)
	w.doTo(only(lost))
	revoked := g.createToken(g.Email, "READ")
	answer := g.background(t.Context(), g.made.door(), "CLOSED")
	w.await("the command to be under way", func() bool { return len(w.commands()) == 2 })
	asked := g.newest()
	backup := g.backup()
	g.answered(receive(t, "the answer", answer), http.StatusNotFound, "deadline")
	w.doTo(nil)
	g.anew(w, openDoor)
	g.moves("CLOSED", closedDoor)
	lintel(t, "token", "revoke", "--data", g.Data, revoked.ID)
	if r := do(t, "GET", g.BaseURL+syncPath, revoked.AccessToken, ""); r.Status != http.StatusUnauthorized {
		t.Errorf("the revoked token is answered %d", r.Status)
	}
	before := len(w.commands())
	if err := g.interrupt(); err != nil {
		t.Fatalf("the service ended with %v", err)
	}
	g.restore(backup)
	g.serveAgain()
	g.awaitDoor(g.made.door(), closedDoor) // the backup says open
	g.recordedAs(asked.ID, "unknown", "service_stopped")
	for _, f := range w.commands() {
		w.inject(f)
	}
	w.refusedFrame(asked.ID, 1, http.StatusBadRequest, "wrong_session")
	if sent := len(w.commands()); sent != before {
		t.Errorf("the service sent %d commands by itself", sent-before)
	}
	g.actuated(2, "after the backup was restored")
	if r := do(t, "GET", g.BaseURL+syncPath, revoked.AccessToken, ""); r.Status != http.StatusOK {
		t.Errorf("the token is answered %d", r.Status)
	}
	g.moves("OPEN", openDoor)
	<-time.After(time.Until(asked.RequestedAt.Add(deadline)))
	g.actuated(3, "at the end")
}
