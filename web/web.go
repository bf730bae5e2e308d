// Package web is every page that people see: signing in, their account, and the
// questions of the authorization server. Pages are made on the server and work
// without scripts, but for passkeys, which no browser has without one. A handler
// returns an answer; one function writes it.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"lintel"
	"lintel/account"
	"lintel/oauth"
	"lintel/store"
)

// Accounts is signing in, and what people change of their accounts.
// account.Service implements it. Every error is a *lintel.Error.
type Accounts interface {
	// SignIn refuses with CodeUnauthenticated, or CodeTooMany and account.RetryAfter.
	SignIn(ctx context.Context, b account.Browser, email, password string) (account.SignedIn, error)
	SignInWithRecoveryCode(ctx context.Context, b account.Browser, email, code string) (account.SignedIn, error)

	PasskeysPossible() bool
	// BeginPasskeySignIn returns a ticket that only its holder may finish with.
	BeginPasskeySignIn(ctx context.Context, b account.Browser, holder string) (ticket string, options []byte, err error)
	FinishPasskeySignIn(ctx context.Context, b account.Browser, holder, ticket string, response []byte) (account.SignedIn, error)
	BeginAddPasskey(ctx context.Context, s lintel.Session, p lintel.Person) (ticket string, options []byte, err error)
	FinishAddPasskey(ctx context.Context, s lintel.Session, p lintel.Person, ticket, name string, response []byte) error
	Passkeys(ctx context.Context, person lintel.ID) ([]lintel.Passkey, error)
	RemovePasskey(ctx context.Context, person, id lintel.ID) error

	// Session is CodeUnauthenticated when the secret is of none in use.
	Session(ctx context.Context, secret string) (lintel.Session, lintel.Person, error)
	Sessions(ctx context.Context, person lintel.ID) ([]lintel.Session, error)
	EndSession(ctx context.Context, person, id lintel.ID) error
	EndOtherSessions(ctx context.Context, s lintel.Session) (int64, error)
	// Fresh reports whether the person signed in just now.
	Fresh(s lintel.Session) bool

	// ChangePassword needs no current password in a fresh session by a recovery code.
	// The session goes on under the secret that is returned.
	ChangePassword(ctx context.Context, b account.Browser, s lintel.Session, current, next string) (renewed string, err error)
	NewRecoveryCodes(ctx context.Context, person lintel.ID) ([]string, error)
	RecoveryCodesLeft(ctx context.Context, person lintel.ID) (int, error)

	// NeedsSetup is true until there is an account.
	NeedsSetup(ctx context.Context) (bool, error)
	SetUp(ctx context.Context, b account.Browser, ticket, email, given, family, password string) (account.SignedIn, error)
}

// Authorization decides requests for consent. oauth.Server implements it.
type Authorization interface {
	Authorize(ctx context.Context, rawQuery string) (oauth.AuthorizationRequest, lintel.Client, *oauth.Refusal)
	Approve(ctx context.Context, r oauth.AuthorizationRequest, person lintel.ID, scopes lintel.Scope) (redirectTo string, err error)
	Deny(r oauth.AuthorizationRequest) (redirectTo string)
	Device(ctx context.Context, typed string) (oauth.DeviceRequest, error)
	ApproveDevice(ctx context.Context, typed string, person lintel.ID, scopes lintel.Scope) error
	DenyDevice(ctx context.Context, typed string) error
}

// Store is what the pages list, end and remember. store.Store implements it.
type Store interface {
	Grants(ctx context.Context, person lintel.ID, now time.Time) ([]store.GrantListed, error)
	EndGrant(ctx context.Context, person, id lintel.ID, now time.Time) error
	Tokens(ctx context.Context, person lintel.ID) ([]store.Token, error)
	EndToken(ctx context.Context, person, id lintel.ID, now time.Time) error
	Devices(ctx context.Context, person lintel.ID) ([]store.Device, error)
	ControllerEvents(ctx context.Context, person lintel.ID, limit int) ([]store.NamedEvent, error)
	AddTicket(ctx context.Context, t lintel.Ticket) error
	// UseTicket gives a ticket's content to one caller; CodeNotFound for any other.
	UseTicket(ctx context.Context, hash, kind, holder string, now time.Time) (content string, err error)
}

// Config configures the pages.
type Config struct {
	Origin string // the public URL without a path: https://doors.example
	Now    func() time.Time
	Log    *slog.Logger
	Source func(*http.Request) netip.Addr // where a request came from
}

// Pages serves the pages. It is safe for concurrent use.
type Pages struct {
	cfg           Config
	accounts      Accounts
	authorization Authorization
	store         Store
	cookies       cookies
	strict        bool // browsers are to use https for this name from now on; localhost is everybody's
	pages         pageSet
	assets        assets
	crossOrigin   *http.CrossOriginProtection
	wrongCodes    *tries
}

// New returns the pages.
func New(cfg Config, accounts Accounts, authorization Authorization, store Store) (*Pages, error) {
	cfg.Origin = strings.TrimSuffix(cfg.Origin, "/")
	origin, err := url.Parse(cfg.Origin)
	if err != nil || origin.Host == "" || origin.Path != "" {
		return nil, &lintel.Error{Code: lintel.CodeInvalid, Message: "the public URL of the pages is not a scheme and a host", Err: err}
	}
	p := &Pages{cfg: cfg, accounts: accounts, authorization: authorization, store: store}
	p.cookies = cookies{secure: origin.Scheme == "https"}
	p.strict = p.cookies.secure && strings.Contains(origin.Hostname(), ".")
	p.wrongCodes = newTries(wrongCodes)
	p.crossOrigin = http.NewCrossOriginProtection()
	// Behind a proxy the Host of a request need not be the one that browsers see.
	if err := p.crossOrigin.AddTrustedOrigin(cfg.Origin); err != nil {
		return nil, err
	}
	if p.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	if p.pages, err = loadPages(p.assets); err != nil {
		return nil, err
	}
	return p, nil
}
