package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// counted is the textbook token bucket: a level that rises with time and falls
// with each take. A token is each.
type counted struct {
	level time.Duration
	at    time.Time
}

func (c *counted) refill(r Rate, now time.Time) {
	c.level = min(r.full(), c.level+now.Sub(c.at))
	c.at = now
}

func TestBucketIsATokenBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{rapid.IntRange(1, 20).Draw(t, "burst"), time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "each"))}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		b, model := bucket{}, counted{level: r.full(), at: now}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 3*int64(r.Each)).Draw(t, "passed")))
			model.refill(r, now)
			if wait, want := b.wait(r, now), max(0, r.Each-model.level); wait != want {
				t.Fatalf("%v: wait %v, want %v", r, wait, want)
			}
			if rapid.IntRange(0, 3).Draw(t, "succeeds") == 0 && !b.fullAt.IsZero() {
				b, model.level = b.giveBack(r), min(r.full(), model.level+r.Each)
				continue
			}
			if b.wait(r, now) == 0 {
				b, model.level = b.take(r, now), model.level-r.Each
			}
		}
	})
}

func TestBucketWhenTheClockStepsBack(t *testing.T) {
	r, now := Rate{3, time.Minute}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := bucket{}.take(r, now)
	equal(t, b.wait(r, now.Add(-24*time.Hour)), time.Minute) // empty, and no longer shut than that
	b = bucket{}.take(r, now)
	b = b.take(r, now).take(r, now)
	equal(t, b.wait(r, now.Add(-24*time.Hour)), time.Minute)
}

func TestBucketsAreBounded(t *testing.T) {
	b, now := New(Rate{1, time.Hour}), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.most = 3
	for i := range 3 {
		b.Take(fmt.Sprint(i), now)
	}
	b.Take("0", now.Add(time.Hour)) // used last
	b.Take("3", now.Add(time.Hour)) // and 1 goes
	equal(t, len(b.byName), 3)
	equal(t, b.order.Len(), 3)
	for name, want := range map[string]time.Duration{"0": 2 * time.Hour, "1": 0, "2": time.Hour, "3": 2 * time.Hour} {
		equal(t, b.Wait(name, now), min(want, time.Hour))
	}
	b.GiveBack("1") // which is gone: nothing happens
	equal(t, len(b.byName), 3)
}

func TestNetworks(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32",
		"2001:db8:1:203:4:5:6:7": "2001:db8:1:200::/56", "fe80::1%eth0": "fe80::/56",
	} {
		equal(t, Network(netip.MustParseAddr(address)), want)
	}
	equal(t, Network(netip.Addr{}), "unknown")
}

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
