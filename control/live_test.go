package control

import (
	"testing"
	"testing/synctest"
	"time"

	"lintel"
)

func report(session, sequence int64, value, event string) Report {
	return Report{Door: theDoor, Session: session, Sequence: sequence, Event: event, Cause: "unknown",
		State: lintel.DoorState{Value: value, Source: "sensor", Since: time.Now()}}
}

var doorAsStored = lintel.Door{ID: theDoor, ControllerID: theController, State: lintel.DoorState{Value: "closed", Source: "sensor"}}

// TestFreshOnlyWhileConnectedAndRecent walks a door through its evidence.
func TestFreshOnlyWhileConnectedAndRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		check := func(when, value string, fresh bool) {
			t.Helper()
			if s, f := h.State(doorAsStored); s.Value != value || f != fresh {
				t.Errorf("%s: %s, fresh %v; want %s, %v", when, s.Value, f, value, fresh)
			}
		}
		check("from the store", "closed", false)
		session, err := h.SessionBegan(t.Context(), theController, "")
		if err != nil || session.Doors[1] != theDoor {
			t.Fatal(session, err)
		}
		check("connected, not reported", "closed", false)
		_ = h.Reported(t.Context(), theController, report(1, 1, "open", ""))
		check("reported", "open", true)
		<-time.After(FreshFor)
		check("just recent enough", "open", true)
		<-time.After(time.Second)
		check("too old", "open", false)
		_ = h.Reported(t.Context(), theController, report(1, 2, "open", ""))
		check("reported again", "open", true)
		h.SessionEnded(t.Context(), theController, 1)
		check("disconnected", "open", false)
		_, _ = h.SessionBegan(t.Context(), theController, "")
		check("back, not reported", "open", false)
		_ = h.Reported(t.Context(), theController, report(2, 1, "unknown", ""))
		check("reported unknown", "unknown", false)
		h.SessionEnded(t.Context(), theController, 1) // the old connection's end comes late
		if !h.Connected(theController) {
			t.Error("the end of an old session ended the new one")
		}
	})
}

// TestOrderIsBySequence: what arrives late does not undo what is known, and a
// repetition is not written again.
func TestOrderIsBySequence(t *testing.T) {
	h := newHouse()
	_, _ = h.SessionBegan(t.Context(), theController, "")
	for _, r := range []Report{
		report(1, 1, "closed", ""),
		report(1, 3, "open", "event-three"),
		report(1, 2, "opening", "event-two"),
		report(1, 1, "closed", ""),
		report(1, 4, "open", ""),
		report(1, 5, "open", ""),
	} {
		if err := h.Reported(t.Context(), theController, r); err != nil {
			t.Fatal(err)
		}
	}
	if s, _ := h.State(doorAsStored); s.Value != "open" {
		t.Errorf("%+v", s)
	}
	if len(h.store.events) != 2 || h.store.states != 1 {
		t.Errorf("%d events, %d plain states written; want 2 and 1", len(h.store.events), h.store.states)
	}
}

// TestWhatIsKnownIsShownBeforeItIsStored: while a change is on its way to a slow
// disk, nobody reads that the door is still closed.
func TestWhatIsKnownIsShownBeforeItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		_, _ = h.SessionBegan(t.Context(), theController, "")
		_ = h.Reported(t.Context(), theController, report(1, 1, "closed", ""))
		h.store.slow = time.Minute
		go func() { _ = h.Reported(t.Context(), theController, report(1, 2, "opening", "an-event")) }()
		synctest.Wait()
		h.store.mu.Lock()
		stored := len(h.store.events)
		h.store.mu.Unlock()
		if s, _ := h.State(doorAsStored); s.Value != "opening" || stored != 0 {
			t.Errorf("%+v with %d events stored", s, stored)
		}
		<-time.After(2 * time.Minute)
	})
}

// TestThePastIsNoEvidence: a change that a controller tells after it was away
// goes into the history, and does not make a door look closed now.
func TestThePastIsNoEvidence(t *testing.T) {
	h := newHouse()
	_, _ = h.SessionBegan(t.Context(), theController, "")
	_ = h.Reported(t.Context(), theController, report(1, 1, "closed", "of-an-hour-ago"))
	if s, fresh := h.State(doorAsStored); fresh {
		t.Errorf("%+v counts as fresh", s)
	}
	_ = h.Reported(t.Context(), theController, report(1, 2, "open", ""))
	if s, fresh := h.State(doorAsStored); !fresh || s.Value != "open" || len(h.store.events) != 1 {
		t.Errorf("%+v, fresh %v, %d events", s, fresh, len(h.store.events))
	}
}

func TestNoDoorHasChangedInTheFuture(t *testing.T) {
	h := newHouse()
	_, _ = h.SessionBegan(t.Context(), theController, "")
	r := report(1, 1, "open", "an-event")
	r.State.Since = time.Now().Add(time.Hour)
	_ = h.Reported(t.Context(), theController, r)
	if e := h.store.events[0]; e.OccurredAt.After(e.ReceivedAt) {
		t.Errorf("occurred %v, received %v", e.OccurredAt, e.ReceivedAt)
	}
}
