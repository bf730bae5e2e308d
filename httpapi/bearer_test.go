package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"lintel/secret"
)

func header(values ...string) *http.Request {
	return &http.Request{Header: http.Header{"Authorization": values}}
}

func TestBearer(t *testing.T) {
	token := secret.New(secret.AccessToken)
	hash := secret.Hash(token)
	for _, c := range []struct {
		name      string
		values    []string
		challenge string // empty: accepted
	}{
		{"usual", []string{"Bearer " + token}, ""},
		{"lower case", []string{"bearer " + token}, ""},
		{"upper case", []string{"BEARER " + token}, ""},
		{"more spaces", []string{"Bearer   " + token + " "}, ""},
		{"none", nil, challengeRealm},
		{"empty", []string{""}, challengeRealm},
		{"token alone", []string{token}, challengeRealm},
		{"basic", []string{"Basic dXNlcjpwYXNz"}, challengeRealm},
		{"another scheme", []string{"DPoP " + token}, challengeRealm},
		{"no space", []string{"Bearer" + token}, challengeRealm},
		{"a tab", []string{"Bearer\t" + token}, challengeRealm},
		{"a space first", []string{" Bearer " + token}, challengeRealm},
		{"scheme alone", []string{"Bearer"}, invalidToken},
		{"scheme and space", []string{"Bearer "}, invalidToken},
		{"two tokens", []string{"Bearer " + token + " " + token}, invalidToken},
		{"a list", []string{"Bearer " + token + ", Basic x"}, invalidToken},
		{"quoted", []string{`Bearer "` + token + `"`}, invalidToken},
		{"another kind", []string{"Bearer " + secret.New(secret.ControllerSecret)}, invalidToken},
		{"cut short", []string{"Bearer " + token[:len(token)-1]}, invalidToken},
		{"too long", []string{"Bearer " + strings.Repeat(token, 100)}, invalidToken},
		{"the header twice", []string{"Bearer " + token, "Bearer " + token}, invalidToken},
		{"another first", []string{"Basic x", "Bearer " + token}, challengeRealm},
		{"another second", []string{"Bearer " + token, "Basic x"}, invalidToken},
	} {
		got, challenge := bearer(header(c.values...))
		if challenge != c.challenge || (got == hash) != (c.challenge == "") || got != "" && got != hash {
			t.Errorf("%s: hash %q, challenge %q", c.name, got, challenge)
		}
	}
}

func FuzzBearer(f *testing.F) {
	token := secret.New(secret.AccessToken)
	for _, s := range []string{"", "Bearer " + token, "bEARER  " + token, "Basic x", token, "Bearer", "Bearer \x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		hash, challenge := bearer(header(value))
		if (hash == "") == (challenge == "") {
			t.Fatalf("%q: hash %q, challenge %q", value, hash, challenge)
		}
		if hash == "" && !strings.HasPrefix(challenge, "Bearer realm=") {
			t.Fatalf("%q: challenge %q", value, challenge)
		}
		token := slices.IndexFunc(strings.Split(value, " "), func(s string) bool {
			return secret.Is(secret.AccessToken, s) && secret.Hash(s) == hash
		})
		if hash != "" && token < 1 {
			t.Fatalf("%q gave the hash of another token", value)
		}
	})
}
