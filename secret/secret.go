// Package secret makes and recognises the random secrets of the service: access
// tokens and controller secrets. Only their hashes are ever stored.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Prefixes tell a person, and a secret scanner, what a found secret is. They
// also keep the kinds apart: each is looked up in its own table only.
const (
	AccessToken       = "lta_" // a person's access token
	RefreshToken      = "ltr_" // what an app gets a new access token with
	AuthorizationCode = "lto_" // what an app gets its first tokens with
	DeviceCode        = "ltd_" // what a device asks for its tokens with
	ControllerSecret  = "ltc_" // a controller's password at the broker
	Session           = "lts_" // in a browser's cookie, after signing in
	Visitor           = "ltv_" // in a browser's cookie, before
	KnownBrowser      = "ltb_" // in a browser's cookie, for longer than a session
	Ticket            = "ltt_" // names what may be used once
)

// New returns a new secret with the prefix and 256 random bits.
func New(prefix string) string {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// NewClient returns the ID and the secret of a new OAuth client. Both are made of
// letters and digits only: clients differ in how they escape anything else (RFC
// 6749 §2.3.1).
func NewClient() (id, secret string) {
	return strings.ToLower(rand.Text()[:16]), "ltk" + rand.Text() + rand.Text()
}

// Hash returns what is stored of a secret: its SHA-256. No salt or key is
// needed for 256 random bits, and looking a hash up compares in constant time.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Is reports whether s has the form of a secret with the prefix.
func Is(prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(32) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	return err == nil && !strings.ContainsAny(rest, "\r\n") // which decoding leaves out
}
