package account

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lintel"
)

// maxEmail is the longest e-mail address in bytes (RFC 5321 §4.5.3.1.3, without
// the brackets of a path).
const maxEmail = 254

// NewPerson returns an account that may be stored, with the hash of its
// password. The e-mail address is trimmed and lower case. Names may be empty, and
// are at most lintel.MaxName bytes otherwise; CheckNewPassword says what a
// password must be. What is wrong is CodeInvalid.
func NewPerson(email, given, family, password string, now time.Time) (p lintel.Person, passwordHash string, err error) {
	email = strings.TrimSpace(email)
	if err := checkEmail(email); err != nil {
		return lintel.Person{}, "", err
	}
	for _, n := range [][2]string{{"first name", given}, {"last name", family}} {
		if n[1] == "" {
			continue // nobody has to give one
		}
		if err := lintel.CheckName(n[0], n[1]); err != nil {
			return lintel.Person{}, "", err
		}
	}
	if err := CheckNewPassword(password, email); err != nil {
		return lintel.Person{}, "", err
	}
	hash, err := HashPassword(password)
	if err != nil {
		return lintel.Person{}, "", err
	}
	return lintel.Person{ID: lintel.NewID(), Email: normalEmail(email), GivenName: given, FamilyName: family, CreatedAt: now}, hash, nil
}

// checkEmail refuses what cannot be an e-mail address. Whether it is one, only a
// message to it could tell.
func checkEmail(email string) error {
	local, domain, ok := strings.Cut(email, "@")
	if !ok || local == "" || domain == "" || strings.ContainsAny(email, " <>") || len(email) > maxEmail ||
		!utf8.ValidString(email) || strings.ContainsFunc(email, unicode.IsControl) {
		return invalid(fmt.Sprintf("%q is not an e-mail address", email))
	}
	return nil
}
