package conformance

import (
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lintel/protocol"
)

// outcomes returns the outcome of each rule, with what was seen.
func outcomes(r Report) map[string]Result {
	found := map[string]Result{}
	for _, result := range r.Results {
		found[result.Rule] = result
	}
	return found
}

func TestTheRuntimePasses(t *testing.T) {
	report := examine(t, fault{}, nil)
	if len(report.Results) != len(Rules()) {
		t.Errorf("%d results of %d rules", len(report.Results), len(Rules()))
	}
	for _, r := range report.Results {
		if r.Outcome != Pass {
			t.Errorf("%s: %s: %s", r.Rule, r.Outcome, r.Seen)
		}
	}
}

// TestNothingMovesUnasked: without leave the door stays where it is, and all other
// rules are judged all the same.
func TestNothingMovesUnasked(t *testing.T) {
	var values []string
	watch := fault{publish: func(_ *conn, p outgoing) []outgoing {
		if s, err := protocol.Decode[protocol.State](p.payload); err == nil && p.name == protocol.TopicState {
			values = append(values, s.Value)
		}
		return []outgoing{p}
	}}
	report := examine(t, watch, func(c *Config) { c.Move, c.Quick = false, true })
	for i, rule := range Rules() {
		want := Pass
		if rule.Moves || rule.Slow {
			want = Skip
		}
		if got := report.Results[i]; got.Outcome != want {
			t.Errorf("%s: %s: %s", got.Rule, got.Outcome, got.Seen)
		}
	}
	if slices.ContainsFunc(values, func(v string) bool { return v != "closed" }) {
		t.Errorf("the door was %v", values)
	}
}

// TestEachRuleFailsByName: for each rule there is a bad controller that it finds.
// What follows the name of the rule in the name of the fault tells several apart.
func TestEachRuleFailsByName(t *testing.T) {
	found := map[string]bool{}
	for name, bad := range faults {
		rule, _, _ := strings.Cut(name, ":")
		found[rule] = true
		t.Run(name, func(t *testing.T) {
			got := outcomes(examine(t, bad, nil))[rule]
			if got.Outcome != Fail || got.Seen == "" {
				t.Errorf("%s: %q", got.Outcome, got.Seen)
			}
		})
	}
	for _, rule := range Rules() {
		if !found[rule.Name] {
			t.Errorf("no bad controller for the rule %s", rule.Name)
		}
	}
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentListsEveryRule: docs/conformance.md has the rules and no others, and
// each rule leads to a heading of the protocol.
func TestDocumentListsEveryRule(t *testing.T) {
	listed := regexp.MustCompile("(?m)^\\| `([a-z][a-z0-9-]+)` \\|.*$").FindAllStringSubmatch(document(t, "conformance.md"), -1)
	headings := regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(document(t, "controller-protocol.md"), -1)
	for i, rule := range Rules() {
		if !slices.ContainsFunc(headings, func(h []string) bool { return h[1] == rule.Section }) {
			t.Errorf("%s: the protocol has no section %q", rule.Name, rule.Section)
		}
		if want := row(rule); i >= len(listed) || listed[i][0] != want {
			t.Errorf("row %d must be\n%s", i+1, want)
		}
	}
	if len(listed) != len(Rules()) {
		t.Errorf("%d rows for %d rules", len(listed), len(Rules()))
	}
}

// row is a rule in the document.
func row(r Rule) string {
	var needs []string
	if r.Moves {
		needs = append(needs, "`--move`")
	}
	if r.Slow {
		needs = append(needs, "not `--quick`")
	}
	anchor := strings.ToLower(strings.NewReplacer(" ", "-", "/", "").Replace(r.Section))
	return fmt.Sprintf("| `%s` | [%s](controller-protocol.md#%s) | %s | %s |", r.Name, r.Section, anchor, r.Says, strings.Join(needs, ", "))
}

// TestReasonsAreTheDocuments: the words and codes are those of the protocol.
func TestReasonsAreTheDocuments(t *testing.T) {
	_, section, _ := strings.Cut(document(t, "controller-protocol.md"), "\n## Reasons\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\d+) \\|").FindAllStringSubmatch(section, -1)
	for _, r := range rows {
		if fmt.Sprint(reasons[r[1]]) != r[2] {
			t.Errorf("%s has code %s, and not %d", r[1], r[2], reasons[r[1]])
		}
	}
	if len(rows) != len(reasons) {
		t.Errorf("%d reasons of %d", len(reasons), len(rows))
	}
}

func TestJUnit(t *testing.T) {
	report := Report{Controller: "c", Results: []Result{
		{Rule: "good", Section: "cmd", Outcome: Pass},
		{Rule: "bad", Section: "cmd", Outcome: Fail, Seen: `said "<\x00>"`},
		{Rule: "left", Section: "cmd", Outcome: Skip, Seen: "no"},
	}}
	var text strings.Builder
	if err := report.WriteJUnit(&text); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(text.String()), &suites); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	s := suites.Suite
	if s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || s.Cases[1].Failure == nil || s.Cases[2].Skipped == nil || s.Cases[0].Failure != nil {
		t.Errorf("%+v", s)
	}
}

// TestPacketsAreCutFromTheStream: however the bytes come.
func TestPacketsAreCutFromTheStream(t *testing.T) {
	long := append([]byte{0x30, 0xc8, 0x01}, make([]byte, 200)...)
	stream := slices.Concat([]byte{0xc0, 0}, long, []byte{0x40, 2, 0, 7})
	for size := 1; size <= len(stream); size++ {
		var s splitter
		var lengths []int
		for chunk := range slices.Chunk(stream, size) {
			for _, p := range s.split(chunk) {
				lengths = append(lengths, len(p))
			}
		}
		if !slices.Equal(lengths, []int{2, 203, 4}) {
			t.Fatalf("in pieces of %d: %v", size, lengths)
		}
	}
	var s splitter
	if got := s.split([]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0xff}); len(got) != 0 || !s.lost {
		t.Errorf("a length that is none: %v", got)
	}
}
