package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"lintel/store"
)

// bubble is a group on a table of numbers, where the test can wait until every
// write is queued.
type bubble struct {
	*group
	reader *sql.DB
}

func inBubble(t *testing.T, test func(t *testing.T, b *bubble)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		db := handle(path, writerOptions, 1)
		if _, err := db.Exec(`CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT`); err != nil {
			t.Fatal(err)
		}
		g, err := newGroup(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		b := &bubble{g, handle(path, readerOptions, 1)}
		test(t, b)
		if err := errors.Join(b.close(), b.reader.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

func insert(n int) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.ExecContext(context.Background(), `INSERT INTO numbers VALUES ($1)`, n)
		return err
	}
}

// hold keeps the group busy with one write until release is called, so that
// what is queued meanwhile forms one group.
func (b *bubble) hold(t *testing.T) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	b.queueUp(t.Context(), func(store.Tx) error {
		<-gate
		return nil
	})
	return func() {
		close(gate)
		synctest.Wait()
	}
}

// queueUp queues writes one after the other and returns where their errors come.
func (b *bubble) queueUp(ctx context.Context, writes ...func(store.Tx) error) (results []chan error) {
	for _, fn := range writes {
		result := make(chan error, 1)
		go func() { result <- b.write(ctx, fn) }()
		synctest.Wait()
		results = append(results, result)
	}
	return results
}

// has reads which of the numbers 0 to n-1 are on disk.
func (b *bubble) has(t *testing.T, n int) []bool {
	t.Helper()
	stored := make([]bool, n)
	rows, err := b.reader.Query(`SELECT n FROM numbers`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var i int
		if err := rows.Scan(&i); err != nil {
			t.Fatal(err)
		}
		if i < n {
			stored[i] = true
		}
	}
	return stored
}

// commits tells how often the file has been changed, as another connection sees it.
func (b *bubble) commits(t *testing.T) (n int) {
	if err := b.reader.QueryRow(`PRAGMA data_version`).Scan(&n); err != nil {
		t.Error(err)
	}
	return n
}

// check holds every write to what it answered: stored or an error, never both
// and never neither. The writes in bad must have failed.
func (b *bubble) check(t *testing.T, results []chan error, bad map[int]string) {
	t.Helper()
	for i, stored := range b.has(t, len(results)) {
		err := <-results[i]
		if stored != (err == nil) {
			t.Errorf("write %d: stored %v, error %v", i, stored, err)
		}
		want, failed := bad[i]
		if failed != (err != nil) || failed && !strings.Contains(err.Error(), want) {
			t.Errorf("write %d: error %v, want %q", i, err, want)
		}
	}
}

func TestWaitingWritesShareCommits(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		const n = 3*maxGroup + 10
		shared := map[int]int{} // by how many commits came before
		var writes []func(store.Tx) error
		for i := range n {
			writes = append(writes, func(tx store.Tx) error {
				shared[b.commits(t)]++ // the group's goroutine is the only one here
				return insert(i)(tx)
			})
		}
		release := b.hold(t)
		results := b.queueUp(t.Context(), writes...)
		release()
		b.check(t, results, nil)
		if most := (n+maxGroup-1)/maxGroup + 1; len(shared) > most {
			t.Errorf("%d writes took %d commits, more than %d", n, len(shared), most)
		}
		for _, size := range shared {
			if size > maxGroup {
				t.Errorf("one commit has %d writes, more than %d", size, maxGroup)
			}
		}
	})
}

func TestALoneWriteNeedsNoCompany(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		for n := range 3 {
			if err := b.write(t.Context(), insert(n)); err != nil {
				t.Fatal(err)
			}
			if !b.has(t, 3)[n] {
				t.Fatalf("%d was acknowledged and is not stored", n)
			}
		}
	})
}

