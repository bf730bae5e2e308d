package main

import (
	"fmt"
	"time"
)

// floors are the sums of the two floors in microseconds, by round.
func (r rounds) floors() (sums []float64) {
	for i := range r.broker {
		sums = append(sums, r.broker[i].p50+r.insert[i].p50)
	}
	return sums
}

// figures are the rows of the report.
func (r rounds) figures() []figure {
	broker, insert := medianSpread(r.broker), medianSpread(r.insert)
	out := []figure{
		{Name: "floor: broker round trip, 1 in flight", Value: broker.p50, Tail: broker.p99, Unit: "us", Note: r.floorNote()},
		{Name: "floor: durable insert", Value: insert.p50, Tail: insert.p99, Unit: "us", Note: r.floorNote()},
	}
	out = append(out, r.kindFigures("toggle", moveOne, moveMany, moveNote)...)
	return append(out, r.kindFigures("toggle, door already there", stayOne, stayMany, stayNote)...)
}

func (r rounds) floorNote() string {
	return fmt.Sprintf("Floors and toggles in turns, %d rounds; a figure is the median of the rounds' percentiles, "+
		"a ratio the median of the rounds' ratios to the sum of both floors. Broker: a bare server and a client of the simulator's library in this process, over TCP. "+
		"Insert: one row of 250 bytes, prepared, in a transaction of its own, WAL, synchronous=FULL.", len(r.broker))
}

var (
	moveNote = fmt.Sprintf("Toggle: HTTP keep-alive, %d doors at %d controllers in another process. Each toggle is a whole movement of %s; "+
		"its three reports are stored while the next toggles are answered, and the processor time includes them.", toggleControllers*doorsEach, toggleControllers, travel)
	stayNote = "Door already there: the same request and answer, two durable rows and the way to the controller and back, but no movement is reported afterwards."
)

// kindFigures are the rows of one kind of toggle, with 1 and with manyInFlight in flight.
func (r rounds) kindFigures(name string, one, many int, note string) []figure {
	single, parallel := medianSpread(spreads(r.toggles[one])), medianSpread(spreads(r.toggles[many]))
	floors := r.floors()
	var ratios []float64
	for i, s := range r.toggles[one] {
		ratios = append(ratios, s.p50/floors[i])
	}
	inFlight := fmt.Sprintf("%s, %d in flight", name, manyInFlight)
	return []figure{
		{Name: name + ", 1 in flight", Value: single.p50, Tail: single.p99, Unit: "us", Floor: median(floors), Ratio: median(ratios), Budget: 2, Note: note},
		{Name: inFlight, Value: parallel.p50 / 1e3, Tail: parallel.p99 / 1e3, Unit: "ms", Note: note},
		{Name: inFlight + ": rate", Value: rate(r.toggles[many]), Unit: "/s", Note: note},
		{Name: name + ", 1 in flight: server CPU", Value: cpuEach(r.toggles[one]...), Unit: "us", Budget: 100, Note: note},
		{Name: inFlight + ": server CPU", Value: cpuEach(r.toggles[many]...), Unit: "us", Budget: 100, Note: note},
	}
}

func spreads(samples []sample) (out []spread) {
	for _, s := range samples {
		out = append(out, s.spread)
	}
	return out
}

// rate is the median of the rounds' toggles per second.
func rate(samples []sample) float64 {
	var rates []float64
	for _, s := range samples {
		rates = append(rates, s.perSecond())
	}
	return median(rates)
}

// cpuEach is the service's processor time per operation in microseconds, over
// all samples together: the kernel shows it in steps of 10 ms, too coarse for one.
func cpuEach(samples ...sample) float64 {
	var cpu time.Duration
	var count int
	for _, s := range samples {
		cpu, count = cpu+s.cpu, count+s.count
	}
	if count == 0 {
		return 0
	}
	return micros(cpu) / float64(count)
}
