package e2e

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// TestForeignClientOfGo runs golang.org/x/oauth2 unchanged, in every way that it
// can authenticate.
func TestForeignClientOfGo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	styles := map[string]oauth2.AuthStyle{"auto": oauth2.AuthStyleAutoDetect, "header": oauth2.AuthStyleInHeader, "params": oauth2.AuthStyleInParams}
	for _, kind := range []string{"confidential", "public"} {
		for name, style := range styles {
			t.Run(kind+" "+name, func(t *testing.T) {
				d := *d
				d.t = t
				ctx, c := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{}), d.client(kind)
				config := &oauth2.Config{
					ClientID: c.ID, ClientSecret: c.Secret, RedirectURL: c.RedirectURIs[0], Scopes: []string{"READ", "OPENDOOR"},
					Endpoint: oauth2.Endpoint{AuthURL: d.BaseURL + authorizationPath, TokenURL: d.BaseURL + tokenPath, AuthStyle: style},
				}
				verifier := oauth2.GenerateVerifier()
				p := d.consent(newVisitor(t, d.BaseURL), config.AuthCodeURL("st", oauth2.S256ChallengeOption(verifier)))
				p = p.submit(p.form("decision"), "decision", "allow")
				back, err := url.Parse(p.Location)
				if err != nil || !strings.HasPrefix(p.Location, c.RedirectURIs[0]) {
					t.Fatalf("sent to %q", p.Location)
				}
				first, err := config.Exchange(ctx, back.Query().Get("code"), oauth2.VerifierOption(verifier))
				if err != nil {
					t.Fatal(err)
				}
				second, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: first.RefreshToken}).Token()
				if err != nil {
					t.Fatal(err)
				}
				d.works(first, second)
			})
		}
	}
}

// works tries tokens.
func (d *demo) works(tokens ...*oauth2.Token) {
	d.t.Helper()
	for _, token := range tokens {
		if token.Type() != "Bearer" || token.Expiry.IsZero() || token.Extra("scope") != "OPENDOOR READ" {
			d.t.Errorf("token %q of type %q for %q", token.AccessToken, token.Type(), token.Extra("scope"))
		}
		if r := do(d.t, "POST", d.BaseURL+syncPath, token.AccessToken, ""); r.Status != http.StatusOK {
			d.t.Errorf("sync: %d", r.Status)
		}
	}
}

// TestForeignDeviceOfGo runs the device grant of golang.org/x/oauth2, with a
// person who agrees and one who does not.
func TestForeignDeviceOfGo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	config := &oauth2.Config{
		ClientID: d.client("public").ID, Scopes: []string{"READ", "OPENDOOR"},
		Endpoint: oauth2.Endpoint{DeviceAuthURL: d.BaseURL + devicePath, TokenURL: d.BaseURL + tokenPath, AuthStyle: oauth2.AuthStyleInParams},
	}
	for _, decision := range []string{"allow", "deny"} {
		t.Run(decision, func(t *testing.T) {
			d := *d
			d.t = t
			ctx := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{})
			device, err := config.DeviceAuth(ctx)
			if err != nil {
				t.Fatal(err)
			}
			p := d.consent(newVisitor(t, d.BaseURL), device.VerificationURI)
			p = p.submit(p.form("user_code"), "user_code", strings.ToLower(strings.ReplaceAll(device.UserCode, "-", "")))
			if !strings.Contains(p.Text, device.UserCode) || !strings.Contains(p.Text, "Demo desktop app") {
				t.Errorf("the page does not say which code or app:\n%s", p.Text)
			}
			p.submit(p.form("decision"), "decision", decision)
			token, err := config.DeviceAccessToken(ctx, device)
			if decision == "allow" {
				if err != nil {
					t.Fatal(err)
				}
				d.works(token)
			} else if err == nil || !strings.Contains(err.Error(), "access_denied") {
				t.Errorf("refused, and the device got %v", err)
			}
		})
	}
}
