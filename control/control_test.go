package control

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lintel"
	"lintel/access"
)

// memory is a Store that keeps everything in maps and says in which order it was called.
type memory struct {
	mu       sync.Mutex // guards what follows
	subject  *access.Subject
	target   *access.Target
	revoked  bool // between the first check and recording
	commands map[lintel.ID]lintel.Command
	late     map[lintel.ID]lintel.LateAnswer
	order    []string
	events   []lintel.DoorEvent
	states   int
	sessions int64
	settling chan struct{} // when not nil, SettleCommand waits for it
	slow     time.Duration // how long RecordCommand and RecordEvent take
	failing  int           // how many more times SettleCommand fails
}

func (m *memory) Authority(context.Context, string, lintel.ID) (*access.Subject, *access.Target, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.subject, m.target, nil
}

func (m *memory) RecordCommand(_ context.Context, c lintel.Command, _ string) (bool, error) {
	<-time.After(m.slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revoked {
		m.subject = &access.Subject{Revoked: true}
		return false, nil
	}
	c.Outcome.Status = lintel.StatusSent
	m.commands[c.ID] = c
	m.order = append(m.order, "record")
	return true, nil
}

func (m *memory) SettleCommand(_ context.Context, id lintel.ID, o lintel.Outcome) error {
	if m.settling != nil {
		<-m.settling
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing > 0 {
		m.failing--
		return &lintel.Error{Code: lintel.CodeInternal, Message: "the disk is full"}
	}
	c := m.commands[id]
	c.Outcome = o
	m.commands[id] = c
	m.order = append(m.order, "settle")
	return nil
}

func (m *memory) SettleLate(_ context.Context, id, _ lintel.ID, late lintel.LateAnswer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late[id] = late
	return nil
}

func (m *memory) BeginSession(context.Context, lintel.ID, string, time.Time) (int64, map[int]lintel.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions++
	return m.sessions, map[int]lintel.ID{1: theDoor}, nil
}

func (m *memory) EndSession(context.Context, lintel.ID, time.Time) error { return nil }

func (m *memory) RecordEvent(_ context.Context, _ lintel.ID, e lintel.DoorEvent) error {
	<-time.After(m.slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
	return nil
}

func (m *memory) RecordState(context.Context, lintel.ID, int64, int64, lintel.DoorState) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states++
	return nil
}

// wire is a Link that keeps what it was given.
type wire struct {
	store  *memory
	err    error
	orders chan Order
}

func (w *wire) Send(o Order) error {
	w.store.mu.Lock()
	w.store.order = append(w.store.order, "send")
	w.store.mu.Unlock()
	if w.err == nil {
		w.orders <- o
	}
	return w.err
}

const (
	theDoor       = lintel.ID("11111111-1111-4111-8111-111111111111")
	theController = lintel.ID("22222222-2222-4222-8222-222222222222")
	thePerson     = lintel.ID("33333333-3333-4333-8333-333333333333")
)

// house is a service with a door that its person may move.
type house struct {
	*Service
	store *memory
	link  *wire
}

func newHouse() *house {
	store := &memory{
		subject:  &access.Subject{PersonID: thePerson, Scopes: lintel.ScopeOpen | lintel.ScopeClose, ExpiresAt: time.Now().Add(time.Hour)},
		target:   &access.Target{DoorID: theDoor, DoorNumber: 1, ControllerID: theController, HardwareName: "Barn", OwnerID: thePerson},
		commands: map[lintel.ID]lintel.Command{}, late: map[lintel.ID]lintel.LateAnswer{},
	}
	link := &wire{store: store, orders: make(chan Order, 1000)}
	return &house{New(Config{Deadline: 5 * time.Second, Now: time.Now, Steady: time.Now, Log: slog.New(slog.DiscardHandler)}, store, link), store, link}
}

type moveResult struct {
	receipt Receipt
	err     error
}

// move asks in the background.
func (h *house) move(ctx context.Context, a lintel.Action) <-chan moveResult {
	done := make(chan moveResult, 1)
	go func() {
		r, err := h.Move(ctx, Request{Door: theDoor, Action: a})
		done <- moveResult{r, err}
	}()
	return done
}

func (h *house) answer(id lintel.ID, code int) {
	h.Answered(context.Background(), theController, Answer{CommandID: id, Code: code})
}

func TestRecordedBeforeSentAndSettledBeforeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		done := h.move(t.Context(), lintel.ActionOpen)
		order := <-h.link.orders
		if time.Until(order.Deadline) != 5*time.Second || order.DoorNumber != 1 || order.Controller != theController {
			t.Errorf("%+v", order)
		}
		h.answer(order.CommandID, 200)
		got := <-done
		if got.err != nil || got.receipt.Outcome.Status != lintel.StatusTaken || got.receipt.HardwareName != "Barn" {
			t.Errorf("%+v", got)
		}
		if len(h.store.order) != 3 || h.store.order[0] != "record" || h.store.order[1] != "send" || h.store.order[2] != "settle" {
			t.Errorf("order %v", h.store.order)
		}
	})
}

