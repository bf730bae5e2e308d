// Package store keeps the service's state in SQL: one text for SQLite and
// PostgreSQL, one file for each aggregate. The engines are in store/sqlite and
// store/postgres, and storetest holds both to the same behaviour.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"lintel"
)

// Engine is a database that the store runs on.
type Engine interface {
	// Write runs fn in a transaction and returns once what it did is on disk,
	// or was undone because fn or the engine failed. fn may run together with
	// others in one commit, must touch the database through tx only, and must
	// not block.
	Write(ctx context.Context, fn func(tx Tx) error) error
	// Reader returns a handle for reading what is committed.
	Reader() *sql.DB
	// IsUnique reports whether err says that a row like it already exists.
	IsUnique(err error) bool
	// Close ends all work and releases the database.
	Close() error
}

// Tx is a transaction as the store uses it; *sql.Tx is one.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Store is the service's state.
type Store struct {
	engine Engine
	reads  statements
}

// New returns a store on an engine whose schema is current.
func New(engine Engine) *Store {
	return &Store{engine: engine, reads: statements{db: engine.Reader()}}
}

// Close closes the engine.
func (s *Store) Close() error {
	return errors.Join(s.reads.close(), s.engine.Close())
}

// exec runs one statement in its own write and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var changed int64
	err := s.engine.Write(ctx, func(tx Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, err // and changed is not read: when ctx ended first, the write may still run
	}
	return changed, nil
}

// execOne is exec for a statement that must change exactly one row.
func (s *Store) execOne(ctx context.Context, what, query string, args ...any) error {
	changed, err := s.exec(ctx, query, args...)
	if err != nil {
		return internal(what, err)
	}
	if changed != 1 {
		return notFound(what)
	}
	return nil
}

func notFound(what string) error {
	return &lintel.Error{Code: lintel.CodeNotFound, Message: fmt.Sprintf("%s not found", what)}
}

func internal(what string, err error) error {
	return &lintel.Error{Code: lintel.CodeInternal, Message: "the service could not use its storage", Err: fmt.Errorf("%s: %w", what, err)}
}

// ms is a time as it is stored: Unix milliseconds.
func ms(t time.Time) int64 { return t.UnixMilli() }

// nullMS stores the zero time as NULL.
func nullMS(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

// at reads a stored time.
func at(v int64) time.Time { return time.UnixMilli(v).UTC() }

// nullAt reads NULL as the zero time.
func nullAt(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return at(v.Int64)
}
