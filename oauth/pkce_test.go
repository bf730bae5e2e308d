package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func s256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func TestChallenges(t *testing.T) {
	for text, want := range map[string]bool{
		challenge:                              true, // RFC 7636 appendix B
		s256(""):                               true,
		"":                                     false,
		verifier[:42]:                          false,
		challenge + "A":                        false,
		challenge[:42]:                         false,
		challenge + "=":                        false,
		challenge[:42] + "N":                   false, // bits left over
		challenge[:42] + "+":                   false,
		challenge[:42] + "/":                   false,
		challenge[:42] + "\n":                  false,
		challenge[:20] + "\n" + challenge[20:]: false,
		challenge[:20] + "\n" + challenge[21:]: false,
		" " + challenge[1:]:                    false,
		strings.Repeat("A", 43):                true,
		strings.Repeat("A", 128):               false,
		strings.ReplaceAll(challenge, "-", "%2D"): false,
	} {
		if isChallenge(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestVerifiers(t *testing.T) {
	long := strings.Repeat("a", 128)
	for _, c := range []struct {
		name, challenge, verifier string
		want                      bool
	}{
		{"RFC 7636 appendix B", challenge, verifier, true},
		{"neither", "", "", true},
		{"the verifier left out", challenge, "", false},
		{"a verifier for a code without a challenge", "", verifier, false},
		{"the challenge itself, as by plain", challenge, challenge, false},
		{"another verifier", challenge, "x" + verifier[1:], false},
		{"another case", challenge, strings.ToLower(verifier), false},
		{"a space after it", challenge, verifier + " ", false},
		{"the longest", s256(long), long, true},
		{"too long", s256(long + "a"), long + "a", false},
		{"the shortest", s256(long[:43]), long[:43], true},
		{"too short", s256(long[:42]), long[:42], false},
		{"a character that is not allowed", s256(long[:50] + "+"), long[:50] + "+", false},
		{"one in the middle", s256(long[:50] + "=" + long[:20]), long[:50] + "=" + long[:20], false},
		{"beyond ASCII", s256(long[:50] + "ü"), long[:50] + "ü", false},
		{"every character that is allowed", s256(unreserved), unreserved, true},
	} {
		if verifies(c.challenge, c.verifier) != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}

// TestProofs makes verifiers as clients do: each fits its own challenge, and no other.
func TestProofs(t *testing.T) {
	verifiers := rapid.StringMatching(`[A-Za-z0-9._~-]{43,128}`)
	rapid.Check(t, func(t *rapid.T) {
		one, other := verifiers.Draw(t, "one"), verifiers.Draw(t, "other")
		switch {
		case !isChallenge(s256(one)):
			t.Fatalf("the challenge of %q is none", one)
		case !verifies(s256(one), one):
			t.Fatalf("%q does not fit its challenge", one)
		case one != other && verifies(s256(one), other):
			t.Fatalf("%q fits the challenge of %q", other, one)
		case verifies(one, one) || verifies(s256(one), "") || verifies("", one):
			t.Fatalf("%q fits without a challenge by S256", one)
		}
	})
}
