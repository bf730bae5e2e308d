package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"
)

// deviceListed is what login prints first with --json.
type deviceListed struct {
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	UserCode                string `json:"user_code"`
	ExpiresIn               int64  `json:"expires_in"` // seconds
}

// signedInListed is what login prints last with --json.
type signedInListed struct {
	Server string `json:"server"`
	Scope  string `json:"scope"`
}

func loginCommand() *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "login --server https://HOST",
		Short: "Sign in at a server, in a browser here or elsewhere",
		Long: `Sign in at a server. The command shows an address and a short code; open the
address in any browser, on this machine or another, sign in there, and compare the
code. The command waits until then, ten minutes at the most.

The sign-in is kept in this account's configuration directory, readable by nobody
else. An earlier one at the same server is replaced and revoked.`,
	}
	usageErrors(cmd, cobra.NoArgs)
	flags := addRemoteFlags(cmd)
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "Do not open a browser.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := newRemote(flags)
		if err != nil {
			return err
		}
		return login(cmd, r, flags.json, !noBrowser && !flags.json)
	}
	return cmd
}

func login(cmd *cobra.Command, r *remote, asJSON, browser bool) error {
	ctx := cmd.Context()
	meta, err := r.discover(ctx)
	if err != nil {
		return err
	}
	device, err := r.askForCode(ctx, meta)
	if err != nil {
		return err
	}
	if err := showCode(cmd, r, device, asJSON); err != nil {
		return err
	}
	if browser && isTerminal(cmd.OutOrStdout()) {
		openBrowser(firstOf(device.VerificationURIComplete, device.VerificationURI))
	}
	got, err := r.awaitConsent(ctx, meta, device)
	if err != nil {
		return err
	}
	grant, err := r.keep(cmd, meta, got)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), signedInListed{r.origin, grant.Scope})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Signed in at %s, with %s.\n", r.origin, printable(grant.Scope))
	return nil
}

// askForCode begins a device grant (RFC 8628 §3.1).
func (r *remote) askForCode(ctx context.Context, meta authServer) (*oauth2.DeviceAuthResponse, error) {
	device, err := r.config(meta).DeviceAuth(r.oauthContext(ctx))
	if err != nil {
		_, err = r.oauthError("the sign-in could not begin", err)
		return nil, err
	}
	if device.DeviceCode == "" || device.UserCode == "" || !r.sameOrigin(device.VerificationURI) {
		return nil, fmt.Errorf("the answer of %s names no code, or no address of its own to enter it at", r.origin)
	}
	if !r.sameOrigin(device.VerificationURIComplete) {
		device.VerificationURIComplete = ""
	}
	if device.Interval < 1 || device.Interval > 60 {
		device.Interval = 5 // seconds; what RFC 8628 takes where a server says nothing
	}
	if latest := time.Now().Add(time.Hour); device.Expiry.IsZero() || device.Expiry.After(latest) {
		device.Expiry = latest
	}
	return device, nil
}

func showCode(cmd *cobra.Command, r *remote, device *oauth2.DeviceAuthResponse, asJSON bool) error {
	left := time.Until(device.Expiry).Round(time.Second)
	if asJSON {
		return printJSON(cmd.OutOrStdout(), deviceListed{
			device.VerificationURI, device.VerificationURIComplete, device.UserCode, int64(left / time.Second),
		})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), `To sign in at %s, open

    %s

and compare or enter the code

    %s

It is valid for %s. Waiting...
`, r.origin, printable(firstOf(device.VerificationURIComplete, device.VerificationURI)), printable(device.UserCode), left)
	return err
}

// awaitConsent polls until somebody has decided. A network that fails for a while
// does not end it: the person may be in the middle of signing in.
func (r *remote) awaitConsent(ctx context.Context, meta authServer, device *oauth2.DeviceAuthResponse) (*oauth2.Token, error) {
	for {
		got, err := r.config(meta).DeviceAccessToken(r.oauthContext(ctx), device)
		switch {
		case err == nil:
			return got, r.checkTokens(got)
		case ctx.Err() != nil:
			return nil, errors.New("ended before anybody confirmed the code; nothing was kept")
		case !time.Now().Before(device.Expiry):
			return nil, exitf(exitSignIn, "nobody confirmed the code in time; run lintel login again")
		}
		if _, network := errors.AsType[*url.Error](err); network {
			continue // it waits for the interval before it asks
		}
		switch code, plain := r.oauthError("the sign-in failed", err); code {
		case "access_denied":
			return nil, exitf(exitSignIn, "the sign-in was refused in the browser")
		case "expired_token":
			return nil, exitf(exitSignIn, "nobody confirmed the code in time; run lintel login again")
		default:
			return nil, plain
		}
	}
}

// keep writes the new grant to the token file, and revokes the one it replaces.
// The new one counts even if the old one cannot be revoked.
func (r *remote) keep(cmd *cobra.Command, meta authServer, got *oauth2.Token) (savedGrant, error) {
	ctx := context.WithoutCancel(cmd.Context()) // the person has signed in: keep it
	var old string
	grant := savedGrant{CA: r.ca, Plaintext: r.plain, Scope: strings.Join(cliScopes, " ")}.with(got)
	err := r.file.update(ctx, func(t *tokens) (bool, error) {
		old = t.Servers[r.origin].RefreshToken
		t.Servers[r.origin], t.Default = grant, r.origin
		return true, nil
	})
	if err != nil {
		return grant, errors.Join(err, r.revoke(ctx, meta, got.RefreshToken))
	}
	if old != "" {
		if err := r.revoke(ctx, meta, old); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "lintel: warning: the earlier sign-in could not be revoked: %v\n", err)
		}
	}
	return grant, nil
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
