package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since the machine's start, suspended time included.
// Go's own monotonic clock stands still while a machine sleeps: a controller
// that woke up with it would take an old command for a fresh one.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("clock: " + err.Error()) // every kernel since 2.6.39 has it
	}
	return time.Duration(now.Nano())
}
