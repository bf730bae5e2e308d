package account

import (
	_ "embed"
	"slices"
	"strings"
)

// common are passwords of 12 characters and more that are tried first, in lower
// case, separated by white space.
//
//go:embed commonpasswords.txt
var common string

// maxPeriod is how long a part may be whose repetition is no password.
const maxPeriod = 4

// CheckNewPassword refuses a password that nobody should choose: shorter than
// MinPassword characters, longer than 1024 bytes, not UTF-8, the e-mail address
// itself, one of a list of common ones, up to four characters again and again, or
// neighbours in a row as in "abcdefghijkl" and "1234567890123". Nothing else is
// asked of it (NIST SP 800-63B-4 §3.1.1.2). A refusal is CodeInvalid and does not
// show the password.
func CheckNewPassword(password, email string) error {
	if err := checkLength(password); err != nil {
		return err
	}
	lower := strings.ToLower(password)
	switch {
	case strings.TrimSpace(lower) == normalEmail(email):
		return invalid("the password must not be the e-mail address")
	case slices.Contains(strings.Fields(common), lower):
		return invalid("this password is one of the first that others try; choose another")
	case repeats([]rune(lower)), inARow([]rune(lower)):
		return invalid("a few characters again and again, or in a row, are guessed at once; choose another password")
	}
	return nil
}

// repeats reports whether text is a short part again and again.
func repeats(text []rune) bool {
	for period := 1; period <= maxPeriod; period++ {
		if slices.Equal(text[period:], text[:len(text)-period]) {
			return true
		}
	}
	return false
}

// inARow reports whether each character is the neighbour of the one before, up
// or down. 0 follows 9.
func inARow(text []rune) bool {
	up, down := true, true
	for i := 1; i < len(text); i++ {
		up = up && follows(text[i-1], text[i])
		down = down && follows(text[i], text[i-1])
	}
	return up || down
}

func follows(a, b rune) bool { return b == a+1 || a == '9' && b == '0' }
