package storetest

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lintel"
)

// In these many do the same thing at once. SQLite has one writer; PostgreSQL
// has as many as there are, at READ COMMITTED.
var raceCases = []testCase{
	{"AddPerson", "at once: one gets the address", raceAddress},
	{"BeginSession", "at once: every number once", raceSessions},
	{"RevokeToken", "at once: one time stays", raceRevoke},
	{"RevokeToken", "while commands are recorded: none after it", raceRevokeRecord},
	{"RecordCommand", "at once: an id is recorded once", raceRecord},
	{"SettleCommand", "at once: one outcome, whole", raceSettle},
	{"SettleLate", "at once: one answer, whole", raceLate},
	{"AbandonCommands", "at once with an answer: one of them", raceAbandon},
	{"RecordEvent", "at once: a repeated one is stored once", raceEvent},
	{"RecordEvent", "at once: the state is the latest one's", raceEvents},
	{"RecordState", "at once: the state is the latest one's", raceStates},
}

// winners runs do for a crowd and returns those for whom it gave no error. The
// others must have failed with code.
func winners(t *testing.T, code lintel.Code, do func(i int) error) []int {
	t.Helper()
	errs := make([]error, crowd)
	together(func(i int) { errs[i] = do(i) })
	var won []int
	for i, err := range errs {
		switch lintel.CodeOf(err) {
		case "":
			won = append(won, i)
		case code:
		default:
			t.Errorf("number %d failed: %v", i, err)
		}
	}
	return won
}

// everybody runs do for a crowd; none of it may fail.
func everybody(t *testing.T, do func(i int) error) {
	t.Helper()
	if won := winners(t, "", do); len(won) != crowd {
		t.Fatalf("%d of %d succeeded", len(won), crowd)
	}
}

// moment gives each of a crowd its own time.
func moment(i int) time.Time { return epoch.Add(time.Duration(i+1) * time.Second) }

func raceAddress(t *testing.T, h *house) {
	ids := make([]lintel.ID, crowd)
	won := winners(t, lintel.CodeConflict, func(i int) error {
		ids[i] = lintel.NewID()
		return h.AddPerson(t.Context(), lintel.Person{ID: ids[i], Email: "same@example.org", CreatedAt: epoch}, "")
	})
	equal(t, len(won), 1)
	p, err := h.PersonByEmail(t.Context(), "same@example.org")
	must(t, err)
	equal(t, p.ID, ids[won[0]])
}

func raceSessions(t *testing.T, h *house) {
	numbers, want := make([]int64, crowd), make([]int64, crowd)
	everybody(t, func(i int) (err error) {
		want[i] = int64(i + 1)
		numbers[i], _, err = h.BeginSession(t.Context(), h.controller.ID, "x", epoch)
		return err
	})
	slices.Sort(numbers)
	equal(t, numbers, want)
}

func raceRevoke(t *testing.T, h *house) {
	seen := make([]time.Time, crowd)
	everybody(t, func(i int) error {
		if err := h.RevokeToken(t.Context(), h.token.ID, "", moment(i)); err != nil {
			return err
		}
		list, err := h.Tokens(t.Context(), h.owner.ID)
		if err == nil {
			seen[i] = list[0].RevokedAt
		}
		return err
	})
	first := h.tokens(t, h.owner)[0].RevokedAt
	for _, at := range seen {
		equal(t, at, first)
	}
}

// raceRevokeRecord revokes a token amid commands: whoever has seen the
// revocation return cannot record another one.
func raceRevokeRecord(t *testing.T, h *house) {
	var revoked atomic.Bool
	var recorded atomic.Int64
	everybody(t, func(i int) error {
		if i == crowd/2 {
			defer revoked.Store(true)
			return h.RevokeToken(t.Context(), h.token.ID, "", epoch)
		}
		for range 10 {
			late := revoked.Load()
			ok, err := h.RecordCommand(t.Context(), h.command(), h.token.Hash)
			if err != nil {
				return err
			}
			if ok {
				recorded.Add(1)
			}
			if ok && late {
				t.Error("a command was recorded after its token had been revoked")
			}
		}
		return nil
	})
	all, err := h.Commands(t.Context(), "", 1000)
	must(t, err)
	equal(t, int64(len(all)), recorded.Load())
}

