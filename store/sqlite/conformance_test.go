package sqlite_test

import (
	"testing"

	"lintel/store"
	"lintel/store/sqlite"
	"lintel/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Exercise(t, func(t *testing.T) store.Engine {
		db, err := sqlite.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}
