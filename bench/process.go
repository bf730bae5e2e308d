package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running lintel. Its output goes to a file: a pipe would make this
// process work for every line that the service logs.
type process struct {
	cmd *exec.Cmd
	log string // path of its output
}

// start runs lintel with the arguments. The caller stops it.
func (b *bench) start(ctx context.Context, args ...string) (*process, error) {
	out, err := os.CreateTemp(b.dir, args[0]+"-*.log")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: b.command(ctx, args...), log: out.Name()}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	return p, p.cmd.Start()
}

// output runs lintel to its end and returns what it printed.
func (b *bench) output(ctx context.Context, args ...string) (string, error) {
	cmd := b.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("lintel %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// command is lintel with the arguments and without the caller's options for it.
func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.lintel, args...)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "LINTEL_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	return cmd
}

// stopTime is how long a process may take to end by itself.
const stopTime = 20 * time.Second

// stop ends the process as Ctrl-C does, and by force if it does not go.
func (p *process) stop() error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	timer := time.AfterFunc(stopTime, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", p.cmd.Args[1], err, p.tail())
	}
	return nil
}

// tail returns the end of what the process printed.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// tick is the unit of times in /proc/PID/stat. Linux shows every program 100 a
// second, whatever the kernel's own rate.
const tick = 10 * time.Millisecond

// cpu returns the processor time that the process has used, in user and kernel
// mode, in steps of 10 ms.
func (p *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "stat"))
	if err != nil {
		return 0, err
	}
	return parseCPU(string(text))
}

// parseCPU reads utime and stime, the fields 14 and 15 of proc_pid_stat(5). The
// second field is the program's name in parentheses and may hold anything.
func parseCPU(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields after the name", len(fields))
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err
}

// memory returns the process's resident memory in bytes.
func (p *process) memory() (float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "statm"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, errors.New("/proc/PID/statm is not as proc_pid_statm(5) says")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return float64(pages) * float64(os.Getpagesize()), err
}