func raceRecord(t *testing.T, h *house) {
	c := h.command()
	won := winners(t, lintel.CodeInternal, func(i int) error {
		mine := c
		mine.RequestedAt = moment(i)
		ok, err := h.RecordCommand(t.Context(), mine, h.token.Hash)
		if err == nil && !ok {
			t.Error("a good command was refused")
		}
		return err
	})
	equal(t, len(won), 1)
	equal(t, h.read(t, c.ID).RequestedAt, moment(won[0]))
}

// outcomeOf gives each of a crowd an outcome that differs in every field.
func outcomeOf(i int) lintel.Outcome {
	o := outcomes[i%len(outcomes)]
	o.Reason, o.SettledAt = string(rune('a'+i)), moment(i)
	return o
}

func raceSettle(t *testing.T, h *house) {
	c := h.sent(t)
	seen := make([]lintel.Outcome, crowd)
	everybody(t, func(i int) error {
		if err := h.SettleCommand(t.Context(), c.ID, outcomeOf(i)); err != nil {
			return err
		}
		list, err := h.Commands(t.Context(), c.DoorID, 1)
		if err == nil {
			seen[i] = list[0].Outcome
		}
		return err
	})
	final := h.read(t, c.ID).Outcome
	equal(t, final, outcomeOf(int(final.Reason[0]-'a')))
	for _, o := range seen {
		equal(t, o, final) // whoever has settled sees what will stay
	}
}

func raceLate(t *testing.T, h *house) {
	c := h.sent(t)
	answer := func(i int) lintel.LateAnswer {
		return lintel.LateAnswer{Code: 200 + i, Reason: string(rune('a' + i)), At: moment(i)}
	}
	everybody(t, func(i int) error { return h.SettleLate(t.Context(), c.ID, h.controller.ID, answer(i)) })
	late := h.read(t, c.ID).Outcome.Late
	if late == nil {
		t.Fatal("no answer was kept")
	}
	equal(t, *late, answer(late.Code-200))
}

func raceAbandon(t *testing.T, h *house) {
	c := h.sent(t)
	var abandoned atomic.Int64
	everybody(t, func(i int) error {
		if i%2 == 0 {
			return h.SettleCommand(t.Context(), c.ID, lintel.Outcome{Status: lintel.StatusTaken, Code: 200, SettledAt: moment(i)})
		}
		n, err := h.AbandonCommands(t.Context(), moment(i))
		abandoned.Add(n)
		return err
	})
	want := lintel.StatusTaken
	if abandoned.Load() == 1 {
		want = lintel.StatusUnknown
	}
	equal(t, h.read(t, c.ID).Outcome.Status, want)
	equal(t, abandoned.Load() <= 1, true)
}

func raceEvent(t *testing.T, h *house) {
	e := h.event(1, 1)
	everybody(t, func(int) error { return h.RecordEvent(t.Context(), h.controller.ID, e) })
	equal(t, h.events(t, e.DoorID, 100), stored(e))
	equal(t, h.door(t, e.DoorID).State, e.State)
}

func raceEvents(t *testing.T, h *house) {
	var all []lintel.DoorEvent
	for i := range crowd {
		all = append(all, h.event(int64(1+i/7), int64(1+i%7)))
	}
	everybody(t, func(i int) error { return h.RecordEvent(t.Context(), h.controller.ID, all[(i*7)%crowd]) })
	last := all[crowd-1]
	equal(t, h.door(t, last.DoorID).State, last.State)
	slices.Reverse(all)
	equal(t, h.events(t, last.DoorID, 100), stored(all...))
}

func raceStates(t *testing.T, h *house) {
	everybody(t, func(i int) error {
		e := h.event(2, int64(1+(i*7)%crowd))
		return h.RecordState(t.Context(), e.DoorID, e.Session, e.Sequence, e.State)
	})
	last := h.event(2, crowd)
	equal(t, h.door(t, last.DoorID).State, last.State)
}
