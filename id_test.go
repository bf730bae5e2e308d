package lintel_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lintel"
)

var canonicalForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func TestNewID(t *testing.T) {
	random := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[lintel.ID]bool{}
	for range 10_000 {
		id := lintel.NewID()
		if !random.MatchString(string(id)) {
			t.Fatalf("%s is not a random UUID", id)
		}
		if seen[id] {
			t.Fatalf("%s came twice", id)
		}
		seen[id] = true
	}
}

// TestParseIDForms writes an ID in each form that is accepted.
func TestParseIDForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := lintel.ID(rapid.StringMatching(canonicalForm.String()).Draw(t, "id"))
		form := []byte(want)
		if rapid.Bool().Draw(t, "without dashes") {
			form = []byte(strings.ReplaceAll(string(want), "-", ""))
		}
		for i := range form {
			if rapid.Bool().Draw(t, "upper") {
				form[i] = strings.ToUpper(string(form[i : i+1]))[0]
			}
		}
		got, err := lintel.ParseID(string(form))
		if err != nil || got != want {
			t.Fatalf("%s was read as %q, %v", form, got, err)
		}
	})
}

func TestParseIDRefuses(t *testing.T) {
	const good = "0f8fad5b-d9cb-469f-a165-70867728950e"
	var misplaced []string
	for _, dash := range []int{8, 13, 18, 23} {
		misplaced = append(misplaced, good[:dash]+"0"+good[dash+1:], good[:dash]+" "+good[dash+1:])
	}
	for _, s := range append(misplaced,
		"", "-", " ", good[:35], good+"0", " "+good, good+" ", good+"\n", "{"+good+"}", "urn:uuid:"+good,
		strings.Replace(good, "-", "", 1), strings.ReplaceAll(good, "-", "_"), strings.Replace(good, "0", "g", 1),
		"0f8fad5bd-9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a16570867728950e-", "--------------------------------",
		"0f8fad5bd9cb469fa16570867728950", "0f8fad5bd9cb469fa16570867728950e0", "0f8fad5b-d9cb469fa16570867728950",
		"٠f8fad5b-d9cb-469f-a165-70867728950", "\x00f8fad5b-d9cb-469f-a165-70867728950e",
		"0f8fad5b-d9cb-469f-a165-7086772895é", "-f8fad5b-d9cb-469f-a165-70867728950e",
	) {
		if id, err := lintel.ParseID(s); lintel.CodeOf(err) != lintel.CodeInvalid || id != "" {
			t.Errorf("%q was read as %q, %v", s, id, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("0f8fad5b-d9cb-469f-a165-70867728950e")
	f.Add("0F8FAD5BD9CB469FA16570867728950E")
	f.Add("not an id")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := lintel.ParseID(s)
		if err != nil {
			if id != "" || lintel.CodeOf(err) != lintel.CodeInvalid {
				t.Fatalf("%q: %q, %v", s, id, err)
			}
			return
		}
		if !canonicalForm.MatchString(string(id)) {
			t.Fatalf("%q was read as %q, which is not canonical", s, id)
		}
		if strings.ReplaceAll(string(id), "-", "") != strings.ToLower(strings.ReplaceAll(s, "-", "")) {
			t.Fatalf("%q was read as %q, another one", s, id)
		}
		if again, err := lintel.ParseID(string(id)); err != nil || again != id {
			t.Fatalf("%q is read as %q, %v the second time", id, again, err)
		}
	})
}
