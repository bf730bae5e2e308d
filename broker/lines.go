package broker

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"lintel/limit"
)

// How often what strangers and faulty firmware bring about is logged: for each network or
// controller, and for each message in all.
var (
	linesOfOne = limit.Rate{Burst: 5, Each: 10 * time.Second}
	linesInAll = limit.Rate{Burst: 50, Each: 200 * time.Millisecond}
)

// lines keeps a flood of attempts from becoming a flood of lines.
type lines struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex // guards what follows
	ofOne  *limit.Buckets
	inAll  *limit.Buckets
	hidden map[string]int // by message, of which there are a few: lines that were left out since the last
}

func newLines(log *slog.Logger, now func() time.Time) *lines {
	return &lines{log: log, now: now, ofOne: limit.New(linesOfOne), inAll: limit.New(linesInAll), hidden: map[string]int{}}
}

// say logs a message about who, a network or a controller, unless there were too many.
// The next line says how many were left out.
func (l *lines) say(level slog.Level, who, message string, args ...any) {
	hidden, ok := l.take(message, message+" "+who)
	if !ok {
		return
	}
	if hidden > 0 {
		args = append(args, "left_out_before", hidden)
	}
	l.log.Log(context.Background(), level, message, args...)
}

func (l *lines) take(message, one string) (hidden int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.ofOne.Wait(one, now) > 0 || l.inAll.Wait(message, now) > 0 {
		l.hidden[message]++
		return 0, false
	}
	l.ofOne.Take(one, now)
	l.inAll.Take(message, now)
	hidden = l.hidden[message]
	delete(l.hidden, message)
	return hidden, true
}

// networkOf names the network of a client's address.
func networkOf(remote string) string {
	a, _ := netip.ParseAddrPort(remote) // the zero address is of its own network
	return limit.Network(a.Addr())
}
