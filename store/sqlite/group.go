package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"lintel/store"
)

// maxGroup is how many writes share one commit at the most.
const maxGroup = 128

// group commits the writes that are waiting together: while one commit is being
// put on disk, the next group gathers. On slow storage that is a multiple of
// the throughput, and it costs nothing when there is no queue. No timer: a
// write never waits for company.
type group struct {
	writer *writer
	queue  chan *write
	closed chan struct{}
	ended  chan struct{}
	err    error // of closing the writer; set before ended
	once   sync.Once
}

type write struct {
	fn   func(tx store.Tx) error
	err  error // of fn
	done chan error
}

var errClosed = errors.New("the database is closed")

func newGroup(ctx context.Context, db *sql.DB) (*group, error) {
	writer, err := newWriter(ctx, db)
	if err != nil {
		return nil, err
	}
	g := &group{writer: writer, queue: make(chan *write, maxGroup), closed: make(chan struct{}), ended: make(chan struct{})}
	go g.run()
	return g, nil
}

// write queues fn and waits for its commit. When ctx ends first the write may
// still happen, and the error says only that the caller no longer waits.
func (g *group) write(ctx context.Context, fn func(tx store.Tx) error) error {
	w := &write{fn: fn, done: make(chan error, 1)}
	select {
	case g.queue <- w:
	case <-g.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-g.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	default:
		return errClosed
	}
}

// close finishes what is queued and ends the goroutine.
func (g *group) close() error {
	g.once.Do(func() { close(g.closed) })
	<-g.ended
	return g.err
}

func (g *group) run() {
	defer func() {
		g.err = g.writer.close()
		close(g.ended)
	}()
	for {
		select {
		case w := <-g.queue:
			g.commit(g.gather(w))
		case <-g.closed:
			select {
			case w := <-g.queue:
				g.commit(g.gather(w))
			default:
				return
			}
		}
	}
}

func (g *group) gather(first *write) []*write {
	writes := []*write{first}
	for len(writes) < maxGroup {
		select {
		case w := <-g.queue:
			writes = append(writes, w)
		default:
			return writes
		}
	}
	return writes
}

// commit runs the writes in one transaction. Each has a savepoint of its own,
// so that one that fails is undone alone; a group of one needs none.
func (g *group) commit(writes []*write) {
	err := g.writer.transact(func() error {
		if len(writes) == 1 {
			writes[0].err = g.safely(writes[0].fn)
			return writes[0].err
		}
		for _, w := range writes {
			if err := g.isolated(w); err != nil {
				return err
			}
		}
		return nil
	})
	for _, w := range writes {
		if w.err == nil {
			w.err = err
		}
		w.done <- w.err
	}
}

func (g *group) isolated(w *write) error {
	if err := g.writer.run(`SAVEPOINT item`); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	if w.err = g.safely(w.fn); w.err != nil {
		if err := g.writer.run(`ROLLBACK TO item`); err != nil {
			return fmt.Errorf("savepoint: %w", err)
		}
	}
	if err := g.writer.run(`RELEASE item`); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return nil
}

// safely keeps one caller's panic from ending everybody's writes.
func (g *group) safely(fn func(tx store.Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v", p)
		}
	}()
	return fn(g.writer)
}
