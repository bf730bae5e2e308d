package lintel

import "time"

// SignInMethod is how a person signed in.
type SignInMethod string

// The methods.
const (
	ByPassword SignInMethod = "password"
	ByPasskey  SignInMethod = "passkey"
	ByRecovery SignInMethod = "recovery" // with a recovery code
	BySetup    SignInMethod = "setup"    // by creating the first account
)

// Session is a browser that a person has signed in with.
type Session struct {
	ID         ID
	PersonID   ID
	Method     SignInMethod
	UserAgent  string // as the browser said, cut to 200 bytes
	Address    string // where the sign-in came from
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	ExpiresAt  time.Time // whatever is done until then
}

// Passkey is a person's WebAuthn credential.
type Passkey struct {
	ID           ID
	PersonID     ID
	CredentialID string // base64url, as the authenticator chose it
	Credential   string // JSON of package account
	Name         string
	CreatedAt    time.Time
	LastUsedAt   time.Time // zero until the first sign-in
}

// Ticket is what may be used once, by whom it was given to.
type Ticket struct {
	Hash      string // of the secret that names it
	Kind      string
	Holder    string // who may use it; empty for whoever knows the secret
	Content   string
	ExpiresAt time.Time
}
