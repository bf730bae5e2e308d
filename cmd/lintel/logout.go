package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// signedOutListed is what logout prints with --json.
type signedOutListed struct {
	Server  string `json:"server"`
	Revoked bool   `json:"revoked"` // the server confirmed that the tokens are worthless
}

func logoutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "End the sign-in at a server",
		Long: `Forget the sign-in at a server here, and revoke it there. If the server cannot be
told, the sign-in is forgotten all the same, and the command says so and ends with 1.`,
	}
	usageErrors(cmd, cobra.NoArgs)
	flags := addRemoteFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := newRemote(flags)
		if err != nil {
			return err
		}
		return logout(cmd, r, flags.json)
	}
	return cmd
}

func logout(cmd *cobra.Command, r *remote, asJSON bool) error {
	ctx := context.WithoutCancel(cmd.Context()) // halfway would leave tokens that nobody knows of
	var grant savedGrant
	err := r.file.update(ctx, func(t *tokens) (bool, error) {
		var known bool
		if grant, known = t.Servers[r.origin]; !known {
			return false, r.notSignedIn()
		}
		delete(t.Servers, r.origin)
		if t.Default == r.origin {
			t.Default = ""
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	failed := r.revokeAt(ctx, grant.RefreshToken)
	if asJSON {
		if err := printJSON(cmd.OutOrStdout(), signedOutListed{r.origin, failed == nil}); err != nil {
			return err
		}
	}
	if failed != nil {
		return fmt.Errorf("the sign-in is forgotten here, but was not revoked, so end it in your account at the server too: %w", failed)
	}
	if !asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "Signed out at %s.\n", r.origin)
	}
	return nil
}

// revokeAt revokes a refresh token where the server says that this is done. An
// empty one has ended already.
func (r *remote) revokeAt(ctx context.Context, refreshToken string) error {
	if refreshToken == "" {
		return nil
	}
	meta, err := r.discover(ctx)
	if err != nil {
		return err
	}
	return r.revoke(ctx, meta, refreshToken)
}
