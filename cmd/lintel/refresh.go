package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"
)

// refreshBefore is how long before its end an access token is no longer used, so
// that it does not end on its way.
const refreshBefore = time.Minute

// savedTokens gives the access token of the token file, and refreshes it there.
// It implements client.Renewer.
type savedTokens struct {
	*remote
	only bool // the access token as it is: refresh nothing
}

// Token returns an access token that is good for a while.
func (s savedTokens) Token(ctx context.Context) (string, error) {
	saved, err := s.file.read()
	if err != nil {
		return "", err
	}
	grant := saved.Servers[s.origin]
	switch {
	case grant.RefreshToken == "":
		return "", s.notSignedIn()
	case grant.good():
		return grant.AccessToken, nil
	case s.only:
		return "", errors.New("the access token has expired")
	}
	return s.refresh(ctx, "")
}

// Renew returns another access token than one that the server refused, however good
// that looks here: this machine's clock may have been wrong when it was given, or the
// server may have lost it.
func (s savedTokens) Renew(ctx context.Context, refused string) (string, error) {
	if s.only {
		return refused, nil
	}
	return s.refresh(ctx, refused)
}

// good reports whether the access token is, as far as the clock says.
func (g savedGrant) good() bool { return time.Now().Before(g.ExpiresAt.Add(-refreshBefore)) }

func (r *remote) notSignedIn() error {
	return exitf(exitSignIn, "not signed in at %s; sign in with: lintel login --server %s", r.origin, r.origin)
}

// refresh takes a new pair of tokens for the old one, unless another process did
// so while this one waited for the lock. What was refused is not good.
func (s savedTokens) refresh(ctx context.Context, refused string) (token string, err error) {
	err = s.file.update(ctx, func(t *tokens) (bool, error) {
		grant := t.Servers[s.origin]
		if grant.RefreshToken == "" {
			return false, s.notSignedIn()
		}
		if grant.good() && grant.AccessToken != refused {
			token = grant.AccessToken
			return false, nil
		}
		next, err := s.exchange(ctx, grant)
		if err != nil {
			if next.RefreshToken == "" { // it has ended: nobody need try again
				t.Servers[s.origin] = next
				return true, err
			}
			return false, err
		}
		t.Servers[s.origin], token = next, next.AccessToken
		return true, nil
	})
	if err != nil {
		return "", err // also where the new tokens could not be kept
	}
	return token, nil
}

// exchange redeems the refresh token. With an error it returns the grant as it is
// then: without tokens where the server says that it has ended.
func (s savedTokens) exchange(ctx context.Context, grant savedGrant) (savedGrant, error) {
	meta, err := s.discover(ctx)
	if err != nil {
		return grant, err
	}
	// From here on the server may have spent the token: a Ctrl-C or a short time
	// limit must not lose its successor.
	ctx = s.oauthContext(context.WithoutCancel(ctx))
	got, err := s.config(meta).TokenSource(ctx, &oauth2.Token{RefreshToken: grant.RefreshToken}).Token()
	if err == nil {
		if err := s.checkTokens(got); err != nil {
			return grant, err
		}
		return grant.with(got), nil
	}
	code, err := s.oauthError("the sign-in could not be renewed", err)
	if code == "invalid_grant" || code == "invalid_client" || code == "unauthorized_client" {
		grant.AccessToken, grant.RefreshToken = "", ""
		return grant, exitf(exitSignIn, "the sign-in at %s has ended: it was revoked, has expired, or an answer got lost on the way; sign in again with: lintel login --server %s", s.origin, s.origin)
	}
	return grant, err
}

// with returns the grant with the tokens of an answer.
func (g savedGrant) with(got *oauth2.Token) savedGrant {
	g.AccessToken, g.RefreshToken, g.ExpiresAt = got.AccessToken, got.RefreshToken, got.Expiry
	if got.Expiry.IsZero() { // the server does not say: ask again after a while
		g.ExpiresAt = time.Now().Add(10 * time.Minute)
	}
	if scope, ok := got.Extra("scope").(string); ok {
		g.Scope = scope
	}
	return g
}
