package lintel

import (
	"crypto/rand"
	"encoding/hex"
)

// ID identifies a person, controller, door, command or token: a random UUID
// (RFC 9562 §5.4) in its canonical form, 36 characters, lower case, with dashes.
type ID string

// NewID returns a new random ID with 122 bits from the system's secure source.
func NewID() ID {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return canonical(b)
}

// ParseID reads a UUID with or without dashes, in either letter case, and
// returns its canonical form. Anything else is an Error with CodeInvalid.
func ParseID(s string) (ID, error) {
	var digits [32]byte
	switch {
	case len(s) == 32:
		copy(digits[:], s)
	case len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-':
		n := copy(digits[:], s[:8])
		n += copy(digits[n:], s[9:13])
		n += copy(digits[n:], s[14:18])
		n += copy(digits[n:], s[19:23])
		copy(digits[n:], s[24:])
	default:
		return "", errNotUUID
	}
	var b [16]byte
	if _, err := hex.Decode(b[:], digits[:]); err != nil {
		return "", errNotUUID
	}
	return canonical(b), nil
}

var errNotUUID = &Error{Code: CodeInvalid, Message: "not a UUID"}

func canonical(b [16]byte) ID {
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:], b[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return ID(out[:])
}
