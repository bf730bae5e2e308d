package storetest

import (
	"testing"
	"time"

	"lintel"
)

var settleCases = []testCase{
	{"SettleCommand", "stores every outcome", settleStores},
	{"SettleCommand", "happens once", settleOnce},
	{"SettleCommand", "an unknown command changes nothing", settleUnknown},
	{"SettleCommand", "a code outside the table is an error", settleCode},
	{"AbandonCommands", "settles what is open, once", abandon},
}

var lateCases = []testCase{
	{"SettleLate", "keeps an answer while nobody had one", lateByStatus},
	{"SettleLate", "is kept once", lateOnce},
	{"SettleLate", "only from the command's own controller", lateOther},
}

// outcomes are all that a command can come to.
var outcomes = []lintel.Outcome{
	{Status: lintel.StatusTaken, Code: 200},
	{Status: lintel.StatusTaken, Code: 200, Reason: "already_there"},
	{Status: lintel.StatusRefused, Code: 400, Reason: "malformed"},
	{Status: lintel.StatusRefused, Code: 401},
	{Status: lintel.StatusRefused, Code: 404, Reason: "late"},
	{Status: lintel.StatusRefused, Code: 428, Reason: "sensor_lost"},
	{Status: lintel.StatusRefused, Code: 501, Reason: "unsupported"},
	{Status: lintel.StatusUnreachable, Reason: "offline"},
	{Status: lintel.StatusUnanswered, Reason: "deadline"},
	{Status: lintel.StatusUnknown, Reason: "service_stopped"},
}

func settleStores(t *testing.T, h *house) {
	open := h.sent(t)
	for i, o := range outcomes {
		o.SettledAt = epoch.Add(time.Duration(i) * time.Second)
		c := h.sent(t)
		must(t, h.SettleCommand(t.Context(), c.ID, o))
		c.Outcome = o
		equal(t, h.read(t, c.ID), c)
	}
	equal(t, h.read(t, open.ID), open)
}

func settleOnce(t *testing.T, h *house) {
	for _, first := range outcomes {
		c := h.sent(t)
		first.SettledAt = epoch.Add(time.Second)
		must(t, h.SettleCommand(t.Context(), c.ID, first))
		for _, second := range outcomes {
			second.SettledAt = epoch.Add(time.Minute)
			must(t, h.SettleCommand(t.Context(), c.ID, second))
		}
		equal(t, h.read(t, c.ID).Outcome, first)
	}
}

func settleUnknown(t *testing.T, h *house) {
	c := h.sent(t)
	must(t, h.SettleCommand(t.Context(), lintel.NewID(), lintel.Outcome{Status: lintel.StatusTaken, Code: 200, SettledAt: epoch}))
	equal(t, h.read(t, c.ID), c)
}

func settleCode(t *testing.T, h *house) {
	c := h.sent(t)
	for _, o := range []lintel.Outcome{{Status: lintel.StatusTaken, Code: 201}, {Status: "done", Code: 200}} {
		o.SettledAt = epoch
		wantCode(t, h.SettleCommand(t.Context(), c.ID, o), lintel.CodeInternal)
	}
	equal(t, h.read(t, c.ID), c)
}

func abandon(t *testing.T, h *house) {
	settled := h.sent(t)
	settled.Outcome = lintel.Outcome{Status: lintel.StatusTaken, Code: 200, SettledAt: epoch}
	must(t, h.SettleCommand(t.Context(), settled.ID, settled.Outcome))
	open := []lintel.Command{h.sent(t), h.sent(t), h.sent(t)}
	now := epoch.Add(time.Hour)
	n, err := h.AbandonCommands(t.Context(), now)
	must(t, err)
	equal(t, n, 3)
	for _, c := range open {
		c.Outcome = lintel.Outcome{Status: lintel.StatusUnknown, Reason: "service_stopped", SettledAt: now}
		equal(t, h.read(t, c.ID), c)
	}
	equal(t, h.read(t, settled.ID), settled)
	n, err = h.AbandonCommands(t.Context(), now.Add(time.Hour))
	must(t, err)
	equal(t, n, 0)
}

var lateAnswer = lintel.LateAnswer{Code: 200, Reason: "slow", At: epoch.Add(time.Minute)}

// lateByStatus keeps a late answer only where nobody was told another one.
func lateByStatus(t *testing.T, h *house) {
	for _, o := range append(outcomes, lintel.Outcome{Status: lintel.StatusSent}) {
		c := h.sent(t)
		if o.Status != lintel.StatusSent {
			o.SettledAt = epoch
			must(t, h.SettleCommand(t.Context(), c.ID, o))
		}
		must(t, h.SettleLate(t.Context(), c.ID, h.controller.ID, lateAnswer))
		switch o.Status {
		case lintel.StatusSent, lintel.StatusUnanswered, lintel.StatusUnknown:
			o.Late = &lateAnswer
		}
		equal(t, h.read(t, c.ID).Outcome, o)
	}
}

func lateOnce(t *testing.T, h *house) {
	c := h.sent(t)
	must(t, h.SettleLate(t.Context(), c.ID, h.controller.ID, lateAnswer))
	second := lintel.LateAnswer{Code: 501, At: epoch.Add(time.Hour)}
	must(t, h.SettleLate(t.Context(), c.ID, h.controller.ID, second))
	o := lintel.Outcome{Status: lintel.StatusUnanswered, Reason: "deadline", SettledAt: epoch}
	must(t, h.SettleCommand(t.Context(), c.ID, o))
	must(t, h.SettleLate(t.Context(), c.ID, h.controller.ID, second))
	o.Late = &lateAnswer // and settling has not touched it
	equal(t, h.read(t, c.ID).Outcome, o)
}

func lateOther(t *testing.T, h *house) {
	other, _ := h.addController(t, h.owner, 1)
	c := h.sent(t)
	for _, controller := range []lintel.ID{other.ID, lintel.NewID(), ""} {
		must(t, h.SettleLate(t.Context(), c.ID, controller, lateAnswer))
	}
	must(t, h.SettleLate(t.Context(), lintel.NewID(), h.controller.ID, lateAnswer))
	equal(t, h.read(t, c.ID), c)
}
