// Package account is about people: how their passwords are kept.
package account

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"lintel"
)

// MinPassword is the shortest password in characters. There are no rules of composition.
const MinPassword = 12

// maxPassword bounds what a stranger can make us hash, in bytes.
const maxPassword = 1024

// argon2id's cost: 19 MiB, 2 passes, 1 lane, the first choice of the OWASP
// Password Storage Cheat Sheet for this much memory.
const (
	memoryKiB = 19 << 10
	passes    = 2
	lanes     = 1
	saltLen   = 16
	keyLen    = 32
)

// HashPassword returns the argon2id hash of a password in the PHC string form.
// A password that is too short, too long or not UTF-8 is CodeInvalid.
func HashPassword(password string) (string, error) {
	if utf8.RuneCountInString(password) < MinPassword || len(password) > maxPassword || !utf8.ValidString(password) {
		return "", &lintel.Error{Code: lintel.CodeInvalid,
			Message: fmt.Sprintf("a password has at least %d characters and at most %d bytes", MinPassword, maxPassword)}
	}
	salt := make([]byte, saltLen)
	rand.Read(salt) // never fails: crypto/rand ends the process instead
	key := argon2.IDKey([]byte(password), salt, passes, memoryKiB, lanes, keyLen)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// CheckPassword reports whether a password is the one of a hash. It takes the
// cost from the hash, so that raising it leaves old hashes valid.
func CheckPassword(hash, password string) bool {
	var version, memory, time int
	var threads uint8
	var salt64, key64 string
	n, err := fmt.Sscanf(splitPHC(hash), "argon2id v=%d m=%d,t=%d,p=%d %s %s", &version, &memory, &time, &threads, &salt64, &key64)
	if err != nil || n != 6 || version != argon2.Version || len(password) > maxPassword {
		return false
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(salt64)
	key, err2 := base64.RawStdEncoding.DecodeString(key64)
	if err1 != nil || err2 != nil || len(key) == 0 || time < 1 || threads < 1 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, uint32(time), uint32(memory), threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1
}

// splitPHC separates the parts of a PHC string by spaces, for scanning.
func splitPHC(hash string) string {
	out := []byte(hash)
	for i, b := range out {
		if b == '$' {
			out[i] = ' '
		}
	}
	if len(out) > 0 && out[0] == ' ' {
		out = out[1:]
	}
	return string(out)
}

// NewPassword returns a random password of 20 characters, 100 bits.
func NewPassword() string { return rand.Text()[:20] }
