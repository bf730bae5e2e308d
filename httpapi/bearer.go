package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"lintel"
	"lintel/secret"
)

// Challenges of RFC 6750 §3. Without any token there is no error code (§3.1).
const (
	challengeRealm = `Bearer realm="lintel"`
	invalidToken   = challengeRealm + `, error="invalid_token", error_description="the access token is unknown, expired or revoked"`
)

func insufficientScope(need lintel.Scope) string {
	return fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, challengeRealm, need)
}

// bearer returns the hash of the token in the Authorization header (RFC 6750
// §2.1), or the challenge to answer with. Tokens in the query or the body
// (§2.2, §2.3) are not looked at: they end up in logs.
func bearer(r *http.Request) (tokenHash, challenge string) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", challengeRealm
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", challengeRealm
	}
	token = strings.Trim(token, " ")
	if len(values) > 1 || !secret.Is(secret.AccessToken, token) {
		return "", invalidToken
	}
	return secret.Hash(token), ""
}
