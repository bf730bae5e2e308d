package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, c := range []struct {
		values []int
		p      float64
		want   int
	}{
		{nil, 50, 0},
		{[]int{7}, 50, 7},
		{[]int{7}, 99, 7},
		{[]int{1, 2}, 50, 1},
		{[]int{1, 2}, 51, 2},
		{[]int{1, 2, 3}, 50, 2},
		{[]int{1, 2, 3}, 0, 1},
		{[]int{1, 2, 3}, 100, 3},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 99.5, 100},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile %g of %v is %d, want %d", c.p, c.values, got, c.want)
		}
	}
}

func TestSpreadOfSorts(t *testing.T) {
	got := spreadOf([]time.Duration{3 * time.Microsecond, 1500 * time.Nanosecond, 9 * time.Millisecond})
	if want := (spread{p50: 3, p99: 9000}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{4}, 4},
		{[]float64{9, 1}, 5},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		before := append([]float64(nil), c.values...)
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v is %g, want %g", c.values, got, c.want)
		}
		for i, v := range before {
			if c.values[i] != v {
				t.Errorf("median changed %v to %v", before, c.values)
			}
		}
	}
}

func TestMedianSpreadTakesEachByItself(t *testing.T) {
	got := medianSpread([]spread{{1, 30}, {2, 10}, {3, 20}})
	if want := (spread{2, 20}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCPUEachIsOverAllRounds(t *testing.T) {
	got := cpuEach(sample{count: 100, cpu: 10 * time.Millisecond}, sample{count: 300, cpu: 50 * time.Millisecond})
	if got != 150 {
		t.Errorf("got %g us, want 150", got)
	}
	if got := cpuEach(); got != 0 {
		t.Errorf("of nothing: got %g", got)
	}
}

func TestRateIsTheMedianRounds(t *testing.T) {
	got := rate([]sample{{count: 100, elapsed: time.Second}, {count: 100, elapsed: 100 * time.Millisecond}, {count: 100, elapsed: 2 * time.Second}})
	if got != 100 {
		t.Errorf("got %g per second, want 100", got)
	}
}

func TestRatiosAreTakenByRound(t *testing.T) {
	r := rounds{broker: []spread{{p50: 10}, {p50: 30}, {p50: 20}}, insert: []spread{{p50: 40}, {p50: 70}, {p50: 30}}}
	for kind := range r.toggles { // twice, three times and four times the floor of its round
		r.toggles[kind] = []sample{{spread: spread{p50: 100}}, {spread: spread{p50: 300}}, {spread: spread{p50: 200}}}
	}
	for _, f := range r.figures() {
		if f.Ratio == 0 {
			continue
		}
		if f.Ratio != 3 || f.Floor != 50 || f.holds() != "NO" {
			t.Errorf("%s: ratio %g to %g, holds %s; want 3 to 50, NO", f.Name, f.Ratio, f.Floor, f.holds())
		}
	}
}

func TestSettled(t *testing.T) {
	flat := make([]float64, settleSamples)
	for i := range flat {
		flat[i] = 1000
	}
	if settled(flat[1:]) {
		t.Error("settled with too few samples")
	}
	if !settled(append([]float64{5000}, flat...)) {
		t.Error("not settled although only an old sample differs")
	}
	flat[0] = 1011
	if settled(flat) {
		t.Error("settled although a sample is more than 1 % away")
	}
}
