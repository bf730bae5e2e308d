// Package oauth is the authorization server: which app may act for which person.
// It does the authorization code grant with PKCE, refresh and the device grant
// (RFC 6749, 7636, 8628), revocation (7009), introspection (7662) and metadata
// (8414), by the best current practice of RFC 9700. The pages that people see
// are in package web; docs/oauth.md lists where it differs from the RFCs, and why.
package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"lintel"
	"lintel/access"
	"lintel/limit"
)

// Lifetimes. A grant ends after grantLifetime whatever is refreshed, and when no
// app has refreshed for refreshIdle.
const (
	codeLifetime    = time.Minute // RFC 6749 §4.1.2 says at most ten
	accessLifetime  = time.Hour
	refreshIdle     = 90 * 24 * time.Hour
	deviceLifetime  = 10 * time.Minute
	devicePause     = 5 * time.Second // between polls, RFC 8628 §3.2
	grantLifetime   = 365 * 24 * time.Hour
	maxParameters   = 16 << 10 // bytes of a query or a body
	userCodeRetries = 5
	storeTimeout    = 10 * time.Second // for all that a request asks of the store
)

// GrantLifetime is how long an app stays connected at the most, for the page
// that asks for consent.
const GrantLifetime = grantLifetime

// Store is what the authorization server keeps on disk. Every method returns a
// *lintel.Error; what does not exist is CodeNotFound.
type Store interface {
	Client(ctx context.Context, id string) (lintel.Client, error)
	// Subject reads the bearer of an access token; nil when there is none.
	Subject(ctx context.Context, tokenHash string) (*access.Subject, error)

	AddCode(ctx context.Context, g lintel.Grant, c lintel.AuthorizationCode) error
	Code(ctx context.Context, hash string) (lintel.AuthorizationCode, lintel.Grant, error)
	// RedeemCode spends a code for tokens, once; a replay revokes the grant.
	RedeemCode(ctx context.Context, hash string, issue lintel.Issue) (lintel.Redemption, error)

	RefreshToken(ctx context.Context, hash string) (lintel.RefreshToken, lintel.Grant, error)
	// RedeemRefreshToken rotates a refresh token; a replay revokes the grant.
	RedeemRefreshToken(ctx context.Context, hash string, strict bool, issue lintel.Issue) (lintel.Redemption, error)
	RevokeGrant(ctx context.Context, id lintel.ID, why string, now time.Time) error

	AddDeviceCode(ctx context.Context, d lintel.DeviceCode) error
	DeviceCode(ctx context.Context, hash string) (lintel.DeviceCode, error)
	DeviceByUserCode(ctx context.Context, userCodeHash string) (lintel.DeviceCode, error)
	PollDevice(ctx context.Context, hash string, now time.Time) (tooEarly bool, err error)
	ApproveDevice(ctx context.Context, userCodeHash string, g lintel.Grant, now time.Time) error
	DenyDevice(ctx context.Context, userCodeHash string, now time.Time) error
	// RedeemDeviceCode spends an approved device code for tokens, once.
	RedeemDeviceCode(ctx context.Context, hash string, issue lintel.Issue) (lintel.Redemption, error)
}

// Config configures a Server.
type Config struct {
	Issuer string                           // https://host, without a path; by configuration only, never from a request
	Source func(r *http.Request) netip.Addr // where a request came from
	Now    func() time.Time
	Log    *slog.Logger
}

// Server is the authorization server. It is safe for concurrent use.
type Server struct {
	cfg   Config
	store Store

	mu      sync.Mutex     // guards devices
	devices *limit.Buckets // requests of devices, by network
}

// devicesPerNetwork bounds what strangers can have stored: whoever knows the name
// of a public client can begin the device grant.
var devicesPerNetwork = limit.Rate{Burst: 300, Each: 2 * time.Second}

// New returns a Server.
func New(cfg Config, store Store) *Server {
	return &Server{cfg: cfg, store: store, devices: limit.New(devicesPerNetwork)}
}

// newGrant is a consent of a person to a client, from now on.
func newGrant(person lintel.ID, client string, scopes lintel.Scope, now time.Time) lintel.Grant {
	return lintel.Grant{
		ID: lintel.NewID(), PersonID: person, ClientID: client, Scopes: scopes,
		CreatedAt: now, ExpiresAt: now.Add(grantLifetime), LastUsedAt: now,
	}
}
