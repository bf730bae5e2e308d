//go:build unix

package postgres_test

import (
	"testing"

	"lintel/store"
	"lintel/store/postgres"
	"lintel/storetest"
)

func TestConformance(t *testing.T) {
	url := newDatabase(t)
	storetest.Exercise(t, func(t *testing.T) store.Engine {
		db, err := postgres.Open(t.Context(), newSchema(t, url))
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}

// newSchema returns the database's URL with a new, empty schema, which is much
// faster to make than a database. The suite closes one before it opens the next,
// as the service's lock, which is the database's, demands.
func newSchema(t *testing.T, url string) string {
	t.Helper()
	name := newName()
	execute(t, url, "CREATE SCHEMA "+name)
	return url + "&search_path=" + name
}
