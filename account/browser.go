package account

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"lintel/secret"
)

// Browser is where a request comes from.
type Browser struct {
	Address   netip.Addr // of the browser itself, not of a proxy in front
	UserAgent string     // as the browser said, of any length
	Known     string     // of the known-browser cookie; may be empty or junk
}

// address is where the request comes from, for people; empty when unknown.
func (b Browser) address() string {
	if !b.Address.IsValid() {
		return ""
	}
	return b.Address.Unmap().WithZone("").String()
}

// knownHash is the hash of the known-browser secret, empty where there is none.
func (b Browser) knownHash() string {
	if !secret.Is(secret.KnownBrowser, b.Known) {
		return ""
	}
	return secret.Hash(b.Known)
}

// maxUserAgent is how much of a user agent is kept, in bytes.
const maxUserAgent = 200

// userAgent is what the browser says it is, fit to be stored and shown.
func (b Browser) userAgent() string {
	cut := b.UserAgent[:min(len(b.UserAgent), 4*maxUserAgent)]
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, cut)
	for len(text) > maxUserAgent {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text
}
