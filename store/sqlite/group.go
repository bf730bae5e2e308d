package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// maxGroup is how many writes share one commit at the most.
const maxGroup = 128

// group commits the writes that are waiting together: while one commit is being
// put on disk, the next group gathers. On slow storage that is a multiple of
// the throughput, and it costs nothing when there is no queue. No timer: a
// write never waits for company.
type group struct {
	db     *sql.DB
	queue  chan *write
	closed chan struct{}
	ended  chan struct{}
	once   sync.Once
}

type write struct {
	fn   func(tx *sql.Tx) error
	err  error // of fn
	done chan error
}

var errClosed = errors.New("the database is closed")

func newGroup(db *sql.DB) *group {
	g := &group{db: db, queue: make(chan *write, maxGroup), closed: make(chan struct{}), ended: make(chan struct{})}
	go g.run()
	return g
}

// write queues fn and waits for its commit. When ctx ends first the write may
// still happen, and the error says only that the caller no longer waits.
func (g *group) write(ctx context.Context, fn func(tx *sql.Tx) error) error {
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
func (g *group) close() {
	g.once.Do(func() { close(g.closed) })
	<-g.ended
}

func (g *group) run() {
	defer close(g.ended)
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
	err := g.transact(writes)
	for _, w := range writes {
		if w.err == nil {
			w.err = err
		}
		w.done <- w.err
	}
}

func (g *group) transact(writes []*write) error {
	tx, err := g.db.Begin()
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() // of no effect after a commit
	if len(writes) == 1 {
		if writes[0].err = safely(writes[0].fn, tx); writes[0].err != nil {
			return nil
		}
		return tx.Commit()
	}
	for _, w := range writes {
		if err := isolated(tx, w); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func isolated(tx *sql.Tx, w *write) error {
	if _, err := tx.Exec(`SAVEPOINT item`); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	end := `RELEASE item`
	if w.err = safely(w.fn, tx); w.err != nil {
		end = `ROLLBACK TO item; RELEASE item`
	}
	if _, err := tx.Exec(end); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return nil
}

// safely keeps one caller's panic from ending everybody's writes.
func safely(fn func(tx *sql.Tx) error, tx *sql.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v", p)
		}
	}()
	return fn(tx)
}
