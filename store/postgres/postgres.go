// Package postgres runs the store on PostgreSQL, for operators who have one.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"lintel/store"
)

//go:embed migrations
var files embed.FS

// connections is how many the service opens at the most.
const connections = 16

// DB is an open database. It implements store.Engine.
type DB struct {
	db   *sql.DB
	held *sql.Conn // holds serviceLock; nil in Join. Of keep's goroutine alone until stop
	lost atomic.Bool

	keeping sync.WaitGroup
	stop    func() // ends keep
}

// Open opens the database at a postgres:// URL for a service: it refuses one
// that another service uses, and brings the schema up to date.
func Open(ctx context.Context, dsn string) (*DB, error) {
	db, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := db.hold(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.keep()
	locker, err := lock.NewPostgresSessionLocker()
	if err == nil {
		err = store.Migrate(ctx, goose.DialectPostgres, db.db, migrations(), goose.WithSessionLocker(locker))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Join opens the database beside a running service, for a short administrative
// command. It never changes the schema.
func Join(ctx context.Context, dsn string) (*DB, error) {
	db, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := store.RequireCurrent(ctx, goose.DialectPostgres, db.db, migrations()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func connect(ctx context.Context, dsn string) (*DB, error) {
	handle, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, errors.New("the database address is not a valid postgres:// URL") // err may hold the password
	}
	handle.SetMaxOpenConns(connections)
	handle.SetMaxIdleConns(connections)
	db := &DB{db: handle}
	if err := db.verify(ctx); err != nil {
		return nil, errors.Join(err, handle.Close())
	}
	return db, nil
}

// verify reads back the setting that durability rests on.
func (db *DB) verify(ctx context.Context) error {
	for setting, want := range map[string]string{"synchronous_commit": "on", "fsync": "on"} {
		var got string
		if err := db.db.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&got); err != nil {
			return fmt.Errorf("open the database: %w", err)
		}
		if got != want {
			return fmt.Errorf("PostgreSQL's %s is %q instead of %q; refusing to run without durable commits", setting, got, want)
		}
	}
	return nil
}

func migrations() fs.FS {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic("postgres: " + err.Error()) // the directory is embedded above
	}
	return sub
}

// Write implements store.Engine. PostgreSQL groups commits by itself. While the lock
// is lost nothing is written.
func (db *DB) Write(ctx context.Context, fn func(tx store.Tx) error) error {
	if db.lost.Load() {
		return errLost
	}
	tx, err := db.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() // of no effect after a commit
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Reader implements store.Engine.
func (db *DB) Reader() *sql.DB { return db.db }

// IsUnique implements store.Engine.
func (db *DB) IsUnique(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23505"
}

// Close implements store.Engine.
func (db *DB) Close() error {
	var err error
	if db.stop != nil {
		err = db.release()
	}
	return errors.Join(err, db.db.Close())
}
