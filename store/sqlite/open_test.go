package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lintel"
	"lintel/store"
	"lintel/store/sqlite"
)

func open(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeDB(t, db) })
	return db
}

func join(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Join(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeDB(t, db) })
	return db
}

// closeDB may be called again: closing twice is no error.
func closeDB(t *testing.T, db *sqlite.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func wantRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v does not say %q", err, want)
	}
}

func addPerson(t *testing.T, db store.Engine, email string) {
	t.Helper()
	p := lintel.Person{ID: lintel.NewID(), Email: email}
	if err := store.New(db).AddPerson(t.Context(), p, ""); err != nil {
		t.Fatal(err)
	}
}

func hasPerson(t *testing.T, db store.Engine, email string) {
	t.Helper()
	if _, err := store.New(db).PersonByEmail(t.Context(), email); err != nil {
		t.Fatal(err)
	}
}

func TestASecondServiceIsRefused(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	_, err := sqlite.Open(t.Context(), dir)
	wantRefusal(t, err, "in use by another lintel service")
	open(t, t.TempDir()) // the lock is about one directory
	closeDB(t, first)
	open(t, dir)
}

func TestOneOfManyStartsWins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	errs := make([]error, 20)
	dbs := make([]*sqlite.DB, len(errs))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { dbs[i], errs[i] = sqlite.Open(t.Context(), dir) })
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			defer closeDB(t, dbs[i])
			continue
		}
		wantRefusal(t, err, "in use by another lintel service")
	}
	if won != 1 {
		t.Fatalf("%d services have the directory", won)
	}
}

func TestJoinWorksBesideAService(t *testing.T) {
	dir := t.TempDir()
	service, admin := open(t, dir), join(t, dir)
	addPerson(t, admin, "a@example.org")
	hasPerson(t, service, "a@example.org")
	addPerson(t, service, "b@example.org")
	hasPerson(t, admin, "b@example.org")
	closeDB(t, admin)
	_, err := sqlite.Open(t.Context(), dir) // leaving has not taken the service's lock along
	wantRefusal(t, err, "in use by another lintel service")
}

// TestJoinWithoutAService sets the first account up before the first start.
func TestJoinWithoutAService(t *testing.T) {
	for name, dir := range map[string]string{
		"missing": filepath.Join(t.TempDir(), "a", "b"),
		"empty":   t.TempDir(),
	} {
		t.Run(name, func(t *testing.T) {
			admin := join(t, dir)
			addPerson(t, admin, "a@example.org")
			service := open(t, dir) // an administrator who reads for long keeps no service from starting
			hasPerson(t, service, "a@example.org")
			closeDB(t, admin)
			hasPerson(t, service, "a@example.org")
		})
	}
}

// TestOnlyTheOwnerCanRead looks while the database is in use for the first
// time, when its log exists too.
func TestOnlyTheOwnerCanRead(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	shared := t.TempDir()
	for _, dir := range []string{made, shared} {
		if dir == shared {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		db := open(t, dir)
		addPerson(t, db, "a@example.org")
		for _, name := range []string{"lintel.db", "lintel.db-wal", "lintel.db-shm"} {
			wantMode(t, filepath.Join(dir, name), 0o600)
		}
	}
	wantMode(t, made, 0o700)
}

// TestAReadableFileIsClosed opens a database that somebody copied carelessly.
func TestAReadableFileIsClosed(t *testing.T) {
	dir := t.TempDir()
	closeDB(t, open(t, dir))
	path := filepath.Join(dir, "lintel.db")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	addPerson(t, open(t, dir), "a@example.org")
	wantMode(t, path, 0o600)
	wantMode(t, path+"-wal", 0o600)
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o instead of %o", filepath.Base(path), got, want)
	}
}

// TestAnyDirectoryName has every character that a database's address could take for its own.
func TestAnyDirectoryName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?mode=memory&x=%41#'\";ü")
	first := open(t, dir)
	addPerson(t, first, "a@example.org")
	closeDB(t, first)
	if _, err := os.Stat(filepath.Join(dir, "lintel.db")); err != nil {
		t.Fatal(err)
	}
	hasPerson(t, open(t, dir), "a@example.org")
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	closeDB(t, open(t, dir))
	execute(t, dir, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	_, err := sqlite.Open(t.Context(), dir)
	wantRefusal(t, err, "schema version 999, newer than")
	_, err = sqlite.Join(t.Context(), dir)
	wantRefusal(t, err, "schema version 999, newer than")
}

// TestJoinNeverMigrates has a service run on a schema that is not the present
// one, as while it is being upgraded.
func TestJoinNeverMigrates(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	execute(t, dir, `DELETE FROM goose_db_version WHERE version_id > 0`)
	_, err := sqlite.Join(t.Context(), dir)
	wantRefusal(t, err, "older than this program")
}

func TestRowsThatReferToNothingAreRefused(t *testing.T) {
	dir := t.TempDir()
	closeDB(t, open(t, dir))
	execute(t, dir, `INSERT INTO access_tokens (id, hash, person_id, scopes, label, created_at, expires_at)
		VALUES ('i', 'h', 'nobody', 1, '', 0, 0)`)
	_, err := sqlite.Open(t.Context(), dir)
	wantRefusal(t, err, "refer to nothing")
}

func TestAFailedStartReleasesTheLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lintel.db")
	if err := os.WriteFile(path, []byte("this is no database, but long enough to be taken for one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), dir); err == nil {
		t.Fatal("opened what is no database")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// execute changes a database behind the service's back.
func execute(t *testing.T, dir, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "lintel.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}
