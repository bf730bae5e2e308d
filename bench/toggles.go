package main

import (
	"context"
	"errors"
	"time"
)

const (
	toggleEmail       = "toggle@bench.example"
	toggleControllers = 256
	doorsEach         = 4
)

// The kinds of load, each run once in every round.
const (
	moveOne  = iota // doors move, 1 toggle in flight
	moveMany        // doors move, manyInFlight in flight
	stayOne         // doors are already there
	stayMany
	kinds
)

func (e extent) loads() [kinds]load {
	return [kinds]load{
		moveOne:  {inFlight: 1, count: e.single, moves: true},
		moveMany: {inFlight: manyInFlight, count: e.parallel, moves: true},
		stayOne:  {inFlight: 1, count: e.single},
		stayMany: {inFlight: manyInFlight, count: e.parallel},
	}
}

// rounds collects what the rounds of floors and toggles measured.
type rounds struct {
	broker, insert []spread
	toggles        [kinds][]sample
	answered       int // toggles answered 200, the warming up included
	moved          int // of them, those that had to move a door
}

// measureToggles takes the floors and the toggles in turns, so that whatever
// else the machine does falls on both.
func (b *bench) measureToggles(ctx context.Context) (err error) {
	s, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	targets, err := s.house(ctx)
	if err != nil {
		return err
	}
	broker, err := newBrokerFloor()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.close()) }()
	insert, err := newInsertFloor(ctx, b.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.close()) }()
	var r rounds
	if err := r.warm(ctx, b.extent, s, targets); err != nil {
		return err
	}
	for range b.extent.rounds {
		if err := r.take(ctx, b.extent, s, targets, broker, insert); err != nil {
			return err
		}
	}
	if err := s.verify(ctx, r.answered, r.moved); err != nil {
		return err
	}
	b.add(r.figures()...)
	return b.measureSync(ctx, s)
}

// house starts the controllers whose doors are toggled.
func (s *service) house(ctx context.Context) ([]*target, error) {
	token, err := s.account(ctx, toggleEmail)
	if err != nil {
		return nil, err
	}
	if err := s.simulate(ctx, toggleEmail, toggleControllers, doorsEach); err != nil {
		return nil, err
	}
	var targets []*target
	err = until(ctx, 100*time.Millisecond, 30*time.Second, "all doors to be known as closed", func() (bool, error) {
		var err error
		targets, err = s.targets(token)
		return len(targets) == toggleControllers*doorsEach, err
	})
	return targets, err
}

// warm fills caches, prepares statements and grows tables, unmeasured.
func (r *rounds) warm(ctx context.Context, e extent, s *service, targets []*target) error {
	_, err := r.run(ctx, s, targets, e.loads()[moveOne])
	return err
}

// take makes one round.
func (r *rounds) take(ctx context.Context, e extent, s *service, targets []*target, broker *brokerFloor, insert *insertFloor) error {
	trips, err := broker.run(ctx, e.floor)
	if err != nil {
		return err
	}
	inserts, err := insert.run(ctx, e.floor)
	if err != nil {
		return err
	}
	r.broker, r.insert = append(r.broker, trips), append(r.insert, inserts)
	for kind, l := range e.loads() {
		got, err := r.run(ctx, s, targets, l)
		if err != nil {
			return err
		}
		r.toggles[kind] = append(r.toggles[kind], got)
	}
	return nil
}

func (r *rounds) run(ctx context.Context, s *service, targets []*target, l load) (sample, error) {
	got, err := s.run(ctx, targets, l)
	r.answered += got.count
	if l.moves {
		r.moved += got.count
	}
	return got, err
}
