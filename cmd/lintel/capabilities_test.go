package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestHardwareDocument: the last column of docs/hardware.md is what the drivers say.
func TestHardwareDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/hardware.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9]+)` \\|.*\\| ([^|]+) \\|$").FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2]
	}
	for _, kind := range drivers() {
		want := strings.Join(kind.Capabilities().Usable(), ", ")
		if w := kind.Capabilities().Warns; w > 0 {
			want += "; warns " + w.String()
		}
		if got := documented[kind.Name()]; got != want {
			t.Errorf("%s: the document says %q, want %q", kind.Name(), got, want)
		}
	}
}