// failures are the ways in which one write goes wrong after it has changed something.
var failures = map[string]func(n int) func(store.Tx) error{
	"its own error": func(n int) func(store.Tx) error {
		return func(tx store.Tx) error { return errors.Join(insert(n)(tx), errors.New("its own error")) }
	},
	"constraint": func(n int) func(store.Tx) error {
		return func(tx store.Tx) error { return errors.Join(insert(n)(tx), insert(n)(tx)) }
	},
	"panic in a write: oops": func(n int) func(store.Tx) error {
		return func(tx store.Tx) error {
			_ = insert(n)(tx)
			panic("oops")
		}
	},
}

func TestAFailingWriteIsUndoneAlone(t *testing.T) {
	for want, fail := range failures {
		for _, place := range []int{0, 2, 4} {
			inBubble(t, func(t *testing.T, b *bubble) {
				writes := []func(store.Tx) error{insert(0), insert(1), insert(2), insert(3), insert(4)}
				writes[place] = fail(place)
				release := b.hold(t)
				results := b.queueUp(t.Context(), writes...)
				release()
				b.check(t, results, map[int]string{place: want})
			})
		}
	}
}

func TestALoneFailingWriteIsUndone(t *testing.T) {
	for want, fail := range failures {
		inBubble(t, func(t *testing.T, b *bubble) {
			results := b.queueUp(t.Context(), fail(0), insert(1))
			b.check(t, results, map[int]string{0: want})
		})
	}
}

// TestABrokenTransactionAcknowledgesNothing has SQLite give the whole
// transaction up amid a group, as it does when the disk is full or a statement
// is interrupted. Then all of the group is lost, and all are told.
func TestABrokenTransactionAcknowledgesNothing(t *testing.T) {
	for _, silent := range []bool{false, true} {
		inBubble(t, func(t *testing.T, b *bubble) {
			giveUp := func(tx store.Tx) error {
				_, err := tx.ExecContext(t.Context(), `ROLLBACK`)
				if silent {
					return err
				}
				return errors.Join(err, errors.New("savepoint lost"))
			}
			release := b.hold(t)
			results := b.queueUp(t.Context(), insert(0), giveUp, insert(2))
			release()
			b.check(t, results, map[int]string{0: "savepoint", 1: "savepoint", 2: "savepoint"})
			b.check(t, b.queueUp(t.Context(), insert(0), insert(1)), nil) // and the next ones work
		})
	}
}

// TestCloseFinishesWhatIsQueued repeats itself, for the group's goroutine sees
// the close and the queue in either order.
func TestCloseFinishesWhatIsQueued(t *testing.T) {
	for range 20 {
		inBubble(t, func(t *testing.T, b *bubble) {
			release := b.hold(t)
			results := b.queueUp(t.Context(), insert(0), insert(1), insert(2))
			closed := make(chan struct{})
			go func() {
				_ = b.close()
				close(closed)
			}()
			synctest.Wait()
			select {
			case <-closed:
				t.Error("closed while writes were queued")
			default:
			}
			release()
			<-closed
			b.check(t, results, nil)
		})
	}
}

func TestAWriteAfterCloseIsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		if err := errors.Join(b.close(), b.close()); err != nil { // again is no error
			t.Error(err)
		}
		for range 2 * maxGroup {
			if err := b.write(t.Context(), insert(0)); !errors.Is(err, errClosed) {
				t.Fatalf("error %v", err)
			}
		}
		if b.has(t, 1)[0] {
			t.Error("stored after close")
		}
	})
}

func TestACallerNeedNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		release := b.hold(t)
		ctx, cancel := context.WithCancel(t.Context())
		left := b.queueUp(ctx, insert(0))[0]
		stayed := b.queueUp(t.Context(), insert(1))[0]
		cancel()
		synctest.Wait()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		release()
		if err := <-stayed; err != nil {
			t.Error(err)
		}
	})
}

// TestACallerNeedNotWaitForAFullQueue has more writes waiting than the queue holds.
func TestACallerNeedNotWaitForAFullQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		release := b.hold(t)
		for i := range maxGroup {
			b.queueUp(t.Context(), insert(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		left := b.queueUp(ctx, insert(1000))[0]
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		release()
	})
}
