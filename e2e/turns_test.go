package e2e

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestOneDoorTakesOneRequestAtATime: two requests at once do not overlap.
func TestOneDoorTakesOneRequestAtATime(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "1s")
	door := d.door("silent").DoorID
	first, second := d.background(t.Context(), door, "OPEN"), d.background(t.Context(), door, "CLOSED")
	for _, answers := range []<-chan outcome{first, second} {
		if answer := receive(t, "an answer", answers); answer.err != nil || answer.Status != http.StatusNotFound {
			t.Errorf("got %d %v", answer.Status, answer.err)
		}
	}
	commands := d.history()
	slices.Reverse(commands) // oldest first
	if len(commands) != 2 || commands[0].SettledAt == nil {
		t.Fatalf("the history holds %+v", commands)
	}
	if ended, began := *commands[0].SettledAt, commands[1].RequestedAt; began.Before(ended) {
		t.Errorf("the second was recorded at %s, before the end of the first at %s", began, ended)
	}
}

// TestDoorsDoNotWaitForEachOther: a silent controller holds up its own door only.
func TestDoorsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "25s")
	silent := d.background(t.Context(), d.door("silent").DoorID, "OPEN")
	d.awaitCommands(1)
	for _, behaviour := range []string{"works", "sensor_lost", "offline"} {
		d.toggle(d.door(behaviour).DoorID, "CLOSED")
	}
	select {
	case answer := <-silent:
		t.Errorf("the silent door answered first: %d %v", answer.Status, answer.err)
	default:
	}
	if commands := d.history(); len(commands) != 4 {
		t.Errorf("%d commands are recorded, want 4: %+v", len(commands), commands)
	}
}

// awaitCommands waits until so many commands are recorded.
func (s *site) awaitCommands(count int) {
	s.t.Helper()
	eventually(s.t, "the commands to be recorded", func() bool { return len(s.history()) >= count })
}

// TestAnImpatientClient goes away after its command was sent; the command goes
// on, and its outcome is kept.
func TestAnImpatientClient(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "1s")
	ctx, cancel := context.WithCancel(t.Context())
	answer := d.background(ctx, d.door("silent").DoorID, "OPEN")
	d.awaitCommands(1)
	cancel()
	receive(t, "the client's end", answer)
	eventually(t, "the command to be settled", func() bool { return d.history()[0].Status != "sent" })
	if kept := d.history()[0]; kept.Status != "unanswered" || kept.SettledAt == nil {
		t.Errorf("the history says %+v", kept)
	}
}

// TestAnAnswerForNobody: the controller answers after the client has gone, in time.
func TestAnAnswerForNobody(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "--deadline", "25s")
	made := h.addController(h.Email, "Garage")
	c := connect(t, h.MQTT, made)
	ctx, cancel := context.WithCancel(t.Context())
	answer := h.background(ctx, made.door(), "OPEN")
	asked := c.command()
	cancel()
	if gone := receive(t, "the client's end", answer); gone.err == nil {
		t.Fatalf("the client was answered %d before it went", gone.Status)
	}
	c.answer(asked, 200)
	eventually(t, "the command to be settled", func() bool { return h.record(asked.ID).Status != "sent" })
	if kept := h.record(asked.ID); kept.Status != "taken" || kept.Code != 200 || kept.LateAt != nil {
		t.Errorf("the history says %+v", kept)
	}
}

// TestAQueueHasAnEnd: a program gone wrong is told to slow down, with when to
// try again, and costs nobody else anything.
func TestAQueueHasAnEnd(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--deadline", "25s")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const many = 140
	answers := make(chan outcome, many)
	for range many {
		answer := d.background(ctx, d.door("silent").DoorID, "OPEN")
		go func() { answers <- <-answer }()
	}
	refusal := receive(t, "a refusal", answers)
	if refusal.err != nil {
		t.Fatal(refusal.err)
	}
	refusal.refusedWith(t, http.StatusTooManyRequests, "Error communicating with Workshop, too many requests (429)")
	if refusal.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	if r := d.toggle(d.door("works").DoorID, "CLOSED"); r.Status != http.StatusOK {
		t.Errorf("another door: got %d %s", r.Status, strings.TrimSpace(string(r.Body)))
	}
}
