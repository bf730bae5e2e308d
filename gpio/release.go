package gpio

import (
	"errors"
	"fmt"
	"time"
)

// releaseOutputsWithin is how long Release waits for all lines together.
const releaseOutputsWithin = 3 * time.Second

// Release makes every output inactive and lets it go again, each by itself: neither a
// fault nor a line that hangs keeps it from the others. The wiring need not pass Check;
// what is no line is left out, and so is a line that the wiring names twice and not alike.
func Release(c Config, lines Lines) error {
	tasks, faults := c.releases()
	done := make(chan error, len(tasks))
	for _, o := range tasks {
		go func() { done <- release(o, lines) }()
	}
	timeout := time.NewTimer(releaseOutputsWithin)
	defer timeout.Stop()
	for i := range tasks {
		select {
		case err := <-done:
			faults = append(faults, err)
		case <-timeout.C:
			faults = append(faults, fmt.Errorf("%d outputs did not answer, and may be active", len(tasks)-i))
			return errors.Join(faults...)
		}
	}
	return errors.Join(faults...)
}

func release(o named, lines Lines) error {
	output, err := lines.Output(*o.line)
	if err != nil {
		return fmt.Errorf("output %s, %s: %w", o.name, o.line, err)
	}
	return output.Close()
}

// releases returns the outputs to release, each line once.
func (c Config) releases() (outputs []named, faults []error) {
	var wired []named
	first, doubt := map[string]Line{}, map[string]bool{}
	for _, d := range c.Doors {
		for _, in := range d.inputs() {
			if in.contact != nil {
				doubt[in.contact.String()] = true
			}
		}
		for _, o := range d.outputs() {
			if o.line == nil {
				continue
			}
			name := o.line.String()
			if was, named := first[name]; named {
				doubt[name] = doubt[name] || was != *o.line
				continue
			}
			first[name], wired = *o.line, append(wired, o)
		}
	}
	for _, o := range wired {
		name := o.line.String()
		_, err := ParseLine(name)
		switch {
		case err != nil: // whoever read it has said so
		case doubt[name]:
			faults = append(faults, fmt.Errorf("output %s: %s is wired twice and not alike, and was left as it is", o.name, name))
		default:
			outputs = append(outputs, o)
		}
	}
	return outputs, faults
}