func TestOutcomes(t *testing.T) {
	for code, want := range map[int]lintel.Status{200: lintel.StatusTaken, 400: lintel.StatusRefused, 401: lintel.StatusRefused, 428: lintel.StatusRefused, 501: lintel.StatusRefused} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			done := h.move(t.Context(), lintel.ActionClose)
			h.answer((<-h.link.orders).CommandID, code)
			if got := <-done; got.receipt.Outcome.Status != want || got.receipt.Outcome.Code != code {
				t.Errorf("%d: %+v", code, got)
			}
		})
	}
	for err, want := range map[error]lintel.Outcome{
		ErrOffline: {Status: lintel.StatusUnreachable, Reason: "offline"},
		ErrNoDoor:  {Status: lintel.StatusRefused, Code: 501, Reason: "no_such_door"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.link.err = err
			began := time.Now()
			got := <-h.move(t.Context(), lintel.ActionOpen)
			got.receipt.Outcome.SettledAt = time.Time{}
			if got.receipt.Outcome != want || time.Since(began) != 0 {
				t.Errorf("%v: %+v after %v", err, got.receipt.Outcome, time.Since(began))
			}
		})
	}
}

// TestALateAnswerHelpsNobody: it is recorded with its own command, and the next
// request is not answered by it.
func TestALateAnswerHelpsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		first := h.move(t.Context(), lintel.ActionOpen)
		late := (<-h.link.orders).CommandID
		got := <-first
		if got.receipt.Outcome.Status != lintel.StatusUnanswered {
			t.Fatalf("%+v", got)
		}
		second := h.move(t.Context(), lintel.ActionClose)
		order := <-h.link.orders
		h.answer(late, 200)
		synctest.Wait()
		if len(second) != 0 || h.store.late[late].Code != 200 {
			t.Errorf("answered early, or late answers are %v", h.store.late)
		}
		h.answer(order.CommandID, 428)
		if got := <-second; got.receipt.Outcome.Code != 428 {
			t.Errorf("%+v", got)
		}
	})
}

// TestRepeatedAndForeignAnswersChangeNothing: only the first answer of the
// command's own controller counts, and a repetition is not late.
func TestRepeatedAndForeignAnswersChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.store.settling = make(chan struct{})
		done := h.move(t.Context(), lintel.ActionOpen)
		id := (<-h.link.orders).CommandID
		h.Answered(t.Context(), thePerson, Answer{CommandID: id, Code: 501}) // another controller's ID
		h.answer(id, 428)
		synctest.Wait() // now settling
		h.answer(id, 200)
		close(h.store.settling)
		if got := <-done; got.receipt.Outcome.Code != 428 || len(h.store.late) != 0 {
			t.Errorf("%+v, late %v", got, h.store.late)
		}
	})
}

// TestOneAtATime: of many requests for one door the next is sent only when the
// one before is settled, in the order they came; another door is not held up.
func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		var all []<-chan moveResult
		for range 10 {
			all = append(all, h.move(t.Context(), lintel.ActionOpen))
			synctest.Wait()
		}
		for range all {
			order := <-h.link.orders
			synctest.Wait()
			if len(h.link.orders) != 0 {
				t.Fatal("two commands under way at one door")
			}
			h.answer(order.CommandID, 200)
		}
		for _, done := range all {
			if got := <-done; got.err != nil {
				t.Error(got.err)
			}
		}
		for i, step := range h.store.order {
			if want := []string{"record", "send", "settle"}[i%3]; step != want {
				t.Fatalf("step %d is %s, want %s", i, step, want)
			}
		}
		if len(h.turns.doors) != 0 || len(h.pending.waits) != 0 {
			t.Errorf("left behind: %d turns, %d waits", len(h.turns.doors), len(h.pending.waits))
		}
	})
}

