package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Migrate brings a database's schema up to date. It refuses a database that is
// newer than this program, which goose itself lets pass.
func Migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, migrations fs.FS, options ...goose.ProviderOption) (err error) {
	provider, err := goose.NewProvider(dialect, db, migrations, append(options, goose.WithDisableGlobalRegistry(true))...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if err := refuseNewer(ctx, provider); err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// RequireCurrent refuses a database whose schema is not exactly this program's.
func RequireCurrent(ctx context.Context, dialect goose.Dialect, db *sql.DB, migrations fs.FS) error {
	provider, err := goose.NewProvider(dialect, db, migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if err := refuseNewer(ctx, provider); err != nil {
		return err
	}
	pending, err := provider.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if pending {
		return errors.New("the database is older than this program; start the service once to bring it up to date")
	}
	return nil
}

func refuseNewer(ctx context.Context, provider *goose.Provider) error {
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	if have > want {
		return fmt.Errorf("the database has schema version %d, newer than the %d of this program", have, want)
	}
	return nil
}
