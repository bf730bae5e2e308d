package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// writeTable prints the report for people.
func writeTable(w io.Writer, m machine, figures []figure) error {
	fmt.Fprintf(w, "Lintel %s, %s, %s, %d cores, load %s at the start\n\n", m.Commit, m.Go, m.CPU, m.Cores, m.Load)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "figure\tmeasured\tratio to its floor\tbudget\tholds")
	fmt.Fprintln(t, "------\t--------\t------------------\t------\t-----")
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Name, f.measured(), f.beside(), f.budget(), f.holds())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeNotes(w, figures)
}

// writeNotes says how figures were taken, once for figures with the same note.
func writeNotes(w io.Writer, figures []figure) error {
	fmt.Fprintln(w, "\nTwo numbers are p50 / p99; us is a millionth of a second, KiB and MiB are 1024 and 1024^2 bytes.")
	said := map[string]bool{"": true}
	for _, f := range figures {
		if said[f.Note] {
			continue
		}
		said[f.Note] = true
		if _, err := fmt.Fprintf(w, "- %s\n", f.Note); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON prints the report for programs.
func writeJSON(w io.Writer, m machine, figures []figure) error {
	type row struct {
		figure
		Holds string `json:"holds,omitempty"` // yes or NO, where there is a budget
	}
	report := struct {
		Machine machine `json:"machine"`
		Figures []row   `json:"figures"`
	}{Machine: m}
	for _, f := range figures {
		report.Figures = append(report.Figures, row{f, f.holds()})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(report)
}
