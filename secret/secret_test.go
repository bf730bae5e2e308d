package secret_test

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"lintel/secret"
)

func TestNew(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		for _, prefix := range []string{secret.AccessToken, secret.ControllerSecret} {
			s := secret.New(prefix)
			if !secret.Is(prefix, s) {
				t.Fatalf("%q is not recognised", s)
			}
			random, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(s, prefix))
			if err != nil || len(random) != 32 {
				t.Fatalf("%q holds %d bytes, %v", s, len(random), err)
			}
			if seen[s] {
				t.Fatal("a secret came twice")
			}
			seen[s] = true
		}
	}
}

// TestKindsAreApart holds that one kind of secret is never taken for the other.
func TestKindsAreApart(t *testing.T) {
	token := secret.New(secret.AccessToken)
	if secret.Is(secret.ControllerSecret, token) {
		t.Error("an access token passes for a controller's secret")
	}
	short := token[:len(token)-1]
	for _, s := range []string{
		"", secret.AccessToken, token[1:], token + "x", short, " " + token, strings.ToUpper(token),
		short + " ", short + "\n", short + "\r", short + "+", short + "=", short + "\x00", short[:len(short)-1] + "é",
	} {
		if secret.Is(secret.AccessToken, s) {
			t.Errorf("%q is recognised", s)
		}
	}
}

func TestHash(t *testing.T) {
	token := secret.New(secret.AccessToken)
	sum := sha256.Sum256([]byte(token))
	if got := secret.Hash(token); got != base64.RawURLEncoding.EncodeToString(sum[:]) {
		t.Errorf("hash %q", got)
	}
	if strings.Contains(secret.Hash(token), strings.TrimPrefix(token, secret.AccessToken)) {
		t.Error("the hash holds the secret")
	}
	if secret.Hash(token) == secret.Hash(token+" ") {
		t.Error("two secrets have one hash")
	}
	// As it is in databases: another way to hash would lock everybody out.
	if got := secret.Hash("lta_example"); got != "RRVtg_7Zo_oOfIXY6nzwnNYaSA-17PFE415nNi159Vw" {
		t.Errorf("the hash of a known token has become %s", got)
	}
}

func FuzzIs(f *testing.F) {
	f.Add(secret.New(secret.AccessToken))
	f.Add(secret.AccessToken + strings.Repeat(" ", 43))
	form := regexp.MustCompile(`^lta_[A-Za-z0-9_-]{43}$`)
	f.Fuzz(func(t *testing.T, s string) {
		if secret.Is(secret.AccessToken, s) && !form.MatchString(s) {
			t.Fatalf("%q is recognised", s)
		}
	})
}
