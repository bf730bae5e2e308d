package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/oauth"
	"lintel/secret"
	"lintel/store"
)

// clientListed is an OAuth client as commands print it.
type clientListed struct {
	ClientID     string            `json:"client_id"`
	ClientSecret string            `json:"client_secret,omitempty"` // when it was just made
	Name         string            `json:"name"`
	Kind         lintel.ClientKind `json:"kind"`
	Legacy       bool              `json:"legacy"`
	WithRead     bool              `json:"with_read"`
	Scope        string            `json:"scope"`
	RedirectURIs []string          `json:"redirect_uris"`
	Secrets      int               `json:"secrets"` // in use; two during a rotation
	CreatedAt    time.Time         `json:"created_at"`
	Disabled     bool              `json:"disabled"`
}

func listedClient(c lintel.Client, secret string) clientListed {
	uris := c.RedirectURIs
	if uris == nil {
		uris = []string{}
	}
	return clientListed{
		ClientID: c.ID, ClientSecret: secret, Name: c.Name, Kind: c.Kind, Legacy: c.Legacy, WithRead: c.WithRead, Scope: c.Scopes.String(),
		RedirectURIs: uris, Secrets: len(c.SecretHashes), CreatedAt: c.CreatedAt, Disabled: !c.DisabledAt.IsZero(),
	}
}

func oauthClientCommand() *cobra.Command {
	return group("client", "Manage the apps that people may authorise", clientAddCommand(), clientListCommand(), clientRotateCommand(),
		clientSwitchCommand("disable", "Refuse a client and revoke everything it was granted", func(ctx context.Context, s *store.Store, id string) error {
			return s.DisableClient(ctx, id, time.Now())
		}),
		clientSwitchCommand("enable", "Let a client be used again; people are asked anew", func(ctx context.Context, s *store.Store, id string) error {
			return s.EnableClient(ctx, id)
		}),
		clientSwitchCommand("remove", "Delete a client with everything it was granted", func(ctx context.Context, s *store.Store, id string) error {
			if id == lintel.CommandLineClient {
				return &lintel.Error{Code: lintel.CodeInvalid, Message: "the command line's client can be disabled, not removed"}
			}
			return s.RemoveClient(ctx, id)
		}))
}

func clientAddCommand() *cobra.Command {
	var name, kind, scopes string
	var uris []string
	var legacy, withRead, asJSON bool
	cmd := &cobra.Command{
		Use:   "add --name NAME --redirect-uri URI",
		Short: "Register a client and print its secret once",
		Long: `Register an OAuth client: an app that people may authorise.

A confidential client runs on a server and has a secret. A public one runs on
people's devices and has none; its redirect URI may be http://127.0.0.1/PATH, on
any port, or a private-use scheme like org.example.app:/PATH. A client without a
redirect URI can use the device grant only.

A legacy client was written for the services that Lintel is compatible with: it
may leave out PKCE and send everything, its secret included, in the query of a
GET. Such requests show up in the logs of proxies; use it for old apps only. With
--with-read its requests are taken to ask for READ too: those services have no
scope for listing doors.`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&name, "name", "", "Name, as people see it when they are asked.")
	cmd.Flags().StringArrayVar(&uris, "redirect-uri", nil, "Address that people come back to; repeat it for more. Compared exactly.")
	cmd.Flags().StringVar(&kind, "kind", string(lintel.Confidential), "confidential or public.")
	cmd.Flags().BoolVar(&legacy, "legacy", false, "Written for the deployed services; confidential only.")
	cmd.Flags().BoolVar(&withRead, "with-read", false, "Add READ to what a legacy client asks for.")
	cmd.Flags().StringVar(&scopes, "scope", lintel.AllScopes.String(), "The most that it may ask for.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	_ = cmd.MarkFlagRequired("name")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		scope, err := lintel.ParseScope(scopes)
		if err != nil {
			return err
		}
		c := lintel.Client{Name: name, Kind: lintel.ClientKind(kind), Legacy: legacy, WithRead: withRead, Scopes: scope, RedirectURIs: uris, CreatedAt: time.Now()}
		c, made, err := newClient(ctx, s, c)
		if err != nil {
			return err
		}
		return printClient(cmd.OutOrStdout(), c, made, asJSON)
	})
}

