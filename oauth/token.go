package oauth

import (
	"context"
	"net/http"
	"time"

	"lintel"
	"lintel/secret"
)

// Grant types (RFC 6749 §4.1.3 and §6, RFC 8628 §3.4).
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
)

// tokens is the answer with tokens (RFC 6749 §5.1).
type tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"` // exactly Bearer: deployed clients compare with case
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"` // always, in canonical form
}

// token gives tokens (RFC 6749 §3.2).
func (s *Server) token(r *http.Request) (any, *Error) {
	q, failure := s.read(r, true)
	if failure != nil {
		return nil, failure
	}
	// A redemption is not undone because its caller left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTimeout)
	defer cancel()
	switch q.get("grant_type") {
	case grantCode:
		return s.redeemCode(ctx, q)
	case grantRefresh:
		return s.refresh(ctx, q)
	case grantDevice:
		return s.redeemDevice(ctx, q)
	case "":
		return nil, fail(InvalidRequest, "grant_type is missing")
	}
	return nil, fail(UnsupportedGrantType, "supported are authorization_code, refresh_token and "+grantDevice)
}

// redeemCode gives tokens for a code (RFC 6749 §4.1.3). A request that is not
// the client's own, whole request neither spends the code nor revokes anything:
// only then is it looked at whether the code was used before.
func (s *Server) redeemCode(ctx context.Context, q request) (any, *Error) {
	code := q.get("code")
	if code == "" {
		return nil, fail(InvalidRequest, "code is missing")
	}
	refused := fail(InvalidGrant, "the code is unknown, used, expired, or for another client, redirect_uri or code_verifier")
	if !secret.Is(secret.AuthorizationCode, code) {
		return nil, refused
	}
	stored, grant, err := s.store.Code(ctx, secret.Hash(code))
	switch {
	case lintel.CodeOf(err) == lintel.CodeNotFound:
		return nil, refused
	case err != nil:
		return nil, s.internal(ctx, err)
	case grant.ClientID != q.client.ID, !s.sameRedirect(stored, q), !verifies(stored.CodeChallenge, q.get("code_verifier")):
		return nil, refused
	case !stored.UsedAt.IsZero():
		return nil, s.replayed(ctx, grant, "authorization code used twice", refused)
	case !grant.Live(s.cfg.Now()):
		return nil, refused
	}
	return s.issue(grant, grant.Scopes, refused, func(issue lintel.Issue) (lintel.Redemption, error) {
		return s.store.RedeemCode(ctx, secret.Hash(code), issue)
	})
}

// sameRedirect compares redirect_uri with the authorization request's, as it
// is. What that left out may be left out, or be the registered one.
func (s *Server) sameRedirect(c lintel.AuthorizationCode, q request) bool {
	uri := q.get("redirect_uri")
	if c.RedirectURI == "" {
		return uri == "" || len(q.client.RedirectURIs) == 1 && uri == q.client.RedirectURIs[0]
	}
	return uri == c.RedirectURI
}

// refresh gives new tokens for a refresh token (RFC 6749 §6).
func (s *Server) refresh(ctx context.Context, q request) (any, *Error) {
	token := q.get("refresh_token")
	if token == "" {
		return nil, fail(InvalidRequest, "refresh_token is missing")
	}
	refused := fail(InvalidGrant, "the refresh token is unknown, used, expired, revoked, or of another client")
	if !secret.Is(secret.RefreshToken, token) {
		return nil, refused
	}
	stored, grant, err := s.store.RefreshToken(ctx, secret.Hash(token))
	switch {
	case lintel.CodeOf(err) == lintel.CodeNotFound, err == nil && grant.ClientID != q.client.ID:
		return nil, refused
	case err != nil:
		return nil, s.internal(ctx, err)
	case !stored.SpentAt.IsZero():
		return nil, s.replayed(ctx, grant, "refresh token used twice", refused)
	case !grant.Live(s.cfg.Now()):
		return nil, refused
	}
	scopes := grant.Scopes
	if text := q.get("scope"); text != "" {
		narrowed, err := lintel.ParseScope(text)
		if err != nil || !grant.Scopes.Has(narrowed) {
			return nil, fail(InvalidScope, "the scope goes beyond what the person agreed to")
		}
		scopes = narrowed
	}
	strict := q.client.Kind == lintel.Public // RFC 9700 §4.14.2
	return s.issue(grant, scopes, refused, func(issue lintel.Issue) (lintel.Redemption, error) {
		return s.store.RedeemRefreshToken(ctx, secret.Hash(token), strict, issue)
	})
}

