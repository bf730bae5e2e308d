// Package limit bounds how often something may be tried: token buckets by name,
// in a bounded amount of memory.
package limit

import (
	"container/list"
	"net/netip"
	"time"
)

// Rate is what a token bucket allows: Burst attempts at once, at least 1, and one
// more for each Each that passes.
type Rate struct {
	Burst int
	Each  time.Duration
}

// full is how long an empty bucket takes to fill.
func (r Rate) full() time.Duration { return time.Duration(r.Burst) * r.Each }

// bucket is a token bucket, kept as the time at which it is full again. The zero
// bucket is full.
type bucket struct{ fullAt time.Time }

// missing is how long from now the bucket is not full. A clock that stepped
// back makes it empty at worst.
func (b bucket) missing(r Rate, now time.Time) time.Duration {
	return max(0, min(b.fullAt.Sub(now), r.full()))
}

// wait returns how long from now until the bucket has a token; 0 when it has one.
func (b bucket) wait(r Rate, now time.Time) time.Duration {
	return max(0, b.missing(r, now)+r.Each-r.full())
}

// take returns the bucket with a token less. Only one that need not wait has one.
func (b bucket) take(r Rate, now time.Time) bucket {
	return bucket{now.Add(b.missing(r, now) + r.Each)}
}

// giveBack returns the bucket with a token more; one that is full stays so.
func (b bucket) giveBack(r Rate) bucket { return bucket{b.fullAt.Add(-r.Each)} }

// maxBuckets bounds the memory of Buckets, to some 5 MB.
const maxBuckets = 1 << 14

// Buckets are the buckets of one rate by name. A missing one is full. Where
// there are too many, the one that was not used for the longest time goes. They
// are not safe for concurrent use.
type Buckets struct {
	rate   Rate
	most   int
	byName map[string]*list.Element
	order  *list.List // of *named, the last used in front
}

type named struct {
	name string
	bucket
}

// New returns full buckets.
func New(r Rate) *Buckets {
	return &Buckets{rate: r, most: maxBuckets, byName: map[string]*list.Element{}, order: list.New()}
}

func (b *Buckets) get(name string) bucket {
	if e, ok := b.byName[name]; ok {
		return e.Value.(*named).bucket
	}
	return bucket{}
}

// Wait returns how long from now until a bucket has a token; 0 when it has one.
func (b *Buckets) Wait(name string, now time.Time) time.Duration {
	return b.get(name).wait(b.rate, now)
}

// Take takes a token from a bucket that has one.
func (b *Buckets) Take(name string, now time.Time) {
	taken := b.get(name).take(b.rate, now)
	if e, ok := b.byName[name]; ok {
		e.Value.(*named).bucket = taken
		b.order.MoveToFront(e)
		return
	}
	if len(b.byName) >= b.most {
		oldest := b.order.Remove(b.order.Back()).(*named)
		delete(b.byName, oldest.name)
	}
	b.byName[name] = b.order.PushFront(&named{name, taken})
}

// GiveBack puts a token back.
func (b *Buckets) GiveBack(name string) {
	if e, ok := b.byName[name]; ok {
		n := e.Value.(*named)
		n.bucket = n.bucket.giveBack(b.rate)
	}
}

// Network names what one stranger has at hand: an IPv4 address, or the 56 bits of
// an IPv6 address that providers give to one line (RFC 6177 §2).
func Network(a netip.Addr) string {
	a = a.Unmap()
	if !a.IsValid() {
		return "unknown"
	}
	bits := 56
	if a.Is4() {
		bits = 32
	}
	prefix, _ := a.WithZone("").Prefix(bits) // in range for the family
	return prefix.String()
}
