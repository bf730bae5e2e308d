// Package sqlite runs the store on SQLite: one file in a data directory, one
// writer with group commit, and a pool of readers.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"lintel/store"
)

//go:embed migrations
var files embed.FS

// readers is how many connections read at once.
const readers = 4

// DB is an open database. It implements store.Engine.
type DB struct {
	lock   *flock.Flock // nil where another process owns the directory
	writer *sql.DB
	reader *sql.DB
	group  *group
}

// Open opens the database in the directory for a service: it creates what is
// missing, takes the directory's lock, which a second service is refused, and
// brings the schema up to date.
func Open(ctx context.Context, dir string) (*DB, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lintel.lock"))
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if held, err := lock.TryLockContext(waiting, lockTimeout/20); !held {
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("data directory: %w", err)
		}
		return nil, fmt.Errorf("the data directory %s is in use by another lintel service", dir)
	}
	db, err := open(ctx, dir, true)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	db.lock = lock
	return db, nil
}

// lockTimeout is how long a service waits for an administrative command, or for
// the end of the service before it, to let go of the directory.
const lockTimeout = 2 * time.Second

// Join opens the database in the directory for a short administrative command,
// beside a running service if there is one. Where none runs it does what Open
// does, but keeps no service from starting; the schema is never changed under a
// running one.
func Join(ctx context.Context, dir string) (*DB, error) {
	lock := flock.New(filepath.Join(dir, "lintel.lock"))
	if _, err := os.Stat(dir); err != nil {
		return openUnlocked(ctx, dir)
	}
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if held {
		if err := lock.Unlock(); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
		return openUnlocked(ctx, dir)
	}
	return open(ctx, dir, false)
}

// openUnlocked is Open without keeping the lock.
func openUnlocked(ctx context.Context, dir string) (*DB, error) {
	db, err := Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := db.lock.Unlock(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Exists reports whether there is a database in the directory.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileName))
	return err == nil
}

// fileName is the database's name in its directory.
const fileName = "lintel.db"

func open(ctx context.Context, dir string, migrate bool) (*DB, error) {
	path, err := filepath.Abs(filepath.Join(dir, fileName))
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if migrate {
		if err := private(path); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
		if err := migrateFile(ctx, path); err != nil {
			return nil, err
		}
	}
	db := &DB{writer: handle(path, writerOptions, 1), reader: handle(path, readerOptions, readers)}
	if err := db.verify(ctx); err != nil {
		return nil, errors.Join(err, db.writer.Close(), db.reader.Close())
	}
	if !migrate {
		if err := store.RequireCurrent(ctx, goose.DialectSQLite3, db.writer, migrations()); err != nil {
			return nil, errors.Join(err, db.writer.Close(), db.reader.Close())
		}
	}
	if db.group, err = newGroup(ctx, db.writer); err != nil {
		return nil, errors.Join(err, db.writer.Close(), db.reader.Close())
	}
	return db, nil
}

// private makes the file, or what there is of it, readable by its owner only,
// before SQLite gives its log the same mode. A file that exists is not opened:
// closing it again would drop the locks that SQLite holds in this process.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.Chmod(path, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

const (
	writerOptions = "_txlock=immediate&_dqs=0&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=foreign_keys(1)&_pragma=journal_size_limit(67108864)"
	readerOptions = "mode=ro&_dqs=0&_pragma=query_only(1)&_pragma=busy_timeout(5000)"
	// Migrations run without foreign keys: rebuilding a parent table would
	// otherwise delete its children by CASCADE, silently.
	migrationOptions = "_txlock=immediate&_dqs=0&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=foreign_keys(0)"
)

func handle(path, options string, connections int) *sql.DB {
	dsn := (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: options}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		panic("sqlite: " + err.Error()) // the driver's name is a constant
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

func migrations() fs.FS {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic("sqlite: " + err.Error()) // the directory is embedded above
	}
	return sub
}

func migrateFile(ctx context.Context, path string) (err error) {
	db := handle(path, migrationOptions, 1)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := store.Migrate(ctx, goose.DialectSQLite3, db, migrations()); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, `PRAGMA foreign_key_check`)
	if err != nil {
		return fmt.Errorf("foreign key check: %w", err)
	}
	defer rows.Close()
	if rows.Next() {
		return errors.New("the database has rows that refer to nothing; restore a backup")
	}
	return rows.Err()
}

// verify reads the settings back that durability rests on, and refuses to run without them.
func (db *DB) verify(ctx context.Context) error {
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
		var got string
		if err := db.writer.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return fmt.Errorf("open the database: %w", err)
		}
		if got != want {
			return fmt.Errorf("SQLite's %s is %q instead of %q; refusing to run without durable commits", pragma, got, want)
		}
	}
	return nil
}

// Write implements store.Engine by group commit.
func (db *DB) Write(ctx context.Context, fn func(tx store.Tx) error) error {
	return db.group.write(ctx, fn)
}

// Reader implements store.Engine.
func (db *DB) Reader() *sql.DB { return db.reader }

// IsUnique implements store.Engine.
func (db *DB) IsUnique(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE || e.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// Close implements store.Engine.
func (db *DB) Close() error {
	err := errors.Join(db.group.close(), db.reader.Close(), db.writer.Close())
	if db.lock != nil {
		err = errors.Join(err, db.lock.Unlock())
	}
	return err
}
