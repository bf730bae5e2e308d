// Command bench measures Lintel: the built binary from the outside, on this
// machine, over loopback. It prints one table, each figure with its floor or
// ratio, the budget it is held to, and whether it holds.
//
// Absolute figures are this machine's. What compares between machines, and
// between a quiet and a busy one, is the ratio to a floor that is measured in
// the same run, in turns with what stands on it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	quick := flag.Bool("quick", false, "Measure less, in about 15 s: to see that it runs, not to compare.")
	asJSON := flag.Bool("json", false, "Print one JSON object instead of the table.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *quick, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// extent is how much is measured.
type extent struct {
	rounds      int           // of floors and toggles in turns; figures are medians over them
	floor       int           // operations of each floor in a round
	single      int           // toggles in a round, 1 in flight
	parallel    int           // toggles in a round, manyInFlight in flight
	syncs       int           // sync requests, plain and compressed each
	tokens      int           // token checks
	starts      int           // starts with an empty database
	controllers int           // idle controllers
	idle        time.Duration // for which they are watched
}

var (
	full = extent{rounds: 5, floor: 3000, single: 2000, parallel: 6016, syncs: 5000, tokens: 30_000, starts: 15,
		controllers: 2000, idle: 35 * time.Second} // controllers report every 30 s
	short = extent{rounds: 2, floor: 1000, single: 500, parallel: 1024, syncs: 1000, tokens: 5000, starts: 3,
		controllers: 500, idle: 2 * time.Second}
)

// manyInFlight is how many toggles are under way at once in the parallel run.
const manyInFlight = 64

func run(ctx context.Context, out io.Writer, quick, asJSON bool) error {
	dir, err := os.MkdirTemp("", "lintel-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, extent: full, machine: describe(ctx)}
	if quick {
		b.extent = short
	}
	if err := b.measure(ctx); err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return err
	}
	if asJSON {
		return writeJSON(out, b.machine, b.figures)
	}
	return writeTable(out, b.machine, b.figures)
}

// bench is one run.
type bench struct {
	dir     string // temporary; removed at the end
	extent  extent
	machine machine
	lintel  string // path of the built binary
	figures []figure
}

func (b *bench) add(f ...figure) { b.figures = append(b.figures, f...) }

// measure takes all figures, in an order that lets nothing run beside what is measured.
func (b *bench) measure(ctx context.Context) error {
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"building the binary", b.build},
		{"starting with an empty database", b.measureStart},
		{"floors and toggles in turns", b.measureToggles},
		{"token checks", b.measureTokens},
		{"idle controllers", b.measureFleet},
	} {
		fmt.Fprintf(os.Stderr, "bench: %s\n", step.what)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}
