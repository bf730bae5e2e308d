package oauth

import (
	"context"
	"net/http"

	"lintel"
	"lintel/access"
	"lintel/secret"
)

// revoke ends the grant of a token (RFC 7009 §2.1): every token of it, whichever
// was sent. A token that is unknown or over is no error (§2.2).
func (s *Server) revoke(r *http.Request) (any, *Error) {
	q, failure := s.read(r, false)
	if failure != nil {
		return nil, failure
	}
	token := q.get("token")
	if token == "" {
		return nil, fail(InvalidRequest, "token is missing")
	}
	grant, client, failure := s.grantOf(r.Context(), token)
	switch {
	case failure != nil:
		return nil, failure
	case grant == "":
		return struct{}{}, nil
	case client != q.client.ID:
		return nil, fail(InvalidGrant, "the token was issued to another client")
	}
	if err := s.store.RevokeGrant(context.WithoutCancel(r.Context()), grant, "revoked by the app", s.cfg.Now()); err != nil {
		return nil, s.internal(r.Context(), err)
	}
	s.cfg.Log.Info("app revoked its grant", "grant", grant, "client", client)
	return struct{}{}, nil
}

// grantOf finds what a token came of; empty for no token of an app. The hint
// for its type is not needed: the prefix tells (RFC 7009 §2.1).
func (s *Server) grantOf(ctx context.Context, token string) (grant lintel.ID, client string, failure *Error) {
	switch {
	case secret.Is(secret.AccessToken, token):
		subject, err := s.store.Subject(ctx, secret.Hash(token))
		if err != nil {
			return "", "", s.internal(ctx, err)
		}
		if subject != nil {
			return subject.GrantID, subject.ClientID, nil
		}
	case secret.Is(secret.RefreshToken, token):
		_, g, err := s.store.RefreshToken(ctx, secret.Hash(token))
		switch lintel.CodeOf(err) {
		case "":
			return g.ID, g.ClientID, nil
		case lintel.CodeNotFound:
		default:
			return "", "", s.internal(ctx, err)
		}
	}
	return "", "", nil
}

// introspection is what is told of a token (RFC 7662 §2.2). Of one that is not
// good, only that.
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Subject   string `json:"sub,omitempty"` // the person's id
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"` // Unix seconds
	Issuer    string `json:"iss,omitempty"`
}

// introspect tells a confidential client about a token of its own. Every other
// token is not active, as far as it may know (RFC 7662 §4).
func (s *Server) introspect(r *http.Request) (any, *Error) {
	q, failure := s.read(r, false)
	if failure != nil {
		return nil, failure
	}
	if q.client.Kind != lintel.Confidential {
		return nil, fail(InvalidClient, "only a client with a secret may ask about tokens")
	}
	token := q.get("token")
	switch {
	case token == "":
		return nil, fail(InvalidRequest, "token is missing")
	case secret.Is(secret.AccessToken, token):
		return s.introspectAccess(r.Context(), q.client.ID, token)
	case secret.Is(secret.RefreshToken, token):
		return s.introspectRefresh(r.Context(), q.client.ID, token)
	}
	return introspection{}, nil
}

func (s *Server) introspectAccess(ctx context.Context, client, token string) (any, *Error) {
	subject, err := s.store.Subject(ctx, secret.Hash(token))
	if err != nil {
		return nil, s.internal(ctx, err)
	}
	if access.Token(subject, s.cfg.Now()) != nil || subject.ClientID != client {
		return introspection{}, nil
	}
	return introspection{
		Active: true, Scope: subject.Scopes.String(), ClientID: client, Subject: string(subject.PersonID),
		TokenType: "Bearer", ExpiresAt: subject.ExpiresAt.Unix(), Issuer: s.cfg.Issuer,
	}, nil
}

func (s *Server) introspectRefresh(ctx context.Context, client, token string) (any, *Error) {
	stored, grant, err := s.store.RefreshToken(ctx, secret.Hash(token))
	if lintel.CodeOf(err) == lintel.CodeNotFound {
		return introspection{}, nil
	}
	if err != nil {
		return nil, s.internal(ctx, err)
	}
	now := s.cfg.Now()
	if grant.ClientID != client || !stored.SpentAt.IsZero() || !now.Before(stored.ExpiresAt) || !grant.Live(now) {
		return introspection{}, nil
	}
	return introspection{
		Active: true, Scope: grant.Scopes.String(), ClientID: client, Subject: string(grant.PersonID),
		ExpiresAt: stored.ExpiresAt.Unix(), Issuer: s.cfg.Issuer,
	}, nil
}
