package account

import (
	"sync"
	"time"

	"lintel/limit"
)

// The limits on attempts that fail; one that succeeds is given back.
//
// A stranger has perPair and perSource, and both fill more slowly than
// perAccount: alone, a stranger never empties perAccount. Many strangers
// together can, and then an unknown browser has to wait. One that a person has
// signed in with before has perKnown instead of all three, so that nobody else
// can lock a person out of it (OWASP, "Slow Down Online Guessing Attacks with
// Device Cookies").
var (
	perPair    = limit.Rate{Burst: 5, Each: 2 * time.Minute}    // one account, from one network
	perSource  = limit.Rate{Burst: 30, Each: 30 * time.Second}  // all accounts, from one network
	perAccount = limit.Rate{Burst: 100, Each: 90 * time.Second} // one account, from all unknown browsers
	perKnown   = limit.Rate{Burst: 10, Each: time.Minute}       // one account, from one browser that it knows
	perPasskey = limit.Rate{Burst: 100, Each: time.Second}      // challenges for passkeys, and answers, from one network
)

// limiter holds the buckets of all limits. They are in memory only: a restart
// fills them.
type limiter struct {
	mu         sync.Mutex // guards the buckets
	pairs      *limit.Buckets
	sources    *limit.Buckets
	accounts   *limit.Buckets
	known      *limit.Buckets
	challenges *limit.Buckets
	answers    *limit.Buckets
}

func newLimiter() *limiter {
	return &limiter{
		pairs: limit.New(perPair), sources: limit.New(perSource), accounts: limit.New(perAccount),
		known: limit.New(perKnown), challenges: limit.New(perPasskey), answers: limit.New(perPasskey),
	}
}

// use is one bucket that an attempt takes from.
type use struct {
	of   *limit.Buckets
	name string
}

// password is what an attempt on an account takes from. account names it as it
// was typed in, whether it exists or not; known is the hash of a browser's
// secret that the account knows, empty for none.
func (l *limiter) password(account, network, known string) []use {
	if known != "" {
		return []use{{l.known, account + " " + known}}
	}
	return []use{{l.pairs, account + " " + network}, {l.sources, network}, {l.accounts, account}}
}

// passkey is what an attempt with a passkey takes from. It cannot be guessed, only
// tried again and again, so that only the work is bounded.
func (l *limiter) passkey(network string) []use { return []use{{l.answers, network}} }

// challenge is what asking for a passkey's challenge, which is stored, takes from.
func (l *limiter) challenge(network string) []use { return []use{{l.challenges, network}} }

// take takes a token from every bucket and returns 0, or takes none and returns
// how long to wait.
func (l *limiter) take(now time.Time, uses []use) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var longest time.Duration
	for _, u := range uses {
		longest = max(longest, u.of.Wait(u.name, now))
	}
	if longest > 0 {
		return longest
	}
	for _, u := range uses {
		u.of.Take(u.name, now)
	}
	return 0
}

// giveBack returns what an attempt took.
func (l *limiter) giveBack(uses []use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range uses {
		u.of.GiveBack(u.name)
	}
}
