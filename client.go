package lintel

import "time"

// ClientKind says whether a client can keep a secret (RFC 6749 §2.1).
type ClientKind string

// The kinds of clients.
const (
	Confidential ClientKind = "confidential" // a server: it has a secret
	Public       ClientKind = "public"       // an app or a program: it has none
)

// Client is an app that people may authorise (RFC 6749 §2).
type Client struct {
	ID           string // client_id: letters and digits only, so that nothing has to be escaped
	Name         string // as the consent page shows it
	Kind         ClientKind
	Legacy       bool     // may omit PKCE, and may send everything in the query of a GET; confidential only
	WithRead     bool     // READ is added to what it asks for: it lists doors, and knows no scope for that; legacy only
	Scopes       Scope    // the most that it may ask for
	RedirectURIs []string // exact, sorted
	SecretHashes []string // of the secrets in use, the newest first; two during a rotation
	CreatedAt    time.Time
	DisabledAt   time.Time // zero while in use
}

// CommandLineClient is the client ID of the lintel command itself. Every
// service knows it.
const CommandLineClient = "lintelcli"

// Grant is one consent of one person to one client: the family of every code
// and token that came of it. Revoking it ends them all.
type Grant struct {
	ID         ID
	PersonID   ID
	ClientID   string
	Scopes     Scope
	CreatedAt  time.Time
	ExpiresAt  time.Time // whatever is refreshed until then
	LastUsedAt time.Time
	RevokedAt  time.Time // zero while in use
}

// Live reports whether tokens may come of the grant at now.
func (g Grant) Live(now time.Time) bool { return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) }

// AuthorizationCode is a code as stored (RFC 6749 §4.1.2).
type AuthorizationCode struct {
	Hash          string
	RedirectURI   string // as the authorization request had it; empty where it named none
	CodeChallenge string // RFC 7636 §4.2, by S256; empty where it had none
	ExpiresAt     time.Time
	UsedAt        time.Time // zero until it is redeemed
}

// RefreshToken is a refresh token as stored (RFC 6749 §6).
type RefreshToken struct {
	Hash      string
	ExpiresAt time.Time
	SpentAt   time.Time // zero while it may be used
}

// DeviceState is how far a device's request has come (RFC 8628 §3.5).
type DeviceState string

// The states of a device's request.
const (
	DevicePending  DeviceState = "pending"
	DeviceApproved DeviceState = "approved"
	DeviceDenied   DeviceState = "denied"
	DeviceUsed     DeviceState = "used" // tokens were given for it
)

// DeviceCode is a device's request as stored (RFC 8628 §3.2).
type DeviceCode struct {
	Hash         string
	UserCodeHash string
	ClientID     string
	Scopes       Scope
	Address      string // where it came from, for the person who is asked
	CreatedAt    time.Time
	ExpiresAt    time.Time
	Pause        time.Duration // between two polls
	State        DeviceState
	GrantID      ID // empty until approved
}

// Issue is the pair of tokens that a redemption adds to a grant.
type Issue struct {
	At               time.Time
	AccessID         ID
	AccessHash       string
	AccessScopes     Scope // within the grant's
	AccessExpiresAt  time.Time
	RefreshHash      string
	RefreshExpiresAt time.Time
}

// Redemption is what became of an attempt to redeem a code or a refresh token.
type Redemption string

// The redemptions.
const (
	Redeemed Redemption = "redeemed" // the tokens are stored
	Replayed Redemption = "replayed" // it was used before; the grant is revoked now
	Refused  Redemption = "refused"  // it, or its grant, is over
)