// TestTheCallerMayLeave: before its turn nothing is recorded; afterwards the
// outcome is kept all the same.
func TestTheCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		sentCtx, leaveSent := context.WithCancel(t.Context())
		first := h.move(sentCtx, lintel.ActionOpen)
		order := <-h.link.orders
		waitingCtx, leaveWaiting := context.WithCancel(t.Context())
		second := h.move(waitingCtx, lintel.ActionOpen)
		synctest.Wait()
		leaveWaiting()
		if got := <-second; got.err == nil {
			t.Error("a request whose caller left while it waited went on")
		}
		leaveSent()
		h.answer(order.CommandID, 200)
		if got := <-first; got.err != nil {
			t.Error(got.err)
		}
		if len(h.store.commands) != 1 || h.store.commands[order.CommandID].Outcome.Status != lintel.StatusTaken {
			t.Errorf("%+v", h.store.commands)
		}
	})
}

// TestTheDiskTakesFromTheDeadline: what recording takes is not given to the
// controller on top, and what comes too late is not sent at all.
func TestTheDiskTakesFromTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.store.slow = 3 * time.Second
		began := time.Now()
		done := h.move(t.Context(), lintel.ActionOpen)
		order := <-h.link.orders
		if left := time.Until(order.Deadline); left != 2*time.Second {
			t.Errorf("%v left", left)
		}
		if got := <-done; got.receipt.Outcome.Status != lintel.StatusUnanswered || time.Since(began) != 5*time.Second {
			t.Errorf("%+v after %v", got, time.Since(began))
		}
		h.store.slow = 5 * time.Second
		if got := <-h.move(t.Context(), lintel.ActionOpen); got.receipt.Outcome.Status != lintel.StatusUnreachable || len(h.link.orders) != 0 {
			t.Errorf("%+v, %d sent", got, len(h.link.orders))
		}
	})
}

// TestAnOutcomeOutlivesAFullDisk: the caller learns that its answer is not on
// disk, and it gets there as soon as the disk allows.
func TestAnOutcomeOutlivesAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.store.failing = 5
		done := h.move(t.Context(), lintel.ActionOpen)
		id := (<-h.link.orders).CommandID
		h.answer(id, 200)
		if got := <-done; lintel.CodeOf(got.err) != lintel.CodeInternal || got.receipt.CommandID != id || got.receipt.HardwareName != "Barn" {
			t.Errorf("%+v", got)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if o := h.store.commands[id].Outcome; o.Status != lintel.StatusTaken || o.Code != 200 {
			t.Errorf("%+v", o)
		}
		h.store.failing = 1 << 30
		done = h.move(t.Context(), lintel.ActionOpen)
		h.answer((<-h.link.orders).CommandID, 200)
		<-done
		h.Stop() // does not wait for a disk that never comes back
	})
}

func TestTooManyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		for range maxWaiting + 1 {
			h.move(t.Context(), lintel.ActionOpen)
		}
		synctest.Wait()
		if got := <-h.move(t.Context(), lintel.ActionOpen); lintel.CodeOf(got.err) != lintel.CodeTooMany {
			t.Errorf("%+v", got)
		}
		h.Stop()
	})
}

// TestRevokedBetweenCheckAndRecord: the statement that records the command is
// the last word, and its refusal is explained.
func TestRevokedBetweenCheckAndRecord(t *testing.T) {
	h := newHouse()
	h.store.revoked = true
	_, err := h.Move(t.Context(), Request{Door: theDoor, Action: lintel.ActionOpen})
	if lintel.CodeOf(err) != lintel.CodeUnauthenticated || len(h.link.orders) != 0 {
		t.Errorf("%v, %d sent", err, len(h.link.orders))
	}
}

func TestRefusedBeforeAnythingHappens(t *testing.T) {
	h := newHouse()
	h.store.target.OwnerID = theController
	_, err := h.Move(t.Context(), Request{Door: theDoor, Action: lintel.ActionOpen})
	if lintel.CodeOf(err) != lintel.CodeNotFound || len(h.store.order) != 0 {
		t.Errorf("%v, %v", err, h.store.order)
	}
}
