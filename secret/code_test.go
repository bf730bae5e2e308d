package secret_test

import (
	"regexp"
	"strings"
	"testing"

	"lintel/secret"
)

func TestNewCode(t *testing.T) {
	form := regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}(-[BCDFGHJKLMNPQRSTVWXZ]{4}){2}$`)
	letters := map[rune]int{}
	for range 30_000 {
		code := secret.NewCode(12)
		if !form.MatchString(code) || secret.NormalCode(code, 12) != code || secret.NormalCode(code, 8) != "" {
			t.Fatalf("%q is no code of 12 letters", code)
		}
		for _, letter := range strings.ReplaceAll(code, "-", "") {
			letters[letter]++
		}
	}
	if len(letters) != 20 {
		t.Errorf("%d letters came, not 20", len(letters))
	}
	for letter, n := range letters {
		if n < 17_200 || n > 18_800 { // six times the deviation of a fair choice
			t.Errorf("%c came %d times of 360,000", letter, n)
		}
	}
	for letters, want := range map[int]int{4: 4, 5: 6, 8: 9, 12: 14} {
		if got := secret.NewCode(letters); len(got) != want {
			t.Errorf("a code of %d letters is %q", letters, got)
		}
	}
}

func FuzzNormalCode(f *testing.F) {
	for _, typed := range []string{"", "BCDF-GHJK", "bcdf ghjk", "bcd\tfgh-jk", "ACDF-GHJK", "BCDFGHJ\xff", "ſſſſſſſſ"} {
		f.Add(typed)
	}
	form := regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`)
	f.Fuzz(func(t *testing.T, typed string) {
		code := secret.NormalCode(typed, 8)
		if code != "" && !form.MatchString(code) || secret.NormalCode(code, 8) != code || secret.NormalCode(" "+strings.ToLower(code), 8) != code {
			t.Fatalf("%q gave %q", typed, code)
		}
	})
}
