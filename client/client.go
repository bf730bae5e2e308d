// Package client lists, opens and closes the doors of a Lintel server from Go.
//
//	c, err := client.New("https://garage.example.org", client.StaticToken(token))
//	doors, err := c.Doors(ctx)
//	receipt, err := c.Open(ctx, doors[0].ID)
//	door, err := c.Await(ctx, doors[0].ID, client.Opened, time.Second, nil)
//
// A token comes from the server's OAuth endpoints or from "lintel token create";
// package golang.org/x/oauth2 speaks to the former and fits in with a [TokenFunc].
// "lintel login" and "lintel open" are made of this package.
//
// # What an error means
//
// An answer other than 200 is an [*Error]. Where CommandID is set, the request was
// recorded as a command, and the status is what the controller said; where it is
// empty, no controller was told.
//
//	Status  CommandID  Meaning
//	400     empty      the request is malformed, for example the door's ID is no UUID
//	400     set        the controller calls the command malformed
//	401     empty      the token is missing, unknown, expired or revoked; see [Renewer]
//	401     set        the controller reports an authentication problem; the token is good
//	403     empty      the token lacks the scope: OPENDOOR, CLOSEDOOR or READ
//	404     empty      the door does not exist or is not the token's to move
//	404     set        the controller is not connected ("offline"), was silent until its
//	                   deadline ("deadline"), or could not judge that
//	428     set        the controller cannot tell where the door is, or the movement
//	                   could go the wrong way; Reason says which
//	429     empty      too many requests wait for this door; try again after RetryAfter
//	500     either     a fault of the server; a door may move all the same
//	501     set        the controller, or its opener, cannot do this
//	other   empty      what is at this address is no Lintel, or something is in between
//
// Any other error is [ErrNoAnswer] or of the TokenSource. After ErrNoAnswer it is
// not known whether a door that was to move, moves.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"lintel/api"
)

// The most that is read of an answer, in bytes after decompression.
const (
	maxList   = 8 << 20 // about 10,000 doors
	maxAnswer = 64 << 10
)

// TokenSource gives the access token for a request. Its Token is called before
// every request, in the goroutine of the caller, and may refresh; it must be safe
// for use by several goroutines if the Client is used by several.
type TokenSource interface {
	Token(ctx context.Context) (string, error)
}

// Renewer is a TokenSource that can replace an access token which looks good and is
// refused, for example after a server's data was restored.
//
// When the server finds fault with the token itself, with 401 and "invalid_token",
// nothing was recorded. The Client then calls Renew with that token and repeats the
// request with the one that it returns, once for a request. If Renew returns the same
// token, nothing is repeated and the refusal stands; an error of Renew is that of the
// call.
type Renewer interface {
	TokenSource
	Renew(ctx context.Context, refused string) (string, error)
}

// TokenFunc is a function as a TokenSource.
type TokenFunc func(ctx context.Context) (string, error)

// Token calls the function.
func (f TokenFunc) Token(ctx context.Context) (string, error) { return f(ctx) }

// StaticToken is an access token that never changes, such as "lintel token
// create" prints. Once it has expired, every request ends in an *Error with 401.
type StaticToken string

// Token returns the token itself.
func (t StaticToken) Token(context.Context) (string, error) { return string(t), nil }

// Client speaks to one server with one account's tokens. It has no time limits
// of its own: the context of a call is its limit. It is safe for use by several
// goroutines.
type Client struct {
	base   string
	tokens TokenSource
	http   *http.Client
}

// Option changes a Client as New makes it.
type Option func(*Client)

// WithHTTPClient makes requests with h in place of http.DefaultClient, for
// example to trust a certificate of one's own. Its CheckRedirect is not used: a
// Client follows no redirects.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		if h != nil {
			c.http = h
		}
	}
}

// New returns a Client of the server at a base URL like "https://garage.example.org",
// which is the server's issuer: scheme, host and port, without a path. New makes no
// request. The tokens go over the network as they are, so use https beyond loopback.
func New(baseURL string, tokens TokenSource, options ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" ||
		strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("client: the server's address has the form https://HOST or https://HOST:PORT")
	}
	if tokens == nil {
		return nil, errors.New("client: a TokenSource is needed")
	}
	c := &Client{base: u.Scheme + "://" + u.Host, tokens: tokens, http: http.DefaultClient}
	for _, option := range options {
		option(c)
	}
	own := *c.http // a copy: the caller's keeps its redirects
	own.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // neither a token nor a movement goes where somebody else says
	}
	c.http = &own
	return c, nil
}

// answer is an answer with its body read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// faultsToken reports whether the server found fault with the token before it did
// anything else: what names a command was recorded, and may not be repeated.
func (a answer) faultsToken() bool {
	return a.status == http.StatusUnauthorized && a.header.Get(api.HeaderCommandID) == "" &&
		strings.Contains(strings.Join(a.header.Values("WWW-Authenticate"), ","), "invalid_token")
}

// post sends a request and reads the answer, whatever its status, up to a limit. A
// token that is refused is renewed once, where the TokenSource can.
func (c *Client) post(ctx context.Context, path string, body any, most int64) (answer, error) {
	token, err := c.tokens.Token(ctx)
	if err != nil {
		return answer{}, err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	a, err := c.send(ctx, path, token, text, most)
	renewer, can := c.tokens.(Renewer)
	if err != nil || !can || !a.faultsToken() {
		return a, err
	}
	next, err := renewer.Renew(ctx, token)
	if err != nil {
		return answer{}, err
	}
	if next == token {
		return a, nil
	}
	return c.send(ctx, path, next, text, most)
}

// send sends a request once.
func (c *Client) send(ctx context.Context, path, token string, text []byte, most int64) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	defer res.Body.Close()
	read, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("%w: the one with status %d broke off: %w", ErrNoAnswer, res.StatusCode, err)
	case int64(len(read)) > most:
		return answer{}, fmt.Errorf("%w: the one with status %d has more than %d bytes", ErrNoAnswer, res.StatusCode, most)
	}
	return answer{res.StatusCode, res.Header, read}, nil
}

// envelope reads the body of a toggle answer or an error.
func (a answer) envelope() (api.V1Answer, error) {
	var e api.V1Answer
	if err := json.Unmarshal(a.body, &e); err != nil || e.Timestamp == 0 {
		return e, fmt.Errorf("%w: with status %d came something else; is something in between?", ErrNoAnswer, a.status)
	}
	return e, nil
}
