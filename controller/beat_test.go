package controller

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lintel/door"
)

// beating runs a controller without a network that beats every 5 s, and returns how
// often it has.
func beating(t *testing.T, b Hardware, whenAsked func()) (count *int, stop func()) {
	t.Helper()
	count = new(int)
	ctx, cancel := context.WithCancel(t.Context())
	now := func() time.Time { whenAsked(); return time.Now() }
	c := New(Config{
		Doors: map[int]door.Config{1: {ClosedSensor: true}}, Hardware: b, Dialer: &peer{t: t, fail: true}, Now: now,
		Log: slog.New(slog.DiscardHandler), Beat: func() { *count++ }, BeatEvery: 5 * time.Second,
	})
	go c.Run(ctx)
	return count, cancel
}

func TestTheLoopBeatsWhileItIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{inputs: make(chan Input)}
		count, stop := beating(t, b, func() {})
		defer stop()
		synctest.Wait()
		if *count != 1 {
			t.Fatalf("%d beats at the start", *count)
		}
		for range 59 { // inputs that come more often do not make it beat more often
			<-time.After(time.Second)
			b.inputs <- Input{1, door.Sensed{End: door.ClosedEnd, Reading: door.At}}
		}
		synctest.Wait()
		if *count != 12 {
			t.Errorf("%d beats in a minute", *count)
		}
	})
}

// TestAStuckLoopDoesNotBeat: whatever it is stuck in.
func TestAStuckLoopDoesNotBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{inputs: make(chan Input)}
		var stuck atomic.Bool
		free := make(chan struct{})
		count, stop := beating(t, b, func() {
			if stuck.Load() {
				<-free
			}
		})
		defer stop()
		<-time.After(12 * time.Second)
		synctest.Wait()
		before := *count
		stuck.Store(true)
		<-time.After(time.Hour)
		synctest.Wait()
		if *count != before || before != 3 {
			t.Errorf("%d beats before the loop was stuck, %d after an hour of it", before, *count)
		}
		stuck.Store(false)
		close(free)
	})
}
