package door

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const tableFile = "../docs/door-table.md"

// TestTable keeps docs/door-table.md equal to what Decide does. When they
// differ, the test writes the new table and fails, so that the change is seen.
func TestTable(t *testing.T) {
	want := renderTable(t)
	have, err := os.ReadFile(tableFile)
	if err == nil && string(have) == want {
		return
	}
	if err := os.WriteFile(tableFile, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s did not say what the machine does; it has been written anew: look at the difference", tableFile)
}

func renderTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# What the door machine does about a request

Written by a test in the package door: it is what the code does. The rules behind
it are in door/door.go; the test that no row moves a door the wrong way is in
door/decide_test.go.

A refusal is in parentheses. Callers see (unsupported) as status 501 and every
other refusal as 428. "Nothing to do" is an acceptance: the door is there or on
its way.

Rules that hold in every row and are left out of it:

- Something is lost: while a fitted sensor is out of reach, or none was ever
  paired, open and close are refused with (sensor_lost).
- Something is in the way: while the door is obstructed, close is refused with
  (obstructed) instead of being acted on, because openers reverse when they meet
  an obstruction.
- A door with a monitor only, and no opener wired, refuses everything with
  (unsupported).

"Last" is the last movement: none means that it is not known for certain. The
machine knows it at an inferred end only where the door is set up as moved by
nothing else (SoleControl). Otherwise somebody may have stopped and reversed the
door at the wall button, unseen, and with a one-button opener an inferred end is
always a row with "none": refused. A sensor at each end avoids that.

`)
	for _, opener := range []Opener{OneButton, Discrete} {
		fmt.Fprintf(&b, "## %s opener\n\n| state | source | evidence | last | open | close | stop |\n|---|---|---|---|---|---|---|\n", opener)
		every(func(s Situation) {
			if s.Opener != opener || s.SensorLost || s.Obstructed {
				return
			}
			evidence := "fresh"
			if !s.Fresh {
				evidence = "stale"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", s.Value, s.Source, evidence, s.Last,
				cell(s, DoOpen), cell(s, DoClose), cell(s, DoStop))
		})
		b.WriteByte('\n')
	}
	leftOut(t)
	return b.String()
}

func cell(s Situation, a Action) string {
	d := Decide(s, a)
	if d.Refusal != "" {
		return "(" + string(d.Refusal) + ")"
	}
	return d.Effect.String()
}

// leftOut checks the rules that the table states in words.
func leftOut(t *testing.T) {
	every(func(s Situation) {
		clear := s
		clear.Obstructed = false
		for _, a := range Actions {
			d := Decide(s, a)
			switch {
			case s.Opener == Monitor:
				if d.Refusal != RefuseUnsupported {
					t.Errorf("%s in %+v: %+v", a, s, d)
				}
			case s.SensorLost && a != DoStop:
				if d.Refusal != RefuseSensor {
					t.Errorf("%s in %+v: %+v", a, s, d)
				}
			case s.Obstructed && a == DoClose:
				before := Decide(clear, a)
				acted := before.Refusal == "" && before.Effect != NoEffect
				if acted && d.Refusal != RefuseObstructed {
					t.Errorf("%s in %+v: %+v", a, s, d)
				}
			case s.Obstructed && d != Decide(clear, a):
				t.Errorf("%s in %+v: an obstruction matters to closing only", a, s)
			}
		}
	})
}
