package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// cliClientID is the client that every server has built in for this program. It
// is a public client: it has no secret.
const cliClientID = "lintelcli"

// The scopes that a server gives.
const (
	scopeOpen  = "OPENDOOR"
	scopeClose = "CLOSEDOOR"
	scopeRead  = "READ"
)

// cliScopes are what login asks for.
var cliScopes = []string{scopeOpen, scopeClose, scopeRead}

// authServer is what a server's metadata (RFC 8414) says, as far as it is used.
type authServer struct {
	Issuer     string `json:"issuer"`
	Token      string `json:"token_endpoint"`
	Revocation string `json:"revocation_endpoint"`
	Device     string `json:"device_authorization_endpoint"`
}

// discover reads the server's metadata and checks that it is the server's own:
// nothing is sent to another origin than the one that was asked for.
func (r *remote) discover(ctx context.Context) (authServer, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	var meta authServer
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.origin+"/.well-known/oauth-authorization-server", nil)
	if err != nil {
		return meta, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := r.http.Do(req)
	if err != nil {
		return meta, r.netError("cannot reach the server", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return meta, r.netError("cannot reach the server", err)
	}
	if res.StatusCode == http.StatusServiceUnavailable && notSetUp(text) {
		return meta, fmt.Errorf("%s has no account yet; make the first one: open the link that \"lintel serve\" printed when it started, or run \"lintel user add\" on that machine", r.origin)
	}
	if res.StatusCode != http.StatusOK || json.Unmarshal(text, &meta) != nil {
		return meta, fmt.Errorf("%s answers %d to the question for its OAuth endpoints; is it a Lintel that people can sign in at?", r.origin, res.StatusCode)
	}
	return meta, r.own(meta)
}

// notSetUp reports whether an answer is that of a Lintel without any account.
func notSetUp(text []byte) bool {
	var said struct {
		Error string `json:"error"`
	}
	return json.Unmarshal(text, &said) == nil && said.Error == "not set up"
}

// own checks that metadata is of this server (RFC 8414 §3.3).
func (r *remote) own(meta authServer) error {
	if meta.Issuer != r.origin {
		return fmt.Errorf("the server at %s calls itself %q; if that is right, use it with --server", r.origin, printable(meta.Issuer))
	}
	for _, endpoint := range []string{meta.Token, meta.Device, meta.Revocation} {
		if !r.sameOrigin(endpoint) {
			return fmt.Errorf("the server at %s names an endpoint that is not its own: %q", r.origin, printable(endpoint))
		}
	}
	return nil
}

func (r *remote) sameOrigin(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	origin, err := parseOrigin(u.Scheme + "://" + u.Host)
	return err == nil && origin == r.origin
}

// config is the server's endpoints for package oauth2.
func (r *remote) config(meta authServer) *oauth2.Config {
	return &oauth2.Config{
		ClientID: cliClientID, Scopes: cliScopes,
		Endpoint: oauth2.Endpoint{TokenURL: meta.Token, DeviceAuthURL: meta.Device, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// oauthContext makes package oauth2 use the server's HTTP client. Not every
// request of that package ends with its context, so the client has a limit too.
func (r *remote) oauthContext(ctx context.Context) context.Context {
	own := *r.http
	own.Timeout = exchangeLimit
	return context.WithValue(ctx, oauth2.HTTPClient, &own)
}

// checkTokens looks over what the token endpoint gave before anything of it is kept
// (RFC 6749 §5.1). A refresh without a successor for the refresh token is a fault too:
// the old one was good once.
func (r *remote) checkTokens(got *oauth2.Token) error {
	if !strings.EqualFold(got.TokenType, "Bearer") {
		return fmt.Errorf("%s gave a token of the type %q; this program knows Bearer only", r.origin, printable(got.TokenType))
	}
	refresh, _ := got.Extra("refresh_token").(string) // as answered: RefreshToken is the old one where none came
	if !visible(got.AccessToken) || !visible(refresh) {
		return fmt.Errorf("%s gave no access token and refresh token that can be used; both must be there, in printable ASCII without spaces", r.origin)
	}
	return nil
}

// visible reports whether a text has characters, all of them printable ASCII and none
// a space.
func visible(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// revoke ends the grant that a refresh token is of (RFC 7009).
func (r *remote) revoke(ctx context.Context, meta authServer, refreshToken string) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	form := url.Values{"token": {refreshToken}, "token_type_hint": {"refresh_token"}, "client_id": {cliClientID}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, meta.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := r.http.Do(req)
	if err != nil {
		return r.netError("cannot reach the server", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %d to the revocation", r.origin, res.StatusCode)
	}
	return nil
}

// oauthError is the error of package oauth2 without what that prints of answers,
// and the code of the server's own error, if it was that.
func (r *remote) oauthError(what string, err error) (code string, plain error) {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		if _, network := errors.AsType[*url.Error](err); network || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return "", r.netError(what, err)
		}
		return "", fmt.Errorf("%s: the answer of %s is not one of OAuth", what, r.origin)
	}
	status := 0
	if e.Response != nil {
		status = e.Response.StatusCode
	}
	said := e.ErrorCode
	if e.ErrorDescription != "" {
		said += ": " + e.ErrorDescription
	}
	return e.ErrorCode, fmt.Errorf("%s: %s answered %d %s", what, r.origin, status, printable(said))
}
