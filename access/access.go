// Package access decides who may do what now. Decisions are pure: they take
// what was read, and the time, and give a reason.
package access

import (
	"time"

	"lintel"
)

// Subject is the bearer of a token, as stored.
type Subject struct {
	TokenID   lintel.ID
	PersonID  lintel.ID
	Scopes    lintel.Scope
	ExpiresAt time.Time
	Revoked   bool // the token is, or its grant
	Disabled  bool // the account is
	GrantID   lintel.ID
	ClientID  string // empty with GrantID: an administrator made the token
}

// Target is a door with what matters of its controller.
type Target struct {
	DoorID       lintel.ID
	DoorNumber   int
	ControllerID lintel.ID
	HardwareName string
	OwnerID      lintel.ID
	Revoked      bool // the controller is
}

// Token decides whether a token is good at all at now. The error has
// CodeUnauthenticated and does not say which of the reasons it was.
func Token(s *Subject, now time.Time) error {
	if s == nil || s.Revoked || s.Disabled || !now.Before(s.ExpiresAt) {
		return &lintel.Error{Code: lintel.CodeUnauthenticated, Message: "the access token is missing, unknown, expired or revoked"}
	}
	return nil
}

// ScopeFor returns the scope that an action needs.
func ScopeFor(a lintel.Action) lintel.Scope {
	switch a {
	case lintel.ActionOpen:
		return lintel.ScopeOpen
	case lintel.ActionClose:
		return lintel.ScopeClose
	}
	return lintel.ScopeOpen | lintel.ScopeClose // to stop a door is to undo either
}

// Move decides whether the subject may do the action at the target at now. A
// target that does not exist (nil) and one that is not the subject's give the
// same CodeNotFound; CodeForbidden is about the token alone and is given first.
func Move(s *Subject, t *Target, a lintel.Action, now time.Time) error {
	if err := Token(s, now); err != nil {
		return err
	}
	if need := ScopeFor(a); !s.Scopes.Has(need) {
		return &lintel.Error{Code: lintel.CodeForbidden, Message: "the access token lacks the scope " + need.String()}
	}
	if t == nil || t.Revoked || t.OwnerID != s.PersonID {
		return &lintel.Error{Code: lintel.CodeNotFound, Message: "door not found"}
	}
	return nil
}

// List decides whether the subject may list its doors.
func List(s *Subject, now time.Time) error {
	if err := Token(s, now); err != nil {
		return err
	}
	if !s.Scopes.Has(lintel.ScopeRead) {
		return &lintel.Error{Code: lintel.CodeForbidden, Message: "the access token lacks the scope " + lintel.ScopeRead.String()}
	}
	return nil
}
