package storetest

import (
	"reflect"
	"testing"

	"lintel"
)

// fataler is *testing.T or *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal compares deeply: times with their zone, which the store gives as UTC.
func equal[V any](t fataler, got, want V) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("\ngot  %+v\nwant %+v", got, want)
	}
}

func wantCode(t *testing.T, err error, code lintel.Code) {
	t.Helper()
	if got := lintel.CodeOf(err); got != code {
		t.Fatalf("error %v has code %q instead of %q", err, got, code)
	}
}
