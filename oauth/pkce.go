package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

// isChallenge reports whether a text is a code challenge by S256: 32 bytes in
// base64url without padding (RFC 7636 §4.2).
func isChallenge(s string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(b) == sha256.Size && len(s) == base64.RawURLEncoding.EncodedLen(sha256.Size)
}

// unreserved are the characters of a code verifier (RFC 7636 §4.1).
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// verifies reports whether a code verifier belongs to a challenge by S256 (RFC
// 7636 §4.6). A code without a challenge must come without a verifier: else an
// attacker could take the challenge away from a request (RFC 9700 §4.8.2).
func verifies(challenge, verifier string) bool {
	if challenge == "" || verifier == "" {
		return challenge == verifier
	}
	if len(verifier) < 43 || len(verifier) > 128 || strings.Trim(verifier, unreserved) != "" {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}
