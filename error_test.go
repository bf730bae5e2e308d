package lintel_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"lintel"
)

func TestCodeAndMessage(t *testing.T) {
	cause := errors.New("sql: no such table at store.go:12")
	notFound := &lintel.Error{Code: lintel.CodeNotFound, Message: "door not found", Err: cause}
	for name, c := range map[string]struct {
		err     error
		code    lintel.Code
		message string
	}{
		"none":             {nil, "", "an internal error occurred"},
		"another":          {cause, lintel.CodeInternal, "an internal error occurred"},
		"direct":           {notFound, lintel.CodeNotFound, "door not found"},
		"wrapped":          {fmt.Errorf("move: %w", notFound), lintel.CodeNotFound, "door not found"},
		"joined":           {errors.Join(io.EOF, notFound), lintel.CodeNotFound, "door not found"},
		"no code":          {&lintel.Error{Message: "odd"}, lintel.CodeInternal, "odd"},
		"the first of two": {&lintel.Error{Code: lintel.CodeTooMany, Message: "wait", Err: notFound}, lintel.CodeTooMany, "wait"},
	} {
		if code := lintel.CodeOf(c.err); code != c.code {
			t.Errorf("%s: code %q instead of %q", name, code, c.code)
		}
		if message := lintel.MessageOf(c.err); message != c.message {
			t.Errorf("%s: message %q instead of %q", name, message, c.message)
		}
	}
}

// TestTheCauseIsForLogs holds that the cause can be found and is logged, and
// that the message is without it.
func TestTheCauseIsForLogs(t *testing.T) {
	err := &lintel.Error{Code: lintel.CodeInternal, Message: "the service could not use its storage", Err: io.ErrUnexpectedEOF}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause cannot be found")
	}
	if !strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(lintel.MessageOf(err), "EOF") {
		t.Errorf("log %q, message %q", err, lintel.MessageOf(err))
	}
	if got := (&lintel.Error{Message: "alone"}).Error(); got != "alone" {
		t.Errorf("without a cause the log reads %q", got)
	}
}
