package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lintel/config"
	"lintel/store"
	"lintel/store/postgres"
	"lintel/store/sqlite"
)

// adminOptions are the options that say which database to administer.
var adminOptions = []string{"data", "database"}

// withStore gives a command that administers the database, beside a running
// service or without one, its flags and the store.
func withStore(cmd *cobra.Command, run func(ctx context.Context, s *store.Store, args []string) error) *cobra.Command {
	file := adminFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		s, err := adminStore(cmd, *file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return run(cmd.Context(), s, args)
	}
	return cmd
}

// joinStore opens the database beside a running service, if there is one.
func joinStore(ctx context.Context, cfg config.Config) (*store.Store, error) {
	if cfg.Database != "" {
		return opened(postgres.Join(ctx, cfg.Database))
	}
	return opened(sqlite.Join(ctx, cfg.Data))
}

// openStore opens the database for the service itself.
func openStore(ctx context.Context, cfg config.Config) (*store.Store, error) {
	if cfg.Database != "" {
		return opened(postgres.Open(ctx, cfg.Database))
	}
	return opened(sqlite.Open(ctx, cfg.Data))
}

func opened[E store.Engine](engine E, err error) (*store.Store, error) {
	if err != nil {
		return nil, err
	}
	return store.New(engine), nil
}

// adminFlags adds the flags that say which database to administer, and returns
// where the configuration file's name will be.
func adminFlags(cmd *cobra.Command) (file *string) {
	addOptions(cmd.Flags(), adminOptions...)
	return cmd.Flags().String("config", os.Getenv(config.EnvConfig), "Configuration file of the service. ("+config.EnvConfig+")")
}

// adminStore opens the database to administer. Only "user add", the first thing
// that anybody does, may make a new one: elsewhere a missing database is a
// mistyped directory.
func adminStore(cmd *cobra.Command, file string) (*store.Store, error) {
	cfg, err := loadConfig(cmd, file, false, adminOptions...)
	if err != nil {
		return nil, err
	}
	if cfg.Database == "" && !sqlite.Exists(cfg.Data) {
		if cmd.CommandPath() != "lintel user add" {
			return nil, fmt.Errorf("there is no database in %s; name the service's data directory with --data", cfg.Data)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "Making a new database in %s.\n", cfg.Data)
	}
	return joinStore(cmd.Context(), cfg)
}

func printJSON(w io.Writer, v any) error {
	return json.NewEncoder(w).Encode(v)
}

// table prints rows in columns.
func table(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(subs...)
	return cmd
}
