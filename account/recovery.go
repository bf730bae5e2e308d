package account

import (
	"context"
	"crypto/rand"
	"strings"

	"lintel"
	"lintel/secret"
)

const (
	recoveryCodes  = 10
	recoveryLen    = 16 // characters of 5 bits: 80 bits, more than a fast hash can be searched for
	recoveryGroup  = 4
	recoveryLetter = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's Base32: none is mistaken for another
)

// NewRecoveryCodes makes 10 codes, each good for one sign-in, and ends the ones
// from before. They are told once; only their hashes are stored. The caller
// holds that the session is Fresh.
func (s *Service) NewRecoveryCodes(ctx context.Context, person lintel.ID) ([]string, error) {
	var codes, hashes []string
	for range recoveryCodes {
		code := newRecoveryCode()
		codes, hashes = append(codes, code), append(hashes, recoveryHash(code))
	}
	if err := s.store.SetRecoveryCodes(ctx, person, hashes); err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "recovery codes made", "account", person)
	return codes, nil
}

// RecoveryCodesLeft returns how many recovery codes a person has not used yet, 0 to 10.
func (s *Service) RecoveryCodesLeft(ctx context.Context, person lintel.ID) (int, error) {
	return s.store.RecoveryCodes(ctx, person)
}

// newRecoveryCode returns a code such as "k7pm-3xqa-0r5t-9vwz".
func newRecoveryCode() string {
	var random [recoveryLen]byte
	rand.Read(random[:]) // never fails: crypto/rand ends the process instead
	var code strings.Builder
	for i, b := range random {
		if i > 0 && i%recoveryGroup == 0 {
			code.WriteByte('-')
		}
		code.WriteByte(recoveryLetter[b%32])
	}
	return code.String()
}

// recoveryHash is the hash of a code as it was typed in: without regard to
// letter case, dashes and spaces, and with the letters that no code has read as
// the digits they look like.
func recoveryHash(code string) string {
	return secret.Hash(strings.Map(func(r rune) rune {
		switch r {
		case '-', '\u2010', '\u2011', '\u2013', ' ', '\t', '\r', '\n', '\u00a0':
			return -1
		case 'o':
			return '0'
		case 'i', 'l':
			return '1'
		}
		return r
	}, strings.ToLower(code)))
}
