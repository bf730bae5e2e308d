package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// processors are those of Raspberry Pis, with the emulators that run their programs:
// armv6 as on a Pi Zero, arm64 as on a Pi 3 and later.
var processors = []struct {
	name     string
	emulator []string
}{
	{"armv6", []string{"qemu-arm-static", "-cpu", "arm1176"}},
	{"arm64", []string{"qemu-aarch64-static"}},
}

// TestTheReleaseRunsOnARM: what scripts/release has built. The program does not build
// itself here, so that the time that takes is not taken from the other tests.
func TestTheReleaseRunsOnARM(t *testing.T) {
	for _, p := range processors {
		t.Run(p.name, func(t *testing.T) {
			needTool(t, p.emulator[0], "qemu-user-static")
			program, err := filepath.Abs("../dist/lintel-linux-" + p.name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(program); err != nil && os.Getenv("CI") == "" {
				t.Skip("make release was not run")
			}
			foreign := func(args ...string) *exec.Cmd {
				cmd := exec.Command(p.emulator[0], append(append(p.emulator[1:len(p.emulator):len(p.emulator)], program), args...)...)
				cmd.Env = environment()
				return cmd
			}
			said := func(args ...string) string {
				t.Helper()
				out, err := foreign(args...).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
				}
				return string(out)
			}
			if out := said("--version"); !strings.HasPrefix(out, "lintel version ") {
				t.Errorf("--version: %s", out)
			}
			config := filepath.Join(t.TempDir(), "doors.toml")
			if err := os.WriteFile(config, []byte(said("agent", "--sample")), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := said("agent", "--config", config, "--check"); out != "the configuration is valid\n" {
				t.Errorf("--check: %s", out)
			}
			serves(t, launch(t, foreign("serve", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--data", t.TempDir())))
		})
	}
}

// serves waits until a service without an account prints its link, and ends it.
func serves(t *testing.T, p *process) {
	t.Helper()
	eventually(t, "the service", func() bool { return strings.Contains(p.stderr.String(), "msg=serving") })
	if err := p.interrupt(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
