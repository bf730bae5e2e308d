//go:build unix

package postgres_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/store"
	"lintel/store/postgres"
)

func open(t *testing.T, url string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	return db
}

// wantRefusal fails unless err says why in words that hold want.
func wantRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v does not say %q", err, want)
	}
}

func execute(t *testing.T, url, query string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func TestASecondServiceIsRefused(t *testing.T) {
	url := newDatabase(t)
	first := open(t, url)
	_, err := postgres.Open(t.Context(), url)
	wantRefusal(t, err, "in use by another lintel service")
	open(t, newDatabase(t)) // the lock is about one database
	for range 20 {
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		first = open(t, url) // at once, as when a service is restarted
	}
}

// TestALostLock: the server ends the connection that holds the lock. The service writes
// nothing more as long as another one has the database, and goes on afterwards.
func TestALostLock(t *testing.T) {
	url := newDatabase(t)
	first := open(t, url)
	write := func() error {
		return first.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.ExecContext(t.Context(), "UPDATE people SET email = email")
			return err
		})
	}
	until := func(what string, done func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for range 3000 {
			if done() {
				return
			}
			<-tick.C
		}
		t.Fatalf("waited for: %s", what)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	execute(t, url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	var second *postgres.DB
	until("a second service to start", func() (ok bool) {
		var err error
		second, err = postgres.Open(t.Context(), url)
		if err == nil {
			return true
		}
		wantRefusal(t, err, "in use")
		if write() == nil { // it was faster: once more
			execute(t, url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
		}
		return false
	})
	until("the first to know it", func() bool { return write() != nil })
	wantRefusal(t, write(), "lock on the database is lost")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	until("the first to have its lock again", func() bool { return write() == nil })
}

// TestOneOfManyStartsWins starts services at once on an empty database, where
// migrations would collide as well.
func TestOneOfManyStartsWins(t *testing.T) {
	url := newDatabase(t)
	errs := make([]error, 8)
	dbs := make([]*postgres.DB, len(errs))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { dbs[i], errs[i] = postgres.Open(t.Context(), url) })
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			defer dbs[i].Close()
			continue
		}
		wantRefusal(t, err, "in use by another lintel service")
	}
	if won != 1 {
		t.Fatalf("%d services have the database", won)
	}
}

func TestJoinWorksBesideAService(t *testing.T) {
	url := newDatabase(t)
	service := store.New(open(t, url))
	joined, err := postgres.Join(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	admin := store.New(joined)
	defer admin.Close()
	p := lintel.Person{ID: lintel.NewID(), Email: "a@example.org"}
	if err := admin.AddPerson(t.Context(), p, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := service.PersonByEmail(t.Context(), p.Email); err != nil {
		t.Fatal(err)
	}
}

func TestJoinRefusesAnEmptyDatabase(t *testing.T) {
	url := newDatabase(t)
	_, err := postgres.Join(t.Context(), url)
	wantRefusal(t, err, "older than this program")
	open(t, url) // and has not stood in its way
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	url := newDatabase(t)
	if err := open(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, url, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)`)
	_, err := postgres.Open(t.Context(), url)
	wantRefusal(t, err, "schema version 999, newer than")
	_, err = postgres.Join(t.Context(), url)
	wantRefusal(t, err, "schema version 999, newer than")
}

// TestSettingsAreReadBack has the database itself weaken a setting, as an
// operator in search of speed would.
func TestSettingsAreReadBack(t *testing.T) {
	for _, value := range []string{"off", "local", "remote_write"} {
		url := newDatabase(t)
		name, _, _ := strings.Cut(strings.TrimPrefix(url, "postgres:///"), "?")
		execute(t, url, "ALTER DATABASE "+name+" SET synchronous_commit = "+value)
		_, err := postgres.Open(t.Context(), url)
		wantRefusal(t, err, "synchronous_commit")
		_, err = postgres.Join(t.Context(), url)
		wantRefusal(t, err, "synchronous_commit")
	}
}

func TestAFailedStartReleasesTheLock(t *testing.T) {
	url := newDatabase(t)
	execute(t, url, `CREATE TABLE people (id TEXT)`) // stands in the way of the first migration
	if _, err := postgres.Open(t.Context(), url); err == nil {
		t.Fatal("opened a database of something else")
	}
	execute(t, url, `DROP TABLE people`)
	open(t, url)
}

// TestErrorsHideThePassword opens addresses that cannot work, each for another reason.
func TestErrorsHideThePassword(t *testing.T) {
	for _, url := range []string{
		"postgres://lintel:hunter2@127.0.0.1:notaport/lintel",
		"postgres://lintel:hunter2@127.0.0.1:1/lintel?connect_timeout=1",
		"postgres://lintel:hunter2@%zz/lintel",
		"postgres://lintel:hunter2@127.0.0.1:1/lintel?sslmode=perhaps",
		"postgres://lintel:hunter2@[::1/lintel",
		"postgres://lintel:hun%ter2@127.0.0.1/lintel",
		"postgres://lintel:hunter2@127.0.0.1/lintel?password=hunter2&port=x",
		"password=hunter2 host=127.0.0.1 port=x",
	} {
		_, err := postgres.Open(context.Background(), url)
		if err == nil {
			t.Errorf("%s was opened", url)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "hun%ter2") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
