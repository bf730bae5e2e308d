//go:build !linux

package gpio

import (
	"errors"
	"time"
)

// Chips returns lines that cannot be had: GPIO lines are used on Linux only.
func Chips() Lines { return chips{} }

type chips struct{}

var errLinux = errors.New("GPIO lines can be used on Linux only")

// Output implements Lines.
func (chips) Output(Line) (Output, error) { return nil, errLinux }

// Input implements Lines.
func (chips) Input(Line, Bias, time.Duration, func(bool)) (Input, error) { return nil, errLinux }
