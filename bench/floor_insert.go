package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// insertFloor is the least that one durable row can cost: SQLite as the service
// uses it, one prepared insert in a transaction of its own, nothing beside it.
type insertFloor struct {
	db     *sql.DB
	insert *sql.Stmt
	next   int64
}

// floorRow is as long as a command's row.
var floorRow = strings.Repeat("r", 250)

func newInsertFloor(ctx context.Context, dir string) (*insertFloor, error) {
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.Join(dir, "floor.db"),
		RawQuery: "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &insertFloor{db: db}
	if _, err := db.ExecContext(ctx, `CREATE TABLE floor (id INTEGER PRIMARY KEY, row TEXT NOT NULL) STRICT`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if f.insert, err = db.PrepareContext(ctx, `INSERT INTO floor (id, row) VALUES ($1, $2)`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, f.verify(ctx)
}

// verify reads back what makes an insert durable.
func (f *insertFloor) verify(ctx context.Context) error {
	var journal string
	var synchronous int
	err := errors.Join(f.db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal),
		f.db.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous))
	if err == nil && (journal != "wal" || synchronous != 2) {
		err = fmt.Errorf("the floor's database is not durable: journal_mode %s, synchronous %d", journal, synchronous)
	}
	return err
}

// run makes n inserts one after another.
func (f *insertFloor) run(ctx context.Context, n int) (spread, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		began := time.Now()
		if err := f.once(ctx); err != nil {
			return spread{}, fmt.Errorf("durable insert: %w", err)
		}
		times = append(times, time.Since(began))
	}
	return spreadOf(times), nil
}

func (f *insertFloor) once(ctx context.Context) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of no effect after a commit
	f.next++
	if _, err := tx.StmtContext(ctx, f.insert).ExecContext(ctx, f.next, floorRow); err != nil {
		return err
	}
	return tx.Commit()
}

func (f *insertFloor) close() error { return errors.Join(f.insert.Close(), f.db.Close()) }
