package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/secret"
	"lintel/store"
)

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
	cmd.Flags().StringVar(&scopes, "scope", "", "Scopes, separated by commas: "+strings.Join(lintel.AllScopes.Names(), ", ")+".")
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
	var asJSON bool
	cmd := &cobra.Command{Use: "list --user EMAIL", Short: "List an account's tokens", Args: cobra.NoArgs}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the account.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line.")
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
			if asJSON {
				err := printJSON(cmd.OutOrStdout(), map[string]any{"id": t.ID, "scope": t.Scopes.String(), "state": state,
					"expires_at": t.ExpiresAt, "label": t.Label})
				if err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{string(t.ID), strings.ReplaceAll(t.Scopes.String(), " ", ","), state, t.ExpiresAt.Format(time.RFC3339), t.Label})
		}
		if asJSON {
			return nil
		}
		return table(cmd.OutOrStdout(), []string{"ID", "SCOPES", "STATE", "EXPIRES", "LABEL"}, rows)
	})
}

func tokenRevokeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke ID|TOKEN|-",
		Short: "End a token; - reads it from standard input",
		Long:  "End a token at once: the next request with it is refused. Name it by its id, or by itself; a token on the command line can be seen by others on this machine, so prefer the id or -.",
		Args:  cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
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
		if asJSON {
			return printJSON(cmd.OutOrStdout(), map[string]string{"done": "revoked"})
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "The token is revoked.")
		return nil
	})
}
