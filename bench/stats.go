package main

import (
	"math"
	"slices"
	"time"
)

// spread is the middle and the tail of a set of times, in microseconds.
type spread struct{ p50, p99 float64 }

// spreadOf sorts the times and takes their percentiles.
func spreadOf(times []time.Duration) spread {
	slices.Sort(times)
	return spread{micros(percentile(times, 50)), micros(percentile(times, 99))}
}

// percentile returns the smallest of the sorted values that at least p per cent
// of them do not exceed (nearest rank); the zero value of none.
func percentile[T any](sorted []T, p float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// median returns the middle of the values, the mean of the two middle ones where
// their number is even, and 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// medianSpread takes the median of the rounds' middles, and that of their tails.
func medianSpread(rounds []spread) spread {
	var middles, tails []float64
	for _, s := range rounds {
		middles, tails = append(middles, s.p50), append(tails, s.p99)
	}
	return spread{median(middles), median(tails)}
}

// micros is a duration in microseconds.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
