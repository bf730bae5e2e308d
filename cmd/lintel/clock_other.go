//go:build !linux

package main

import "time"

var processStart = time.Now()

// sinceBoot returns the time since this process began, by Go's monotonic clock.
func sinceBoot() time.Duration { return time.Since(processStart) }
