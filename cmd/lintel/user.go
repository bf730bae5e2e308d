package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/account"
	"lintel/store"
)

func userCommand() *cobra.Command {
	return group("user", "Manage accounts", userAddCommand(), userListCommand(), userPasswordCommand(),
		userSwitchCommand("disable", "Refuse an account and end everything of it: sessions, apps, tokens",
			func(ctx context.Context, s *store.Store, person lintel.ID) error {
				return s.DisablePerson(ctx, person, time.Now())
			}),
		userSwitchCommand("enable", "Let an account be used again; what was ended stays ended",
			func(ctx context.Context, s *store.Store, person lintel.ID) error { return s.EnablePerson(ctx, person) }))
}

func userAddCommand() *cobra.Command {
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
		password, shown, err := newPassword(add, fromStdin)
		if err != nil {
			return err
		}
		person, err := newPerson(ctx, s, email, given, family, password)
		if err != nil {
			return err
		}
		return printPassword(add, person, shown, asJSON)
	})
	return add
}

func newPerson(ctx context.Context, s *store.Store, email, given, family, password string) (lintel.Person, error) {
	p, hash, err := account.NewPerson(email, given, family, password, time.Now())
	if err != nil {
		return lintel.Person{}, err
	}
	return p, s.AddPerson(ctx, p, hash)
}

func userListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List accounts", Args: cobra.NoArgs}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		people, err := s.People(ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, p := range people {
			if asJSON {
				err := printJSON(cmd.OutOrStdout(), map[string]any{"id": p.ID, "email": p.Email, "first_name": p.GivenName,
					"last_name": p.FamilyName, "created_at": p.CreatedAt, "disabled": !p.DisabledAt.IsZero()})
				if err != nil {
					return err
				}
				continue
			}
			state := "in use"
			if !p.DisabledAt.IsZero() {
				state = "disabled"
			}
			rows = append(rows, []string{string(p.ID), p.Email, p.GivenName + " " + p.FamilyName, state})
		}
		if asJSON {
			return nil
		}
		return table(cmd.OutOrStdout(), []string{"ID", "EMAIL", "NAME", "STATE"}, rows)
	})
}

func userPasswordCommand() *cobra.Command {
	var fromStdin, asJSON bool
	cmd := &cobra.Command{
		Use:   "password EMAIL",
		Short: "Give an account a new password and end everything else that reaches it",
		Long:  "Give an account a new password, and end all its sessions, apps, tokens, passkeys and recovery codes.",
		Args:  cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "Read the password from standard input instead of making one.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		person, err := s.PersonByEmail(ctx, args[0])
		if err != nil {
			return err
		}
		password, shown, err := newPassword(cmd, fromStdin)
		if err != nil {
			return err
		}
		if err := account.CheckNewPassword(password, person.Email); err != nil {
			return err
		}
		hash, err := account.HashPassword(password)
		if err != nil {
			return err
		}
		if err := s.ResetPassword(ctx, person.ID, hash, time.Now()); err != nil {
			return err
		}
		return printPassword(cmd, person, shown, asJSON)
	})
}

// newPassword reads a password, or makes one. shown is what is to be printed.
func newPassword(cmd *cobra.Command, fromStdin bool) (password, shown string, err error) {
	if !fromStdin {
		password = account.NewPassword()
		return password, password, nil
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 4096))
	return strings.TrimRight(string(text), "\r\n"), "", err
}

func printPassword(cmd *cobra.Command, person lintel.Person, shown string, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]string{"id": string(person.ID), "email": person.Email, "password": shown})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "account  %s\n", person.Email)
	if shown != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "password %s\n\nThe password is not stored and will not be shown again.\n", shown)
	}
	return nil
}

// userSwitchCommand is a command that does one thing to one account.
func userSwitchCommand(use, short string, do func(ctx context.Context, s *store.Store, person lintel.ID) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: use + " EMAIL", Short: short, Args: cobra.ExactArgs(1)}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		person, err := s.PersonByEmail(ctx, args[0])
		if err != nil {
			return err
		}
		if err := do(ctx, s, person.ID); err != nil {
			return err
		}
		return done(cmd, asJSON, use+"d", "email", person.Email)
	})
}