// redeemDevice gives tokens for a device code once a person has agreed (RFC
// 8628 §3.4).
func (s *Server) redeemDevice(ctx context.Context, q request) (any, *Error) {
	code := q.get("device_code")
	if code == "" {
		return nil, fail(InvalidRequest, "device_code is missing")
	}
	refused := fail(InvalidGrant, "the device code is unknown, used, or of another client")
	if !secret.Is(secret.DeviceCode, code) {
		return nil, refused
	}
	d, err := s.store.DeviceCode(ctx, secret.Hash(code))
	switch {
	case lintel.CodeOf(err) == lintel.CodeNotFound, err == nil && d.ClientID != q.client.ID:
		return nil, refused
	case err != nil:
		return nil, s.internal(ctx, err)
	}
	if failure := s.poll(ctx, d); failure != nil {
		return nil, failure
	}
	if d.State != lintel.DeviceApproved {
		return nil, refused // it was used
	}
	grant := lintel.Grant{ID: d.GrantID, ClientID: d.ClientID, ExpiresAt: d.CreatedAt.Add(grantLifetime)} // at the earliest
	return s.issue(grant, d.Scopes, refused, func(issue lintel.Issue) (lintel.Redemption, error) {
		return s.store.RedeemDeviceCode(ctx, d.Hash, issue)
	})
}

// poll answers a device that must wait, or need not ask again (RFC 8628 §3.5).
// Only a request that is still pending can be asked about too early.
func (s *Server) poll(ctx context.Context, d lintel.DeviceCode) *Error {
	now := s.cfg.Now()
	switch {
	case d.State == lintel.DeviceUsed:
		return fail(InvalidGrant, "the device code was used")
	case !now.Before(d.ExpiresAt):
		return fail(ExpiredToken, "the device code has expired; start again")
	case d.State == lintel.DeviceDenied:
		return fail(AccessDenied, "the person refused")
	case d.State == lintel.DeviceApproved:
		return nil
	}
	tooEarly, err := s.store.PollDevice(ctx, d.Hash, now)
	switch {
	case err != nil:
		return s.internal(ctx, err)
	case tooEarly:
		return fail(SlowDown, "wait five seconds longer between two polls than before")
	}
	return fail(AuthorizationPending, "the person has not decided yet")
}

// issue makes a pair of tokens and has the store give them for what may be used
// once.
func (s *Server) issue(g lintel.Grant, scopes lintel.Scope, refused *Error, redeem func(lintel.Issue) (lintel.Redemption, error)) (any, *Error) {
	now := s.cfg.Now()
	access, refresh := secret.New(secret.AccessToken), secret.New(secret.RefreshToken)
	accessEnd := within(g, now.Add(accessLifetime))
	outcome, err := redeem(lintel.Issue{
		At: now, AccessID: lintel.NewID(), AccessHash: secret.Hash(access), AccessScopes: scopes, AccessExpiresAt: accessEnd,
		RefreshHash: secret.Hash(refresh), RefreshExpiresAt: within(g, now.Add(refreshIdle)),
	})
	switch {
	case err != nil:
		return nil, s.internal(context.Background(), err)
	case outcome == lintel.Replayed:
		s.cfg.Log.Warn("used twice; everything of the grant is revoked", "grant", g.ID, "client", g.ClientID)
		return nil, refused
	case outcome != lintel.Redeemed:
		return nil, refused
	}
	return tokens{AccessToken: access, TokenType: "Bearer", ExpiresIn: int64(accessEnd.Sub(now).Seconds()),
		RefreshToken: refresh, Scope: scopes.String()}, nil
}

// within is a time, or the grant's end where that comes first: no token outlives
// its grant.
func within(g lintel.Grant, end time.Time) time.Time {
	if g.ExpiresAt.Before(end) {
		return g.ExpiresAt
	}
	return end
}

// replayed revokes the grant of a code or token that was used before (RFC 6749
// §4.1.2, RFC 9700 §4.14.2).
func (s *Server) replayed(ctx context.Context, g lintel.Grant, why string, refused *Error) *Error {
	s.cfg.Log.Warn("used twice; everything of the grant is revoked", "grant", g.ID, "client", g.ClientID, "why", why)
	if err := s.store.RevokeGrant(ctx, g.ID, why, s.cfg.Now()); err != nil {
		return s.internal(ctx, err)
	}
	return refused
}

// internal logs a fault of the service and hides it.
func (s *Server) internal(ctx context.Context, err error) *Error {
	if ctx.Err() == nil {
		s.cfg.Log.Error("authorization server failed", "error", err)
	}
	return errInternal
}
