package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// writer runs transactions on the one connection that writes. It prepares each
// statement once: the driver parses and plans a text anew at every execution,
// which costs more than running it. It implements store.Tx, and is used by one
// goroutine.
type writer struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return &writer{conn: conn, statements: map[string]*sql.Stmt{}}, nil
}

// prepared returns the statement of a text. The store's texts are constants, so
// there is no more than a few dozen of them.
func (w *writer) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := w.statements[query]; ok {
		return s, nil
	}
	s, err := w.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	w.statements[query] = s
	return s, nil
}

// ExecContext implements store.Tx.
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := w.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryRowContext implements store.Tx.
func (w *writer) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := w.prepared(ctx, query)
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // fails in the same way
	}
	return s.QueryRowContext(ctx, args...)
}

// transact runs fn between BEGIN and COMMIT. The connection is never left
// inside a transaction.
func (w *writer) transact(fn func() error) error {
	if err := w.run(`BEGIN IMMEDIATE`); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := fn(); err != nil {
		_ = w.run(`ROLLBACK`) // SQLite may have done so itself, on a full disk for one
		return err
	}
	if err := w.run(`COMMIT`); err != nil {
		_ = w.run(`ROLLBACK`)
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (w *writer) run(statement string) error {
	_, err := w.ExecContext(context.Background(), statement)
	return err
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}
