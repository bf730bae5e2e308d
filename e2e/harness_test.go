// Package e2e tests the built binary from the outside: real HTTP, real MQTT over
// TCP, a real database file. It imports nothing of Lintel, so that it sees what
// a stranger's program sees.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	binary    string // the built lintel
	temporary string // where it puts temporary files
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lintel-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, temporary = filepath.Join(dir, "lintel"), dir
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/lintel").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// watchSources looks at every source of the program, so that results which go test
// keeps are not taken for those of another program: it knows which files a test has
// looked at once the tests run, and not what the compiler reads on their behalf.
var watchSources = sync.OnceValue(func() error {
	return filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
})

// environment is the test's own without the service's variables. What a killed
// process leaves in the temporary directory goes with the suite's.
func environment(more ...string) []string {
	if err := watchSources(); err != nil {
		panic(err) // the sources are there: they were just compiled
	}
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "LINTEL_") && !strings.HasPrefix(pair, "TMPDIR=") {
			env = append(env, pair)
		}
	}
	return append(append(env, "TMPDIR="+temporary), more...)
}

// process is a running program.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *lockedBuffer
	once   sync.Once
	err    error // of Wait
}

// lockedBuffer collects output that is read while it grows.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs lintel until the test ends, at the latest.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = environment()
	return launch(t, cmd)
}

// launch runs a program until the test ends, at the latest.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, stderr: &lockedBuffer{}}
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s, standard error:\n%s", strings.Join(cmd.Args, " "), p.stderr)
		}
	})
	return p
}

// kill ends the process with kill -9 and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.wait()
}

// interrupt ends the process as Ctrl-C does and returns how it ended.
func (p *process) interrupt() error {
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	return p.wait()
}

func (p *process) wait() error {
	p.once.Do(func() {
		_, _ = io.Copy(io.Discard, p.stdout)
		p.err = p.cmd.Wait()
	})
	return p.err
}

// interruptAndRead ends the process as Ctrl-C does and returns what was left of
// its output.
func (p *process) interruptAndRead() string {
	p.t.Helper()
	var rest bytes.Buffer
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	_, _ = rest.ReadFrom(p.stdout)
	_ = p.wait()
	return rest.String()
}

// invocation is a lintel command that is run to its end.
type invocation struct {
	args        []string
	stdin       string
	environment []string
}

// run ends a command that does not end by itself, such as a service that should
// have refused to start.
func (i invocation) run() (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, i.args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(i.stdin), &out, &errs
	cmd.Env = environment(i.environment...)
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// try runs a command to its end.
func try(args ...string) (stdout, stderr string, err error) {
	return invocation{args: args}.run()
}

// lintel runs a command that must succeed, and returns its standard output.
func lintel(t *testing.T, args ...string) string {
	t.Helper()
	out, stderr, err := try(args...)
	if err != nil {
		t.Fatalf("lintel %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return out
}

// refused runs a command that must fail, and returns what it says about that.
func refused(t *testing.T, i invocation) string {
	t.Helper()
	out, stderr, err := i.run()
	if exit, exited := errors.AsType[*exec.ExitError](err); !exited || exit.ExitCode() != 1 {
		t.Fatalf("lintel %s did not refuse (%v):\n%s%s", strings.Join(i.args, " "), err, out, stderr)
	}
	return stderr
}

// patience is how long a test waits for what happens in another process before
// it calls it missing.
const patience = 30 * time.Second

// eventually waits until done says true, for what happens in another process.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %s for: %s", patience, what)
		}
	}
}

// receive takes the next value from a channel that another goroutine fills.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatalf("waited %s for: %s", patience, what)
	}
	panic("unreachable")
}

// found returns the path of a program, also of one for administrators; empty for none.
func found(name string) string {
	for _, candidate := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	return ""
}

// needTool skips where a foreign peer is not installed; in CI it must be.
func needTool(t *testing.T, name, debianPackage string) {
	t.Helper()
	if found(name) != "" {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed (Debian package %s)", name, debianPackage)
	}
	t.Skipf("%s is not installed (Debian package %s)", name, debianPackage)
}

// lacking skips what this machine does not allow; CI must.
func lacking(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