// newClient checks and stores a client, and returns it with its secret; a public
// one has none. An empty ID is made.
func newClient(ctx context.Context, s *store.Store, c lintel.Client) (lintel.Client, string, error) {
	invalid := func(message string) (lintel.Client, string, error) {
		return c, "", &lintel.Error{Code: lintel.CodeInvalid, Message: message}
	}
	if err := lintel.CheckName("client's name", c.Name); err != nil {
		return c, "", err
	}
	switch {
	case c.Kind != lintel.Confidential && c.Kind != lintel.Public:
		return invalid("--kind is confidential or public")
	case c.WithRead && !c.Legacy:
		return invalid("--with-read is for legacy clients; others ask for READ")
	case c.Legacy && c.Kind == lintel.Public:
		return invalid("a legacy client is confidential: without a secret and without PKCE anybody could take its codes")
	}
	for _, uri := range c.RedirectURIs {
		if err := oauth.CheckRedirectURI(uri, c.Kind); err != nil {
			return invalid(fmt.Sprintf("%s: %s", uri, lintel.MessageOf(err)))
		}
	}
	id, made := secret.NewClient()
	if c.ID == "" {
		c.ID = id
	}
	hash := secret.Hash(made)
	if c.Kind == lintel.Public {
		made, hash = "", ""
	}
	if err := s.AddClient(ctx, c, hash); err != nil {
		return c, "", err
	}
	stored, err := s.Client(ctx, c.ID)
	return stored, made, err
}

func printClient(w io.Writer, c lintel.Client, made string, asJSON bool) error {
	if asJSON {
		return printJSON(w, listedClient(c, made))
	}
	fmt.Fprintf(w, "client id      %s\n", c.ID)
	if made != "" {
		fmt.Fprintf(w, "client secret  %s\n\nThe secret is not stored and will not be shown again.\n", made)
	}
	return nil
}

func clientListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List clients", Args: cobra.NoArgs}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		clients, err := s.Clients(ctx)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, c := range clients {
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), listedClient(c, "")); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{c.ID, c.Name, kindOf(c), strings.ReplaceAll(c.Scopes.String(), " ", ","), strings.Join(c.RedirectURIs, " ")})
		}
		if asJSON {
			return nil
		}
		return table(cmd.OutOrStdout(), []string{"CLIENT-ID", "NAME", "KIND", "SCOPES", "REDIRECT-URIS"}, rows)
	})
}

func kindOf(c lintel.Client) string {
	kind := string(c.Kind)
	if c.Legacy {
		kind += ", legacy"
	}
	if len(c.SecretHashes) > 1 {
		kind += ", rotating"
	}
	if !c.DisabledAt.IsZero() {
		kind += ", disabled"
	}
	return kind
}

func clientRotateCommand() *cobra.Command {
	var atOnce, finish, asJSON bool
	cmd := &cobra.Command{
		Use:   "rotate CLIENT-ID",
		Short: "Give a confidential client a new secret and print it once",
		Long: `Give a confidential client a new secret. The one before stays valid beside it,
until --finish or the next rotation, so that the app can change over without a
break. --at-once ends every older secret: use it when one has leaked.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&atOnce, "at-once", false, "End every older secret now.")
	cmd.Flags().BoolVar(&finish, "finish", false, "Make none; end every secret but the newest.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	cmd.MarkFlagsMutuallyExclusive("at-once", "finish")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		_, made := secret.NewClient()
		var err error
		if finish {
			made, err = "", s.FinishClientSecret(ctx, args[0])
		} else {
			err = s.RotateClientSecret(ctx, args[0], secret.Hash(made), !atOnce, time.Now())
		}
		if err != nil {
			return err
		}
		c, err := s.Client(ctx, args[0])
		if err != nil {
			return err
		}
		return printClient(cmd.OutOrStdout(), c, made, asJSON)
	})
}

// clientSwitchCommand is a command that does one thing to one client.
func clientSwitchCommand(use, short string, do func(ctx context.Context, s *store.Store, id string) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: use + " CLIENT-ID", Short: short, Args: cobra.ExactArgs(1)}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		if err := do(ctx, s, args[0]); err != nil {
			return err
		}
		return done(cmd, asJSON, use+"d", "client_id", args[0])
	})
}

// done says what a command did to what.
func done(cmd *cobra.Command, asJSON bool, what, name, id string) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]string{name: id, "done": what})
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s.\n", id, what)
	return nil
}
