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
	ScopeOpen     Scope = 1 << iota // OPENDOOR: open doors
	ScopeClose                      // CLOSEDOOR: close doors
	ScopeRead                       // READ: list doors, their states and their history
	ScopeSettings                   // SETTINGS: change the person's settings
	ScopeShare                      // SHARE: share doors with others
)

// AllScopes is every scope.
const AllScopes = ScopeOpen | ScopeClose | ScopeRead | ScopeSettings | ScopeShare

var scopeNames = []struct {
	scope Scope
	name  string
}{
	{ScopeOpen, "OPENDOOR"}, {ScopeClose, "CLOSEDOOR"}, {ScopeRead, "READ"},
	{ScopeSettings, "SETTINGS"}, {ScopeShare, "SHARE"},
}

// ParseScope reads names separated by commas or spaces, in either letter case.
// An unknown or missing name is an Error with CodeInvalid.
func ParseScope(s string) (Scope, error) {
	var set Scope
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	for _, field := range fields {
		one, ok := scopeNamed(field)
		if !ok {
			return 0, &Error{Code: CodeInvalid, Message: fmt.Sprintf("unknown scope %q; known: %s", field, knownScopes())}
		}
		set |= one
	}
	if set == 0 {
		return 0, &Error{Code: CodeInvalid, Message: "no scope given; known: " + knownScopes()}
	}
	return set, nil
}

func scopeNamed(name string) (Scope, bool) {
	for _, known := range scopeNames {
		if len(name) == len(known.name) && strings.EqualFold(name, known.name) { // ASCII only
			return known.scope, true
		}
	}
	return 0, false
}

func knownScopes() string { return strings.Join(AllScopes.Names(), ", ") }

// Has reports whether every scope of want is in s.
func (s Scope) Has(want Scope) bool { return s&want == want }

// String returns the names in upper case separated by spaces (RFC 6749 §3.3).
func (s Scope) String() string { return strings.Join(s.Names(), " ") }

// Names returns the names in upper case, in a fixed order.
func (s Scope) Names() []string {
	var names []string
	for _, known := range scopeNames {
		if s.Has(known.scope) {
			names = append(names, known.name)
		}
	}
	return names
}
