package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettingsAreReadBack asks the open database for what its address asked for.
func TestSettingsAreReadBack(t *testing.T) {
	db, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	writer := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000",
		"journal_size_limit": "67108864", "query_only": "0",
	}
	for name, want := range writer {
		wantPragma(t, db.group.writer.conn, name, want)
	}
	for name, want := range map[string]string{"query_only": "1", "busy_timeout": "5000", "journal_mode": "wal"} {
		wantPragma(t, db.reader, name, want)
	}
	if _, err := db.reader.Exec(`DELETE FROM people`); err == nil {
		t.Error("a reader can write")
	}
	if _, err := db.group.writer.conn.ExecContext(t.Context(), `SELECT "no_such_column" FROM people`); err == nil {
		t.Error("a misspelt column is taken for a text")
	}
}

// queryer is a pool or one connection of it.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func wantPragma(t *testing.T, db queryer, name, want string) {
	t.Helper()
	var got string
	if err := db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%s is %q instead of %q", name, got, want)
	}
}

// TestWeakerSettingsAreRefused gives the writer an address with one setting changed.
func TestWeakerSettingsAreRefused(t *testing.T) {
	for _, c := range []struct{ pragma, from, to string }{
		{"synchronous", "synchronous(FULL)", "synchronous(NORMAL)"},
		{"synchronous", "synchronous(FULL)", "synchronous(OFF)"},
		{"journal_mode", "journal_mode(WAL)", "journal_mode(DELETE)"},
		{"journal_mode", "journal_mode(WAL)", "journal_mode(MEMORY)"},
		{"foreign_keys", "foreign_keys(1)", "foreign_keys(0)"},
	} {
		options := strings.Replace(writerOptions, c.from, c.to, 1)
		if options == writerOptions {
			t.Fatalf("%s is not among the writer's options", c.from)
		}
		db := &DB{writer: handle(filepath.Join(t.TempDir(), "x.db"), options, 1)}
		defer db.writer.Close()
		err := db.verify(t.Context())
		if err == nil || !strings.Contains(err.Error(), "SQLite's "+c.pragma+" is") {
			t.Errorf("%s: error %v", c.to, err)
		}
	}
}

// TestMigrationsRunWithoutForeignKeys holds what keeps the rebuilding of a
// table from deleting the rows that refer to it.
func TestMigrationsRunWithoutForeignKeys(t *testing.T) {
	db := handle(filepath.Join(t.TempDir(), "x.db"), migrationOptions, 1)
	defer db.Close()
	wantPragma(t, db, "foreign_keys", "0")
	wantPragma(t, db, "synchronous", "2")
}
