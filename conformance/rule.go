package conformance

import (
	"context"
	"fmt"
)

// Rule is one thing that docs/controller-protocol.md asks of a controller.
type Rule struct {
	Name    string // a short slug
	Section string // the heading in docs/controller-protocol.md
	Says    string // the rule in a sentence
	Moves   bool   // the door moves where the rule is kept
	Slow    bool   // takes half a minute and more

	needs need
	check func(ctx context.Context, k *kit) verdict
}

// need is what must be there before a rule can be checked.
type need int

const (
	nothing  need = iota
	aSession      // hello, the time, and a report on the door
)

// Outcome is how a rule was judged.
type Outcome string

// The outcomes.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
)

// verdict is an outcome, with what was seen or why the rule was skipped.
type verdict struct {
	outcome Outcome
	seen    string
}

var passed = verdict{outcome: Pass}

func failed(format string, args ...any) verdict { return verdict{Fail, fmt.Sprintf(format, args...)} }

func skipped(format string, args ...any) verdict { return verdict{Skip, fmt.Sprintf(format, args...)} }

// firstFailure judges one after another until one does not pass.
func firstFailure(checks ...func() verdict) verdict {
	for _, check := range checks {
		if v := check(); v.outcome != Pass {
			return v
		}
	}
	return passed
}
