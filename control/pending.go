package control

import (
	"context"
	"sync"

	"lintel"
)

// Answer is a controller's answer to a command.
type Answer struct {
	CommandID lintel.ID
	Code      int // from the interface's table
	Reason    string
}

// pending holds the commands that wait for an answer.
type pending struct {
	mu    sync.Mutex // guards waits
	waits map[lintel.ID]*waiting
}

// waiting stays in the map until its command is settled on disk, so that a
// repeated answer is told from a late one.
type waiting struct {
	controller lintel.ID
	answer     chan Answer // holds one
	answered   bool
	givenUp    bool
}

func (p *pending) expect(id, controller lintel.ID) <-chan Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiting{controller: controller, answer: make(chan Answer, 1)}
	p.waits[id] = w
	return w.answer
}

// deliver hands an answer to who waits for it. late says that nobody does any
// more; an answer that came before, or from another controller, is neither.
func (p *pending) deliver(controller lintel.ID, a Answer) (late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.waits[a.CommandID]
	switch {
	case !ok || w.givenUp && w.controller == controller:
		return true
	case w.controller != controller || w.answered:
		return false
	}
	w.answered = true
	w.answer <- a
	return false
}

// giveUp ends the waiting; false means that the answer has just come.
func (p *pending) giveUp(id lintel.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waits[id]
	w.givenUp = !w.answered
	return w.givenUp
}

func (p *pending) forget(id lintel.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waits, id)
}

// Answered takes a controller's answer. One that nobody waits for any more is
// recorded as late, and changes nothing else.
func (s *Service) Answered(ctx context.Context, controller lintel.ID, a Answer) {
	if !s.pending.deliver(controller, a) {
		return
	}
	late := lintel.LateAnswer{Code: a.Code, Reason: a.Reason, At: s.cfg.Now()}
	if err := s.store.SettleLate(ctx, a.CommandID, controller, late); err != nil {
		s.cfg.Log.Error("a late answer was not recorded", "command", a.CommandID, "error", err)
		return
	}
	s.cfg.Log.Warn("a controller answered late", "controller", controller, "command", a.CommandID, "code", a.Code)
}
