package account

import (
	"strings"
	"testing"
	"time"

	"lintel"
)

func TestNewPerson(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p, hash, err := NewPerson(" Ada@House.example\n", "Ada", "", password, now)
	must(t, err)
	equal(t, p, lintel.Person{ID: p.ID, Email: email, GivenName: "Ada", CreatedAt: now})
	equal(t, CheckPassword(hash, password), true)
	for name, in := range map[string][4]string{
		"no address":        {"", "", "", password},
		"no domain":         {"ada@", "", "", password},
		"no local part":     {"@house.example", "", "", password},
		"space inside":      {"ada l@house.example", "", "", password},
		"brackets":          {"<ada@house.example>", "", "", password},
		"control character": {"ada@house\x00.example", "", "", password},
		"not UTF-8":         {"ada@\xff", "", "", password},
		"long":              {strings.Repeat("x", 250) + "@x.example", "", "", password},
		"bad first name":    {email, "A\nda", "", password},
		"long last name":    {email, "", strings.Repeat("x", lintel.MaxName+1), password},
		"short password":    {email, "", "", "eleven char"},
		"common password":   {email, "", "", "qwertyuiop12"},
	} {
		t.Run(name, func(t *testing.T) {
			p, hash, err := NewPerson(in[0], in[1], in[2], in[3], now)
			wantCode(t, err, lintel.CodeInvalid)
			equal(t, p, lintel.Person{})
			equal(t, hash, "")
		})
	}
}

func TestCheckNewPassword(t *testing.T) {
	for _, good := range []string{
		password, next, NewPassword(), "ada@house.example1", "ada ada house", "twelve chars", "aaaaaaaaaaab", "abcdefghijkm",
		"abcdeabcdeabcde", strings.Repeat("x", 1023) + "y", "пароль из слов", "0246813579024",
	} {
		if err := CheckNewPassword(good, email); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "eleven char", strings.Repeat("ü", 11), strings.Repeat("xy ", 400), "correct horse \xff battery",
		email, "ADA@HOUSE.EXAMPLE", " " + email + " ",
		"password1234", "PassWord1234", "QWERTYUIOP12", "correctHorseBatteryStaple", "1q2w3e4r5t6y",
		"aaaaaaaaaaaa", "            ", "üüüüüüüüüüüü", "AaAaAaAaAaAa", "abababababab", "abcabcabcabca", "1234123412341",
		"abcdefghijkl", "LMNOPQRSTUVW", "zyxwvutsrqpo", "123456789012", "1234567890123", "98765432109876", "890123456789",
	} {
		err := CheckNewPassword(bad, email)
		if lintel.CodeOf(err) != lintel.CodeInvalid || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestCommonPasswords: each entry is one that a password can be equal to.
func TestCommonPasswords(t *testing.T) {
	entries := strings.Fields(common)
	if len(entries) < 100 {
		t.Errorf("%d entries", len(entries))
	}
	for _, entry := range entries {
		if len([]rune(entry)) < MinPassword || entry != strings.ToLower(entry) {
			t.Errorf("%q is never compared", entry)
		}
	}
}
