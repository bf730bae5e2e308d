package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine says what the figures were taken on, and of what.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
	Commit string `json:"commit"`
	Load   string `json:"load"` // processes running or waiting to, on average over the last minute, before the run
}

func describe(ctx context.Context) machine {
	return machine{CPU: cpuModel(), Cores: runtime.NumCPU(), Go: runtime.Version(), Commit: commit(ctx), Load: loadAverage()}
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU (" + runtime.GOARCH + ")"
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// commit names the checked-out commit, and says when files differ from it.
func commit(ctx context.Context) string {
	hash, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "of no commit"
	}
	name := strings.TrimSpace(string(hash))
	changed, err := exec.CommandContext(ctx, "git", "--no-optional-locks", "status", "--porcelain").Output()
	if err != nil || len(changed) > 0 {
		name += " with changes"
	}
	return name
}
