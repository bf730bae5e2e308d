package e2e

import (
	"net/http"
	"syscall"
	"testing"
)

// TestLateAnswers are recorded as late, and are nobody's success: not the one's
// who asked, and not the next one's.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "3s")
	made := h.addController(h.Email, "Garage")
	c := connect(t, h.MQTT, made)
	first := h.toggle(made.door(), "OPEN")
	first.envelope(t)
	late := c.command()
	if first.Status != http.StatusNotFound || first.commandID() != late.ID {
		t.Fatalf("got %d for %s, and the controller got %s", first.Status, first.commandID(), late.ID)
	}
	next := h.background(t.Context(), made.door(), "CLOSED")
	asked := c.command()
	c.answer(late, 200)
	if kept := h.record(late.ID); kept.LateCode != 200 || kept.LateAt == nil || kept.Status != "unanswered" || kept.Code != 0 {
		t.Errorf("the late answer is kept as %+v", kept)
	}
	if kept := h.record(asked.ID); kept.Status != "sent" {
		t.Errorf("the late answer settled the next command: %+v", kept)
	}
	c.answer(asked, 501)
	if answer := receive(t, "the next answer", next); answer.Status != http.StatusNotImplemented || answer.commandID() != asked.ID {
		t.Errorf("the next request got %d for %s, want 501 for %s (%v)", answer.Status, answer.commandID(), asked.ID, answer.err)
	}
	// The first word counts, early or late.
	c.answer(late, 501)
	c.answer(asked, 200)
	if kept := h.record(late.ID); kept.LateCode != 200 {
		t.Errorf("a repetition replaced the late answer: %+v", kept)
	}
	if kept := h.record(asked.ID); kept.Status != "refused" || kept.Code != 501 || kept.LateAt != nil {
		t.Errorf("a repetition changed a settled command: %+v", kept)
	}
}

// TestAnswersForAnotherController are not heard, neither in time nor late.
func TestAnswersForAnotherController(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "2s")
	victim, other := h.addController(h.Email, "Garage"), h.addController(h.Email, "Shed")
	c, intruder := connect(t, h.MQTT, victim), connect(t, h.MQTT, other)
	answer := h.background(t.Context(), victim.door(), "OPEN")
	asked := c.command()
	intruder.answer(asked, 200)
	if got := receive(t, "the answer", answer); got.Status != http.StatusNotFound {
		t.Errorf("another controller's answer gave %d %v", got.Status, got.err)
	}
	intruder.answer(asked, 200)
	if kept := h.record(asked.ID); kept.Status != "unanswered" || kept.LateAt != nil {
		t.Errorf("the history says %+v", kept)
	}
}

// TestACommandIsSentOnce: a controller that loses its connection and comes back
// is not sent what it may have missed.
func TestACommandIsSentOnce(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "2s")
	made := h.addController(h.Email, "Garage")
	c := connect(t, h.MQTT, made)
	answer := h.background(t.Context(), made.door(), "OPEN")
	asked := c.command()
	c.client.Disconnect(0)
	again := connect(t, h.MQTT, made)
	if got := receive(t, "the answer", answer); got.Status != http.StatusNotFound {
		t.Errorf("got %d %v", got.Status, got.err)
	}
	again.exchangeTime(1)
	select {
	case repeated := <-again.commands:
		t.Errorf("the command %s was sent again: %+v", asked.ID, repeated)
	default:
	}
}

// TestACommandThatArrivesLate is not acted on: the controller stands still while
// the command waits in its own machine, and wakes after the deadline.
func TestACommandThatArrivesLate(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "1s")
	made := h.addController(h.Email, "Garage")
	fleet := start(t, "sim", "--broker", h.MQTT, "--credentials", made.file(t), "--travel", "100ms")
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
	_ = fleet.cmd.Process.Signal(syscall.SIGSTOP)
	r := h.toggle(made.door(), "OPEN")
	_ = fleet.cmd.Process.Signal(syscall.SIGCONT)
	if r.Status != http.StatusNotFound {
		t.Fatalf("got %d %s", r.Status, r.Body)
	}
	eventually(t, "the late answer", func() bool { return h.record(r.commandID()).LateAt != nil })
	if kept := h.record(r.commandID()); kept.LateCode != http.StatusNotFound || kept.Status != "unanswered" {
		t.Errorf("the history says %+v", kept)
	}
	if moved := h.events(made.door()); len(moved) > 0 {
		t.Errorf("the door moved: %+v", moved)
	}
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")
}
