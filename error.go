package lintel

import "errors"

// Code says what kind of failure an Error is, for programs. Each dialect of the
// HTTP API maps a Code to one status in one place.
type Code string

// The codes. An error without one is CodeInternal.
const (
	CodeInvalid         Code = "invalid"         // the request itself is wrong; repeating it cannot help
	CodeUnauthenticated Code = "unauthenticated" // no, unknown, expired or revoked token
	CodeForbidden       Code = "forbidden"       // a valid token without the needed scope or right
	CodeNotFound        Code = "not_found"       // does not exist, or is not the caller's
	CodeConflict        Code = "conflict"        // already exists
	CodeTooMany         Code = "too_many"        // slow down and try again
	CodeInternal        Code = "internal"        // a fault of the service
)

// Error is the one error type that crosses package borders. Message is a
// sentence a person can act on and holds nothing internal; Err, which may be
// nil, is the cause and is for logs only.
type Error struct {
	Code    Code
	Message string
	Err     error
}

// Error returns the message, followed by the cause for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first *Error in err's chain, CodeInternal for
// any other error and for one without a code, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		return e.Code
	}
	return CodeInternal
}

// MessageOf returns the sentence for people of the first *Error in err's
// chain, and a fixed one for any other error, so that nothing internal leaks.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return "an internal error occurred"
}
