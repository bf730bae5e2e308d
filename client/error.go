package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"lintel/api"
)

// ErrNoAnswer is wrapped by every error of a request that was tried and got no
// answer of Lintel: the network failed, the context ended, or what came was
// something else. The request may have been received: a door that was to move may
// move.
var ErrNoAnswer = errors.New("no answer of Lintel")

// Error is an answer of the server that is not 200. The package's comment has a
// table of what each status means.
type Error struct {
	// Status is the HTTP status, 300 to 599.
	Status int
	// Message is the server's sentence for people; empty where the answer was not
	// Lintel's own.
	Message string
	// Reason is the controller's reason in a word, such as "offline" or
	// "sensor_lost"; empty for none.
	Reason string
	// CommandID names the recorded command, a UUID; empty when nothing was
	// recorded and no controller was told.
	CommandID string
	// RetryAfter is how long the server asks to wait, in whole seconds; 0 where it
	// does not say. It says so with 429.
	RetryAfter time.Duration
}

// Error returns a sentence with the status, the message and the reason.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = "an answer that is not Lintel's; is something else at this address?"
	}
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return fmt.Sprintf("the server answered %d: %s", e.Status, text)
}

// TokenRefused reports whether the server refused the token itself: it is
// unknown, expired or revoked, and a new one is needed. Nothing was recorded.
func (e *Error) TokenRefused() bool {
	return e.Status == http.StatusUnauthorized && e.CommandID == ""
}

// failure makes the error for an answer that is not 200.
func (a answer) failure() *Error {
	e := &Error{Status: a.status, Reason: a.header.Get(api.HeaderReason), CommandID: a.header.Get(api.HeaderCommandID)}
	if body, err := a.envelope(); err == nil {
		e.Message = body.Message
	}
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && seconds > 0 && seconds <= 3600 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
