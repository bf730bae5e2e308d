package oauth

import (
	"context"
	"net/url"

	"lintel"
	"lintel/secret"
)

// AuthorizationRequest is a request for a person's consent that is in order
// (RFC 6749 §4.1.1). It can be kept as JSON between asking and answering.
type AuthorizationRequest struct {
	ClientID      string
	RedirectURI   string // where the answer goes
	Named         bool   // the request itself named RedirectURI
	State         string // as it came; empty for none
	Scopes        lintel.Scope
	CodeChallenge string // RFC 7636; empty for none
}

// Refusal is why a request for consent is not put to the person.
type Refusal struct {
	RedirectTo string // where to send the browser; empty: the person must be told, and nobody else
	Err        *Error
}

// Authorize checks a request for consent by its raw query. This is the one
// place that decides whether an error may be sent to a redirect URI: only once
// the client and that URI are known to belong together (RFC 6749 §4.1.2.1).
func (s *Server) Authorize(ctx context.Context, rawQuery string) (AuthorizationRequest, lintel.Client, *Refusal) {
	p, err := parseParameters(rawQuery)
	if err != nil {
		return AuthorizationRequest{}, lintel.Client{}, &Refusal{Err: fail(InvalidRequest, err.Error())}
	}
	client, failure := s.requester(ctx, p)
	if failure != nil {
		return AuthorizationRequest{}, client, &Refusal{Err: failure}
	}
	request := AuthorizationRequest{ClientID: client.ID, State: p.get("state")}
	if request.RedirectURI, request.Named, failure = redirectOf(client, p); failure != nil {
		return request, client, &Refusal{Err: failure}
	}
	if failure := request.complete(client, p); failure != nil {
		return request, client, &Refusal{RedirectTo: s.errorTo(request, failure), Err: failure}
	}
	return request, client, nil
}

// requester finds the client of a request for consent.
func (s *Server) requester(ctx context.Context, p parameters) (lintel.Client, *Error) {
	if failure := p.wrong("client_id"); failure != nil {
		return lintel.Client{}, failure
	}
	if p.get("client_id") == "" {
		return lintel.Client{}, fail(InvalidRequest, "client_id is missing")
	}
	client, err := s.store.Client(ctx, p.get("client_id"))
	switch {
	case lintel.CodeOf(err) == lintel.CodeNotFound, err == nil && !client.DisabledAt.IsZero():
		return lintel.Client{}, fail(InvalidClient, "no app is registered under this client_id")
	case err != nil:
		s.cfg.Log.Error("authorization request failed", "error", err)
		return lintel.Client{}, errInternal
	}
	return client, nil
}

// redirectOf returns where the answer goes. A client with one redirect URI may
// leave it out (RFC 6749 §3.1.2.3).
func redirectOf(c lintel.Client, p parameters) (uri string, named bool, failure *Error) {
	if failure := p.wrong("redirect_uri"); failure != nil {
		return "", false, failure
	}
	uri = p.get("redirect_uri")
	switch {
	case uri == "" && len(c.RedirectURIs) == 1:
		return c.RedirectURIs[0], false, nil
	case uri == "":
		return "", false, fail(InvalidRequest, "redirect_uri is missing")
	case !matchRedirect(c, uri):
		return "", false, fail(InvalidRequest, "redirect_uri is not registered for this app")
	}
	return uri, true, nil
}

// complete checks and takes over what is left of the request.
func (r *AuthorizationRequest) complete(c lintel.Client, p parameters) *Error {
	if failure := p.wrong(known...); failure != nil {
		return failure
	}
	switch p.get("response_type") {
	case "code":
	case "":
		return fail(InvalidRequest, "response_type is missing")
	default:
		return fail(UnsupportedResponseType, "only response_type=code is supported")
	}
	if mode := p.get("response_mode"); mode != "" && mode != "query" {
		return fail(InvalidRequest, "only response_mode=query is supported")
	}
	if failure := r.challenge(c, p); failure != nil {
		return failure
	}
	var failure *Error
	r.Scopes, failure = requestedScopes(c, p)
	return failure
}

