// Package account is about people: how they sign in, stay signed in, and prove
// that they are who they say. It decides who it is; package access decides what
// they may do.
package account

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
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
	if err := checkLength(password); err != nil {
		return "", err
	}
	salt := make([]byte, saltLen)
	rand.Read(salt) // never fails: crypto/rand ends the process instead
	return phc(salt, argon2.IDKey(normal(password), salt, passes, memoryKiB, lanes, keyLen)), nil
}

// normal is a password as it is hashed: keyboards differ in how they compose
// letters (NIST SP 800-63B §5.1.1.2 asks for NFKC or NFKD).
func normal(password string) []byte { return norm.NFKC.Bytes([]byte(password)) }

func checkLength(password string) error {
	if utf8.RuneCountInString(password) < MinPassword || len(password) > maxPassword || !utf8.ValidString(password) {
		return invalid(fmt.Sprintf("a password has at least %d characters and at most %d bytes", MinPassword, maxPassword))
	}
	return nil
}

// phc writes a hash of the current cost in the PHC string form.
func phc(salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// nobodysHash returns a hash of the current cost that no password has: its key is
// random. To check against it costs as much as against any other.
func nobodysHash() string {
	salt, key := make([]byte, saltLen), make([]byte, keyLen)
	rand.Read(salt)
	rand.Read(key)
	return phc(salt, key)
}

// The most that a stored hash may cost, so that a damaged one is refused
// instead of taking the machine's memory.
const (
	maxMemoryKiB = 256 << 10
	maxPasses    = 16
)

// CheckPassword reports whether a password is the one of a hash. It takes the
// cost from the hash, so that raising it leaves old hashes valid.
func CheckPassword(hash, password string) bool {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || len(password) > maxPassword {
		return false
	}
	if parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false
	}
	var memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil {
		return false
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	key, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(key) < keyLen || time < 1 || time > maxPasses || threads < 1 || memory > maxMemoryKiB {
		return false
	}
	got := argon2.IDKey(normal(password), salt, time, memory, threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1
}

// NewPassword returns a random password of 20 characters, 100 bits.
func NewPassword() string { return rand.Text()[:20] }
