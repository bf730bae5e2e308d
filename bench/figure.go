package main

import "fmt"

// figure is one row of the report.
type figure struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Tail   float64 `json:"p99,omitempty"` // where Value is a p50; 0 for none
	Unit   string  `json:"unit"`
	Floor  float64 `json:"floor,omitempty"`  // in Unit; 0 for none
	Ratio  float64 `json:"ratio,omitempty"`  // to the floor, the median of the rounds' own; 0 for none
	Budget float64 `json:"budget,omitempty"` // the most allowed: of Ratio where there is one, else of Value; 0 for none
	Note   string  `json:"note,omitempty"`   // how it was taken, where the name does not say
}

// measured is the figure as the table shows it.
func (f figure) measured() string {
	if f.Tail != 0 {
		return fmt.Sprintf("%s / %s %s", number(f.Value), number(f.Tail), f.Unit)
	}
	return fmt.Sprintf("%s %s", number(f.Value), f.Unit)
}

// beside is the floor or the ratio as the table shows it.
func (f figure) beside() string {
	if f.Ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f x %s %s", f.Ratio, number(f.Floor), f.Unit)
}

func (f figure) budget() string {
	switch {
	case f.Budget == 0:
		return ""
	case f.Ratio != 0:
		return fmt.Sprintf("<= %s x floor", number(f.Budget))
	}
	return fmt.Sprintf("<= %s %s", number(f.Budget), f.Unit)
}

// holds says whether the budget holds; empty without one.
func (f figure) holds() string {
	held := f.Value
	if f.Ratio != 0 {
		held = f.Ratio
	}
	switch {
	case f.Budget == 0:
		return ""
	case held <= f.Budget:
		return "yes"
	}
	return "NO"
}

// number shows three digits that count, and never fewer than the whole part has.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
