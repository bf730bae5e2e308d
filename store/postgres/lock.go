package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// serviceLock is the advisory lock that one service holds on its database.
const serviceLock = 0x6c696e74656c // "lintel"

// releaseTimeout is how long closing waits for a server that does not answer.
const releaseTimeout = 2 * time.Second

// holdPause is between two tries to get a lost lock back.
const holdPause = time.Second

var (
	errInUse = errors.New("the database is in use by another lintel service")
	errLost  = errors.New("the lock on the database is lost: another lintel service may use it")
)

// hold takes serviceLock on a connection of its own.
func (db *DB) hold(ctx context.Context) error {
	conn, err := db.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	var held bool
	if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(serviceLock)).Scan(&held); err != nil {
		return errors.Join(fmt.Errorf("open the database: %w", err), conn.Close())
	}
	if !held {
		return errors.Join(errInUse, conn.Close())
	}
	db.held = conn
	return nil
}

// keep has nothing written once the connection that holds the lock has ended, until
// the lock is had again: the server gives it to the next service that asks, which
// settles what it finds under way.
func (db *DB) keep() {
	ctx, cancel := context.WithCancel(context.Background())
	db.keeping.Add(1)
	db.stop = func() {
		cancel()
		db.keeping.Wait()
	}
	go func() {
		defer db.keeping.Done()
		for {
			ended(ctx, db.held)
			if ctx.Err() != nil {
				return
			}
			db.lost.Store(true)
			_ = db.held.Close()
			if db.held = nil; !db.holdAgain(ctx) {
				return
			}
			db.lost.Store(false)
		}
	}()
}

// ended returns when a connection has, or ctx. Nobody notifies anybody of anything:
// waiting for it is a way to read until the end.
func ended(ctx context.Context, conn *sql.Conn) {
	for ctx.Err() == nil {
		if conn.Raw(func(driver any) error {
			_, err := driver.(*stdlib.Conn).Conn().WaitForNotification(ctx)
			return err
		}) != nil {
			return
		}
	}
}

// holdAgain tries until it holds the lock; false means that ctx has ended.
func (db *DB) holdAgain(ctx context.Context) bool {
	for db.hold(ctx) != nil {
		select {
		case <-time.After(holdPause):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// release gives serviceLock back before it returns, so that the next service
// can start at once: the server ends a closed connection only a moment later.
func (db *DB) release() error {
	db.stop()
	if db.held == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	_, _ = db.held.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", int64(serviceLock)) // where it fails, the connection's end does it
	return db.held.Close()
}
