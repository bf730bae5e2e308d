package account

import (
	"errors"
	"fmt"
	"time"

	"lintel"
)

func invalid(message string) error { return &lintel.Error{Code: lintel.CodeInvalid, Message: message} }

func unauthenticated(message string) error {
	return &lintel.Error{Code: lintel.CodeUnauthenticated, Message: message}
}

func forbidden(message string) error {
	return &lintel.Error{Code: lintel.CodeForbidden, Message: message}
}

func internal(what string, err error) error {
	return &lintel.Error{Code: lintel.CodeInternal, Message: "the service could not do this now; try again", Err: fmt.Errorf("%s: %w", what, err)}
}

// isNotFound reports whether an error of the store says that there is no such thing.
func isNotFound(err error) bool { return lintel.CodeOf(err) == lintel.CodeNotFound }

// wait is the cause of a CodeTooMany error: when to try again.
type wait struct{ after time.Duration }

func (w *wait) Error() string { return "over the limit for " + w.after.String() }

// tooMany is the refusal of an attempt that may be repeated after a while.
func tooMany(after time.Duration) error {
	return &lintel.Error{Code: lintel.CodeTooMany, Message: "too many attempts; try again in " + spoken(after), Err: &wait{after}}
}

// spoken is a duration for a person: whole minutes, rounded up, from two on.
func spoken(d time.Duration) string {
	seconds := int((d + time.Second - 1) / time.Second)
	if seconds == 1 {
		return "1 second"
	}
	if seconds < 120 {
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+59)/60)
}

// RetryAfter returns how long to wait after a CodeTooMany error of this
// package, more than 0, for the header of RFC 9110 §10.2.3. It is 0 for nil and
// for any other error.
func RetryAfter(err error) time.Duration {
	if w, ok := errors.AsType[*wait](err); ok {
		return w.after
	}
	return 0
}
