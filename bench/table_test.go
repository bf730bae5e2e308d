package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestFigureShows(t *testing.T) {
	for _, c := range []struct {
		figure                          figure
		measured, beside, budget, holds string
	}{
		{figure{Value: 19.04, Unit: "MB", Budget: 45}, "19.0 MB", "", "<= 45 MB", "yes"},
		{figure{Value: 45, Unit: "MB", Budget: 45}, "45 MB", "", "<= 45 MB", "yes"},
		{figure{Value: 45.1, Unit: "MB", Budget: 45}, "45.1 MB", "", "<= 45 MB", "NO"},
		{figure{Value: 12.9, Tail: 56.7, Unit: "us"}, "12.9 / 56.7 us", "", "", ""},
		{figure{Value: 300, Tail: 700, Unit: "us", Floor: 100, Ratio: 3, Budget: 2}, "300 / 700 us", "3.00 x 100 us", "<= 2 x floor", "NO"},
		{figure{Value: 300, Unit: "us", Floor: 200, Ratio: 1.5, Budget: 2}, "300 us", "1.50 x 200 us", "<= 2 x floor", "yes"},
		{figure{Value: 2104.6, Unit: "/s"}, "2105 /s", "", "", ""},
		{figure{Value: 0.412, Unit: "s", Budget: 10}, "0.41 s", "", "<= 10 s", "yes"},
	} {
		f := c.figure
		if f.measured() != c.measured || f.beside() != c.beside || f.budget() != c.budget || f.holds() != c.holds {
			t.Errorf("%+v shows as %q, %q, %q, %q", f, f.measured(), f.beside(), f.budget(), f.holds())
		}
	}
}

func TestTableHasARowForEachFigureAndEachNoteOnce(t *testing.T) {
	figures := []figure{
		{Name: "one", Value: 1, Unit: "us", Budget: 2, Note: "Taken so."},
		{Name: "two", Value: 3, Unit: "us", Budget: 2, Note: "Taken so."},
		{Name: "three", Value: 3, Unit: "us"},
	}
	var out bytes.Buffer
	if err := writeTable(&out, machine{CPU: "some CPU", Cores: 2, Go: "go1", Commit: "abc", Load: "0.10"}, figures); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.HasPrefix(text, "Lintel abc, go1, some CPU, 2 cores, load 0.10 at the start\n") {
		t.Errorf("the machine is not named first:\n%s", text)
	}
	for _, want := range []string{"one ", "two ", "three ", " yes\n", " NO\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, text)
		}
	}
	if strings.Count(text, "Taken so.") != 1 {
		t.Errorf("the note is not there once:\n%s", text)
	}
}

func TestJSONSaysWhatHolds(t *testing.T) {
	var out bytes.Buffer
	figures := []figure{{Name: "one", Value: 3, Unit: "us", Budget: 2}, {Name: "two", Value: 3, Unit: "us"}}
	if err := writeJSON(&out, machine{Commit: "abc"}, figures); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine machine
		Figures []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Machine.Commit != "abc" || len(got.Figures) != 2 {
		t.Fatalf("got %s", out.String())
	}
	if got.Figures[0]["holds"] != "NO" || got.Figures[0]["value"] != 3.0 {
		t.Errorf("a figure over its budget reads %v", got.Figures[0])
	}
	if _, ok := got.Figures[1]["holds"]; ok {
		t.Errorf("a figure without a budget reads %v", got.Figures[1])
	}
}
