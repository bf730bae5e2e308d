package account_test

import (
	"regexp"
	"strings"
	"testing"

	"lintel"
	"lintel/account"
)

const good = "correct horse battery"

func hashOf(t testing.TB, password string) string {
	t.Helper()
	hash, err := account.HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestHashAndCheck(t *testing.T) {
	for _, password := range []string{
		good, strings.Repeat("x", account.MinPassword), strings.Repeat("ü", account.MinPassword), strings.Repeat("x", 1024),
		"twelve chars", "            ", "pass$word$with$dollars", "nul\x00inside it", account.NewPassword(),
	} {
		hash := hashOf(t, password)
		if !account.CheckPassword(hash, password) {
			t.Errorf("%q does not pass its own check", password)
		}
		for _, wrong := range []string{"", password + " ", password + "\x00", password[1:], "\x00" + password} {
			if account.CheckPassword(hash, wrong) {
				t.Errorf("%q passes for %q", wrong, password)
			}
		}
	}
}

// TestHashForm holds the cost, which the OWASP Password Storage Cheat Sheet
// names, and that no two hashes are alike.
func TestHashForm(t *testing.T) {
	form := regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`)
	first, second := hashOf(t, good), hashOf(t, good)
	if !form.MatchString(first) {
		t.Errorf("hash %q", first)
	}
	if first == second {
		t.Error("two hashes of one password are the same: no salt")
	}
}

func TestHashRefuses(t *testing.T) {
	for name, password := range map[string]string{
		"empty": "", "short": "eleven char", "short in characters": strings.Repeat("ü", account.MinPassword-1),
		"long": strings.Repeat("x", 1025), "not UTF-8": "correct horse \xff battery",
	} {
		hash, err := account.HashPassword(password)
		if hash != "" || lintel.CodeOf(err) != lintel.CodeInvalid {
			t.Errorf("%s: hash %q, error %v", name, hash, err)
		}
		if password != "" && strings.Contains(lintel.MessageOf(err), password) {
			t.Errorf("%s: the message shows the password", name)
		}
	}
}

// TestCheckTakesTheCostFromTheHash checks a hash of another cost, made by the
// reference implementation: echo -n "correct horse battery" | argon2 saltsaltsaltsalt -id -t 3 -m 12 -p 4 -l 32 -e
func TestCheckTakesTheCostFromTheHash(t *testing.T) {
	const other = "$argon2id$v=19$m=4096,t=3,p=4$c2FsdHNhbHRzYWx0c2FsdA$liIaNPOs5GkUE5iCB5bJh31Uih7ONzxRVWUi6W4OfpQ"
	if !account.CheckPassword(other, good) {
		t.Error("an older or newer cost is refused")
	}
	if account.CheckPassword(other, good+"!") {
		t.Error("a wrong password passes")
	}
}

// TestMalformedHashes has what a damaged database, or somebody who can write to
// it, could hold: refused at once, without a panic and without much memory.
func TestMalformedHashes(t *testing.T) {
	hash := hashOf(t, good)
	parts := strings.Split(hash, "$")
	with := func(i int, s string) string {
		changed := append([]string(nil), parts...)
		changed[i] = s
		return strings.Join(changed, "$")
	}
	for _, bad := range []string{
		"", "$", "$$$$$", good, hash[1:], hash + "$", hash + "$x", "x" + hash, " " + hash, strings.ReplaceAll(hash, "$", " "),
		with(1, "argon2i"), with(1, "argon2d"), with(1, "2y"), with(1, ""), with(2, ""), with(2, "v=16"), with(2, "v=19 "),
		with(3, ""), with(3, "m=19456,t=2"), with(3, "t=2,m=19456,p=1"), with(3, "m=x,t=2,p=1"),
		with(3, "m=19456,t=0,p=1"), with(3, "m=19456,t=2,p=0"), with(3, "m=-1,t=2,p=1"), with(3, "m=19456,t=-1,p=1"),
		with(3, "m=4294967295,t=2,p=1"), with(3, "m=4294967296,t=2,p=1"), with(3, "m=19456,t=4294967296,p=1"),
		with(3, "m=19456,t=4294967295,p=1"), with(3, "m=19456,t=2,p=256"), with(3, "m=99999999999999999999,t=2,p=1"),
		with(4, "!"), with(4, "a"), with(4, ""), with(5, ""), with(5, "!"), with(5, "a"), with(5, "aa"), with(5, parts[5]+"="),
		with(5, parts[5][:42]), with(5, parts[4]),
	} {
		if account.CheckPassword(bad, good) {
			t.Errorf("%q lets the password in", bad)
		}
	}
}

func FuzzCheckPassword(f *testing.F) {
	hash := hashOf(f, good)
	f.Add(hash, good)
	f.Add(strings.Replace(hash, "t=2", "t=4294967296", 1), good)
	f.Add(strings.Replace(hash, "m=19456", "m=-1", 1), good)
	f.Add("$argon2id$v=19$m=8,t=1,p=1$$", "")
	f.Fuzz(func(t *testing.T, stored, password string) {
		if account.CheckPassword(stored, password) && password != good {
			t.Fatalf("%q passes for %q", password, stored)
		}
	})
}

func TestNewPassword(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		p := account.NewPassword()
		if len(p) != 20 || seen[p] {
			t.Fatalf("password %q", p)
		}
		seen[p] = true
	}
}
