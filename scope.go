package lintel

import (
	"fmt"
	"strings"
)

// Scope is a set of rights an access token may carry. It is an upper bound:
// what its person may do now is decided separately at each call.
type Scope uint8

// The scopes.
const (
	ScopeOpen  Scope = 1 << iota // OPENDOOR: open doors
	ScopeClose                   // CLOSEDOOR: close doors
	ScopeRead                    // READ: list doors and their states
)

var scopeNames = []struct {
	scope Scope
	name  string
}{{ScopeOpen, "OPENDOOR"}, {ScopeClose, "CLOSEDOOR"}, {ScopeRead, "READ"}}

// ParseScope reads names separated by commas or spaces, in either letter case.
// An unknown or missing name is an Error with CodeInvalid.
func ParseScope(s string) (Scope, error) {
	var set Scope
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	for _, field := range fields {
		one, ok := scopeNamed(field)
		if !ok {
			return 0, &Error{Code: CodeInvalid, Message: fmt.Sprintf("unknown scope %q; known: OPENDOOR, CLOSEDOOR, READ", field)}
		}
		set |= one
	}
	if set == 0 {
		return 0, &Error{Code: CodeInvalid, Message: "no scope given; known: OPENDOOR, CLOSEDOOR, READ"}
	}
	return set, nil
}

func scopeNamed(name string) (Scope, bool) {
	for _, known := range scopeNames {
		if strings.EqualFold(name, known.name) {
			return known.scope, true
		}
	}
	return 0, false
}

// Has reports whether every scope of want is in s.
func (s Scope) Has(want Scope) bool { return s&want == want }

// String returns the names in upper case separated by spaces (RFC 6749 §3.3).
func (s Scope) String() string {
	var names []string
	for _, known := range scopeNames {
		if s.Has(known.scope) {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, " ")
}
