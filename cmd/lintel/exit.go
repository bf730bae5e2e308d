package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"lintel/client"
)

// The exit codes of the commands that talk to a server: login, logout, doors,
// open and close. Every other command ends with 0 or 1.
//
//	0  done
//	1  anything else: the network, the server, a file
//	2  the command line is wrong
//	3  not signed in, or the server refused the token
//	4  no such door, an ambiguous name, or not allowed; nothing moved
//	5  the door's controller could not be reached, or did not answer in time
//	6  the door's controller refused
//	7  the controller took the request, but the door was not seen there in time (--wait)
const (
	exitOther       = 1
	exitUsage       = 2
	exitSignIn      = 3
	exitNoDoor      = 4
	exitUnreachable = 5
	exitRefused     = 6
	exitNotSeen     = 7
)

// exitHelp is the table for --help.
const exitHelp = `Exit codes:
  0  done
  1  anything else: the network, the server, a file
  2  the command line is wrong
  3  not signed in, or the server refused the token
  4  no such door, an ambiguous name, or not allowed; nothing moved
  5  the door's controller could not be reached, or did not answer in time
  6  the door's controller refused
  7  the controller took the request, but the door was not seen there in time (--wait)`

// exitError is an error with the exit code that it ends the program with.
type exitError struct {
	code int
	err  error
}

// Error returns the sentence alone: the code is for programs.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// exitf makes an error with an exit code.
func exitf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// exitCode returns what the program ends with after an error.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitOther
}

// usageErrors makes what cobra finds wrong with a command line end with exitUsage.
func usageErrors(cmd *cobra.Command, args cobra.PositionalArgs) {
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exitError{exitUsage, err} })
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		if err := args(cmd, given); err != nil {
			return &exitError{exitUsage, err}
		}
		return nil
	}
}

// scopeWords says what each scope allows.
var scopeWords = map[string]string{scopeOpen: "opening doors", scopeClose: "closing doors", scopeRead: "seeing doors"}

// serverError turns an error of package client into a sentence and an exit code.
// The scope is the one that the request needed.
func serverError(origin, scope string, err error) error {
	e, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
		return err
	case e.TokenRefused():
		return exitf(exitSignIn, "%s refused the token: it was revoked, or has expired; sign in again with: lintel login --server %s", origin, origin)
	case e.CommandID == "" && e.Status == http.StatusForbidden && e.Message != "":
		return exitf(exitNoDoor, "this sign-in does not allow %s (scope %s); sign in again and leave it ticked: lintel login --server %s", scopeWords[scope], scope, origin)
	case e.CommandID == "" && e.Status == http.StatusNotFound && e.Message != "":
		return exitf(exitNoDoor, "the door does not exist, or is not yours")
	case e.CommandID != "" && e.Status == http.StatusNotFound:
		return exitf(exitUnreachable, "%s: %s", silence(e.Reason), printable(e.Error()))
	case e.CommandID != "" && e.Status < http.StatusInternalServerError, e.CommandID != "" && e.Status == http.StatusNotImplemented:
		return exitf(exitRefused, "%s", printable(e.Error()))
	}
	return errors.New(printable(e.Error()))
}

// silence says in what way a controller was out of reach. The reasons are those of
// the service, and of a controller that cannot judge whether a request is too old.
func silence(reason string) string {
	switch reason {
	case "deadline":
		return "the door's controller did not answer in time"
	case "late", "no_time":
		return "the door's controller could not act in time"
	}
	return "the door's controller cannot be reached"
}
