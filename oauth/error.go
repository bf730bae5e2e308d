package oauth

import (
	"net/http"
	"time"
)

// ErrorCode is an error code of the protocol (RFC 6749 §4.1.2.1 and §5.2, RFC
// 8628 §3.5).
type ErrorCode string

// The error codes.
const (
	InvalidRequest          ErrorCode = "invalid_request"
	InvalidClient           ErrorCode = "invalid_client"
	InvalidGrant            ErrorCode = "invalid_grant"
	InvalidScope            ErrorCode = "invalid_scope"
	UnsupportedGrantType    ErrorCode = "unsupported_grant_type"
	UnsupportedResponseType ErrorCode = "unsupported_response_type"
	AccessDenied            ErrorCode = "access_denied"
	ServerError             ErrorCode = "server_error"
	AuthorizationPending    ErrorCode = "authorization_pending"
	SlowDown                ErrorCode = "slow_down"
	ExpiredToken            ErrorCode = "expired_token"
)

// Error is a refusal in the words of the protocol.
type Error struct {
	Code        ErrorCode
	Description string        // a sentence for the client's developer; ASCII without quotes (RFC 6749 §5.2)
	Status      int           // HTTP status; 0 for the code's own
	After       time.Duration // with 429: when to try again
}

// Error returns the code and the description.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Description }

func (e *Error) status() int {
	switch {
	case e.Status != 0:
		return e.Status
	case e.Code == InvalidClient:
		return http.StatusUnauthorized
	case e.Code == ServerError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func fail(code ErrorCode, description string) *Error {
	return &Error{Code: code, Description: description}
}

// errInternal hides a fault of the service; the caller has logged it.
var errInternal = fail(ServerError, "the service could not do this now")
