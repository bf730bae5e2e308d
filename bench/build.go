package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// build builds the binary as a release does, and measures its size.
func (b *bench) build(ctx context.Context) error {
	b.lintel = filepath.Join(b.dir, "lintel")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.lintel, "lintel/cmd/lintel")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	info, err := os.Stat(b.lintel)
	if err != nil {
		return err
	}
	b.add(figure{
		Name: "binary", Value: float64(info.Size()) / 1e6, Unit: "MB", Budget: 45,
		Note: "Binary: CGO_ENABLED=0 go build -trimpath -ldflags '-s -w'.",
	})
	return nil
}
