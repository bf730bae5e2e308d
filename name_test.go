package lintel_test

import (
	"strings"
	"testing"

	"lintel"
)

func TestNamesCanBeShownAnywhere(t *testing.T) {
	for _, good := range []string{"Garage", "Tür links", "車庫", strings.Repeat("x", lintel.MaxName)} {
		if err := lintel.CheckName("name", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a\x00b", "a\nb", "\x1b[31mred", "\xff", strings.Repeat("x", lintel.MaxName+1)} {
		if err := lintel.CheckName("name", bad); lintel.CodeOf(err) != lintel.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
