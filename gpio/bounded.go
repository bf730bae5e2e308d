package gpio

import (
	"errors"
	"sync/atomic"
	"time"
)

// answerWithin is how long a line may take to be set. One behind a bus that is stuck may
// never answer, and must not keep the contact beside it closed.
const answerWithin = 250 * time.Millisecond

var errHangs = errors.New("the line does not answer")

// bounded is an output whose calls come to an end also where its line hangs.
type bounded struct {
	Output
	hanging *atomic.Int32 // lines of the hardware that do not answer
	stuck   atomic.Bool   // this one does not
}

// answer is what became of one call.
type answer struct {
	err      error
	panicked any
}

// Set implements Output. A line that does not answer in time is not asked again before it
// has, and is made inactive then, whatever it was asked.
func (b *bounded) Set(active bool) error {
	if b.stuck.Load() {
		return errHangs
	}
	var settled atomic.Bool // by the answer or by the end of waiting, whichever is first
	answered := make(chan answer, 1)
	go func() {
		a := call(func() error { return b.Output.Set(active) })
		if settled.CompareAndSwap(false, true) {
			answered <- a
			return
		}
		_ = call(func() error { return b.Output.Set(false) })
		b.stuck.Store(false)
		b.hanging.Add(-1)
	}()
	timer := time.NewTimer(answerWithin)
	defer timer.Stop()
	select {
	case a := <-answered:
		return a.passOn()
	case <-timer.C:
	}
	b.stuck.Store(true)
	b.hanging.Add(1)
	if settled.CompareAndSwap(false, true) {
		return errHangs
	}
	b.stuck.Store(false) // it came at the last moment
	b.hanging.Add(-1)
	a := <-answered
	return a.passOn()
}

// Close implements Output. A line that hangs is left to the end of the process.
func (b *bounded) Close() error {
	if b.stuck.Load() {
		return errHangs
	}
	return b.Output.Close()
}

// call does not panic itself.
func call(f func() error) (a answer) {
	defer func() { a.panicked = recover() }()
	return answer{err: f()}
}

// passOn returns the error, or panics as the call did.
func (a answer) passOn() error {
	if a.panicked != nil {
		panic(a.panicked)
	}
	return a.err
}
