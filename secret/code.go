package secret

import (
	"crypto/rand"
	"strings"
)

// codeLetters are the letters of codes that people type (RFC 8628 §6.1): no vowels,
// so that no words come out, and nothing that looks like a digit.
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// codeGroup is how many letters stand between two dashes.
const codeGroup = 4

// NewCode returns a random code of so many letters as a person reads it, in groups of
// four. Each letter is 4.3 random bits: such a code needs a short life and a limit on
// guessing.
func NewCode(letters int) string {
	var code strings.Builder
	var b [1]byte
	for code.Len() < letters {
		rand.Read(b[:]) // never fails: crypto/rand ends the process instead
		if b[0] < 240 { // the highest multiple of 20, so that all letters are as likely
			code.WriteByte(codeLetters[int(b[0])%len(codeLetters)])
		}
	}
	return grouped(code.String())
}

func grouped(code string) string {
	var groups []string
	for ; len(code) > codeGroup; code = code[codeGroup:] {
		groups = append(groups, code[:codeGroup])
	}
	return strings.Join(append(groups, code), "-")
}

// NormalCode returns a code of so many letters as a person typed it, in the form that
// NewCode gives, or "" when it cannot be one. Case, dashes and spaces do not matter.
func NormalCode(typed string, letters int) string {
	code := strings.Map(func(r rune) rune {
		if strings.ContainsRune("- \t", r) {
			return -1
		}
		return r
	}, strings.ToUpper(typed))
	if len(code) != letters || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return grouped(code)
}