// challenge takes the PKCE challenge (RFC 7636 §4.3). Only a client that was
// written for the deployed services may do without one.
func (r *AuthorizationRequest) challenge(c lintel.Client, p parameters) *Error {
	challenge, method := p.get("code_challenge"), p.get("code_challenge_method")
	switch {
	case challenge == "" && method == "" && c.Legacy:
		return nil
	case challenge == "":
		return fail(InvalidRequest, "code_challenge is missing; PKCE is required (RFC 7636)")
	case method != "S256":
		return fail(InvalidRequest, "code_challenge_method must be S256")
	case !isChallenge(challenge):
		return fail(InvalidRequest, "code_challenge is not the base64url of a SHA-256")
	}
	r.CodeChallenge = challenge
	return nil
}

// requestedScopes reads the scope parameter. Without one a client gets READ.
func requestedScopes(c lintel.Client, p parameters) (lintel.Scope, *Error) {
	scopes := lintel.ScopeRead
	if text := p.get("scope"); text != "" {
		var err error
		if scopes, err = lintel.ParseScope(text); err != nil {
			return 0, fail(InvalidScope, "the scope is unknown; known are "+lintel.AllScopes.String())
		}
	}
	if c.WithRead {
		scopes |= lintel.ScopeRead
	}
	if !c.Scopes.Has(scopes) {
		return 0, fail(InvalidScope, "this app is registered for "+c.Scopes.String()+" only")
	}
	return scopes, nil
}

// Approve stores a person's consent, with the scopes that the person left, and
// returns where to send the browser with the code (RFC 6749 §4.1.2). Scopes
// beyond the request's, or none, are CodeInvalid; a client or person that was
// disabled meanwhile is CodeNotFound.
func (s *Server) Approve(ctx context.Context, r AuthorizationRequest, person lintel.ID, scopes lintel.Scope) (string, error) {
	if scopes == 0 || !r.Scopes.Has(scopes) {
		return "", &lintel.Error{Code: lintel.CodeInvalid, Message: "choose at least one of the things the app asked for"}
	}
	client, err := s.store.Client(ctx, r.ClientID)
	if err != nil {
		return "", err
	}
	if !matchRedirect(client, r.RedirectURI) {
		return "", &lintel.Error{Code: lintel.CodeNotFound, Message: "the app's registration has changed; start again from the app"}
	}
	now := s.cfg.Now()
	code := secret.New(secret.AuthorizationCode)
	stored := lintel.AuthorizationCode{Hash: secret.Hash(code), CodeChallenge: r.CodeChallenge, ExpiresAt: now.Add(codeLifetime)}
	if r.Named {
		stored.RedirectURI = r.RedirectURI
	}
	grant := newGrant(person, client.ID, scopes, now)
	if err := s.store.AddCode(ctx, grant, stored); err != nil {
		return "", err
	}
	s.cfg.Log.Info("app authorised", "grant", grant.ID, "client", client.ID, "person", person, "scopes", scopes.String())
	return s.answerTo(r, url.Values{"code": {code}}), nil
}

// Deny returns where to send the browser when the person refuses.
func (s *Server) Deny(r AuthorizationRequest) string {
	return s.errorTo(r, fail(AccessDenied, "the person refused"))
}

func (s *Server) errorTo(r AuthorizationRequest, e *Error) string {
	return s.answerTo(r, url.Values{"error": {string(e.Code)}, "error_description": {e.Description}})
}

// answerTo adds what every answer carries: the state as it came (RFC 6749
// §4.1.2) and the issuer (RFC 9207 §2).
func (s *Server) answerTo(r AuthorizationRequest, answer url.Values) string {
	if r.State != "" {
		answer.Set("state", r.State)
	}
	answer.Set("iss", s.cfg.Issuer)
	return redirectTo(r.RedirectURI, answer)
}
