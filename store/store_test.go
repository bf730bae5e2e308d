package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/store"
	"lintel/store/sqlite"
)

// lateEngine answers as group commit does when the caller's context ends first:
// the caller goes, and its write runs afterwards all the same.
type lateEngine struct {
	store.Engine
	ran chan error
}

func (e lateEngine) Write(ctx context.Context, fn func(tx store.Tx) error) error {
	go func() { e.ran <- e.Engine.Write(context.WithoutCancel(ctx), fn) }()
	return context.Canceled
}

// TestAWriteMayOutliveItsCaller is for the race detector: what the late write
// sets may not be what its caller reads.
func TestAWriteMayOutliveItsCaller(t *testing.T) {
	engine := lateEngine{openSQLite(t), make(chan error, 1)}
	s := store.New(engine)
	calls := map[string]func() error{
		"add person": func() error { return s.AddPerson(t.Context(), lintel.Person{Email: "a@example.org"}, "") },
		"revoke":     func() error { return s.RevokeToken(t.Context(), "x", "", time.Time{}) },
		"abandon": func() error {
			_, err := s.AbandonCommands(t.Context(), time.Time{})
			return err
		},
		"record": func() error {
			recorded, err := s.RecordCommand(t.Context(), lintel.Command{}, "x")
			if recorded {
				t.Error("recorded, says a write that has not run")
			}
			return err
		},
		"session": func() error {
			_, _, err := s.BeginSession(t.Context(), "x", "", time.Time{})
			return err
		},
		"event": func() error { return s.RecordEvent(t.Context(), "x", lintel.DoorEvent{}) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
		<-engine.ran
	}
}

// brokenEngine fails every write as a disk does.
type brokenEngine struct{ store.Engine }

var errDisk = errors.New("disk I/O error")

func (brokenEngine) Write(context.Context, func(tx store.Tx) error) error { return errDisk }

// TestErrorsSayNothingInternal holds that what a person may read of a failed
// storage names no cause, while the log gets it.
func TestErrorsSayNothingInternal(t *testing.T) {
	s := store.New(brokenEngine{openSQLite(t)})
	err := s.SettleCommand(t.Context(), "x", lintel.Outcome{})
	if lintel.CodeOf(err) != lintel.CodeInternal || !errors.Is(err, errDisk) {
		t.Errorf("error %v", err)
	}
	if said := lintel.MessageOf(err); strings.Contains(said, "disk") {
		t.Errorf("a person reads %q", said)
	}
	if !strings.Contains(err.Error(), "settle command: disk I/O error") {
		t.Errorf("the log reads %q", err)
	}
}

func openSQLite(t *testing.T) store.Engine {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
