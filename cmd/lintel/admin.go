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
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/account"
	"lintel/config"
	"lintel/secret"
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

func userCommand() *cobra.Command {
	var email, given, family string
	var fromStdin, asJSON bool
	add := &cobra.Command{
		Use:   "add --email EMAIL",
		Short: "Create an account and print its password once",
		Args:  cobra.NoArgs,
	}
	add.Flags().StringVar(&email, "email", "", "E-mail address.")
	add.Flags().StringVar(&given, "first-name", "", "First name.")
	add.Flags().StringVar(&family, "last-name", "", "Last name.")
	add.Flags().BoolVar(&fromStdin, "password-stdin", false, "Read the password from standard input instead of making one.")
	add.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	_ = add.MarkFlagRequired("email")
	withStore(add, func(ctx context.Context, s *store.Store, _ []string) error {
		password := account.NewPassword()
		if fromStdin {
			text, err := io.ReadAll(io.LimitReader(add.InOrStdin(), 4096))
			if err != nil {
				return err
			}
			password = strings.TrimRight(string(text), "\r\n")
		}
		person, err := newPerson(ctx, s, email, given, family, password)
		if err != nil {
			return err
		}
		if fromStdin {
			password = ""
		}
		if asJSON {
			return printJSON(add.OutOrStdout(), map[string]string{"id": string(person.ID), "email": person.Email, "password": password})
		}
		fmt.Fprintf(add.OutOrStdout(), "account  %s\n", person.Email)
		if password != "" {
			fmt.Fprintf(add.OutOrStdout(), "password %s\n\nThe password is not stored and will not be shown again.\n", password)
		}
		return nil
	})
	return group("user", "Manage accounts", add)
}

func newPerson(ctx context.Context, s *store.Store, email, given, family, password string) (lintel.Person, error) {
	local, domain, ok := strings.Cut(email, "@")
	if !ok || local == "" || domain == "" || strings.ContainsAny(email, " <>") || len(email) > 254 ||
		!utf8.ValidString(email) || strings.ContainsFunc(email, unicode.IsControl) {
		return lintel.Person{}, &lintel.Error{Code: lintel.CodeInvalid, Message: fmt.Sprintf("%q is not an e-mail address", email)}
	}
	for what, name := range map[string]string{"first name": given, "last name": family} {
		if name == "" {
			continue // nobody has to give one
		}
		if err := lintel.CheckName(what, name); err != nil {
			return lintel.Person{}, err
		}
	}
	hash, err := account.HashPassword(password)
	if err != nil {
		return lintel.Person{}, err
	}
	p := lintel.Person{ID: lintel.NewID(), Email: strings.ToLower(email), GivenName: given, FamilyName: family, CreatedAt: time.Now()}
	return p, s.AddPerson(ctx, p, hash)
}

func tokenCommand() *cobra.Command {
	return group("token", "Manage access tokens", tokenCreateCommand(), tokenListCommand(), tokenRevokeCommand())
}

func tokenCreateCommand() *cobra.Command {
	var user, scopes, label string
	var lifetime time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create --user EMAIL --scope OPENDOOR,CLOSEDOOR",
		Short: "Make an access token and print it once",
		Args:  cobra.NoArgs,
	}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the account.")
	cmd.Flags().StringVar(&scopes, "scope", "", "Scopes, separated by commas: OPENDOOR, CLOSEDOOR, READ.")
	cmd.Flags().StringVar(&label, "label", "", "A name to tell the token by.")
	cmd.Flags().DurationVar(&lifetime, "lifetime", 90*24*time.Hour, "How long it is valid.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	_ = cmd.MarkFlagRequired("user")
	_ = cmd.MarkFlagRequired("scope")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		scope, err := lintel.ParseScope(scopes)
		if err != nil {
			return err
		}
		if lifetime <= 0 {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--lifetime must be positive"}
		}
		person, err := s.PersonByEmail(ctx, user)
		if err != nil {
			return err
		}
		token, stored, err := newToken(ctx, s, person.ID, scope, label, lifetime)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), map[string]string{
				"id": string(stored.ID), "access_token": token, "scope": scope.String(), "expires_at": stored.ExpiresAt.UTC().Format(time.RFC3339),
			})
		}
		fmt.Fprintln(cmd.OutOrStdout(), token)
		fmt.Fprintf(cmd.ErrOrStderr(), "The token (id %s) is not stored and will not be shown again. It is valid until %s.\n",
			stored.ID, stored.ExpiresAt.Format(time.RFC1123))
		return nil
	})
}

func newToken(ctx context.Context, s *store.Store, person lintel.ID, scope lintel.Scope, label string, lifetime time.Duration) (string, store.Token, error) {
	token, now := secret.New(secret.AccessToken), time.Now()
	stored := store.Token{
		ID: lintel.NewID(), Hash: secret.Hash(token), PersonID: person, Scopes: scope, Label: label,
		CreatedAt: now, ExpiresAt: now.Add(lifetime),
	}
	return token, stored, s.AddToken(ctx, stored)
}

func tokenListCommand() *cobra.Command {
	var user string
	cmd := &cobra.Command{Use: "list --user EMAIL", Short: "List an account's tokens", Args: cobra.NoArgs}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the account.")
	_ = cmd.MarkFlagRequired("user")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		person, err := s.PersonByEmail(ctx, user)
		if err != nil {
			return err
		}
		tokens, err := s.Tokens(ctx, person.ID)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, t := range tokens {
			state := "valid"
			switch {
			case !t.RevokedAt.IsZero():
				state = "revoked"
			case !time.Now().Before(t.ExpiresAt):
				state = "expired"
			}
			rows = append(rows, []string{string(t.ID), strings.ReplaceAll(t.Scopes.String(), " ", ","), state, t.ExpiresAt.Format(time.RFC3339), t.Label})
		}
		return table(cmd.OutOrStdout(), []string{"ID", "SCOPES", "STATE", "EXPIRES", "LABEL"}, rows)
	})
}

func tokenRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID|TOKEN|-",
		Short: "End a token; - reads it from standard input",
		Long:  "End a token at once: the next request with it is refused. Name it by its id, or by itself; a token on the command line can be seen by others on this machine, so prefer the id or -.",
		Args:  cobra.ExactArgs(1),
	}
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		name := args[0]
		if name == "-" {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 4096))
			if err != nil {
				return err
			}
			name = strings.TrimSpace(string(text))
		}
		id, err := lintel.ParseID(name)
		if err != nil && !secret.Is(secret.AccessToken, name) {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "that is neither a token's id nor a token"}
		}
		if err := s.RevokeToken(ctx, id, secret.Hash(name), time.Now()); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "The token is revoked.")
		return nil
	})
}
