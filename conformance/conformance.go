// Package conformance plays the service against one controller, and judges which
// rules of docs/controller-protocol.md the controller keeps. docs/conformance.md
// lists the rules.
//
// The kit is an MQTT endpoint made of package broker, with a listener that notes
// every packet in both directions. The rules that ask something of the controller
// run one after another; the rules about everything that it says are judged from
// the notes at the end.
package conformance

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"lintel"
	"lintel/broker"
	"lintel/protocol"
)

// Config says what is tested, and how.
type Config struct {
	Controller lintel.ID
	Secret     string
	Door       int           // the number of the door that commands are for
	Move       bool          // the door may be made to move
	Quick      bool          // leave out the rules that take half a minute and more
	Timeout    time.Duration // for the controller to connect
	Travel     time.Duration // longest time that a full movement takes
	Now        func() time.Time
	Wall       func() time.Time // for the limits of sockets, and as the clock not to be used
	Log        *slog.Logger
	Judged     func(Result) // told each result as it is known; may be nil
}

// Times that the kit allows or keeps.
const (
	answerTime = 5 * time.Second        // for an answer: what the service waits by default
	quietTime  = time.Second            // in which something that must not happen would
	ackPause   = 250 * time.Millisecond // by which a SUBACK is held back
	comeBack   = 60 * time.Second       // 45 s is the longest pause, and connecting takes a while
	slack      = 2 * time.Second        // for a report or a request on its way
	ahead      = time.Hour              // by which the kit's service time is ahead of the wall clock
	deadline   = 10 * time.Second       // of a command
)

// kit is one run. The rules run on one goroutine; the broker's call the Handler.
type kit struct {
	cfg   Config
	notes *transcript

	sequence int64  // of the last command of the session
	session  string // that sequence belongs to
	broken   *wire  // the connection that was found to have no session

	mu       sync.Mutex // guards what follows
	wires    map[string]*wire
	live     *wire
	mute     bool // do not answer time requests
	withhold bool // end the connection instead of confirming a change
}

// Run serves the listener until every rule has been judged, and returns the
// results in the order of Rules. It closes the listener.
func Run(ctx context.Context, listener net.Listener, cfg Config) (Report, error) {
	k := &kit{cfg: cfg, notes: newTranscript(), wires: map[string]*wire{}}
	b, err := broker.New(k, k, broker.Topics{
		Topic: protocol.Topic, Up: protocol.Up, Down: protocol.Down, Will: protocol.TopicWill,
	}, broker.DefaultLimits(), cfg.Log)
	if err != nil {
		return Report{}, err
	}
	if err := b.Serve(&tap{Listener: listener, kit: k}); err != nil {
		return Report{}, err
	}
	report := k.judge(ctx)
	if err := ctx.Err(); err != nil {
		_ = b.Close()
		return report, err
	}
	return report, b.Close()
}

func (k *kit) judge(ctx context.Context) Report {
	report := Report{Controller: string(k.cfg.Controller)}
	for _, rule := range Rules() {
		if ctx.Err() != nil {
			break
		}
		began := k.cfg.Now()
		v := k.check(ctx, rule)
		result := Result{
			Rule: rule.Name, Section: rule.Section, Says: rule.Says,
			Outcome: v.outcome, Seen: v.seen, Took: k.cfg.Now().Sub(began),
		}
		report.Results = append(report.Results, result)
		if k.cfg.Judged != nil && ctx.Err() == nil {
			k.cfg.Judged(result)
		}
	}
	return report
}

func (k *kit) check(ctx context.Context, rule Rule) verdict {
	switch {
	case rule.Moves && !k.cfg.Move:
		return skipped("it moves the door: allow that with --move")
	case rule.Slow && k.cfg.Quick:
		return skipped("it takes long: leave --quick out")
	case rule.needs == aSession && !k.ready(ctx):
		return skipped("no session with the time and a report on the door")
	}
	return rule.check(ctx, k)
}
