package oauth

import (
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// TestGoClient is what golang.org/x/oauth2 does, in each of its styles: where it
// is not told one, it first sends HTTP Basic, and on failure the whole request
// again with parameters.
func TestGoClient(t *testing.T) {
	w := newWorld(t)
	for _, a := range w.apps() {
		for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleAutoDetect, oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
			client := &oauth2.Config{
				ClientID: a.ID, ClientSecret: a.secret, RedirectURL: a.RedirectURIs[0], Scopes: []string{"CLOSEDOOR", "READ"},
				Endpoint: oauth2.Endpoint{AuthURL: issuer + PathAuthorization, TokenURL: w.url + PathToken, AuthStyle: style},
			}
			proof := oauth2.GenerateVerifier()
			request := w.asked(t, parsed(t, client.AuthCodeURL("s t", oauth2.S256ChallengeOption(proof))).Query())
			location, err := w.server.Approve(t.Context(), request, w.person, request.Scopes)
			must(t, err)
			answer := answered(t, location, a.RedirectURIs[0])
			got, err := client.Exchange(t.Context(), answer["code"], oauth2.VerifierOption(proof))
			if err != nil || answer["state"] != "s t" || got.Type() != "Bearer" || got.Extra("scope") != "CLOSEDOOR READ" {
				t.Fatalf("%s, style %d: %v, %+v", a.ID, style, err, got)
			}
			got.Expiry = time.Unix(1, 0)
			next, err := client.TokenSource(t.Context(), got).Token()
			if err != nil || next.AccessToken == got.AccessToken || next.RefreshToken == got.RefreshToken || !w.alive(t, next.AccessToken) {
				t.Errorf("%s, style %d: %v, %+v", a.ID, style, err, next)
			}
		}
	}
}
