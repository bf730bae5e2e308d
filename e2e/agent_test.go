package e2e

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// agentFiles writes the agent's sample configuration, with lines of a chip that no
// machine has, and credentials.
func agentFiles(t *testing.T) (config, credentialsFile string) {
	t.Helper()
	config = filepath.Join(t.TempDir(), "doors.toml")
	text := strings.ReplaceAll(lintel(t, "agent", "--sample"), "gpiochip0", "gpiochip60000")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	line := `{"controller_id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa","name":"Garage","secret":"ltc_` + strings.Repeat("A", 43) + `","doors":[]}`
	return config, credentials{line: line}.file(t)
}

func TestTheAgentChecksItsConfiguration(t *testing.T) {
	t.Parallel()
	config, own := agentFiles(t)
	if out := lintel(t, "agent", "--config", config, "--check"); out != "the configuration is valid\n" {
		t.Errorf("it said %q", out)
	}
	lintel(t, "agent", "--config", config, "--check", "--broker", "127.0.0.1:1883", "--credentials", own)
	for _, bad := range []struct{ args, says string }{
		{"--check", "--sample"},
		{"--config " + config + "x", "there is no file"},
		{"--config " + config + " --check --broker 192.0.2.1:1883", "in plain text beyond this machine"},
		{"--config " + config + " --broker 127.0.0.1:1883 --credentials " + config + "x", "lintel agent --claim"},
		{"--config " + config + " --credentials " + own, "--broker"},
		{"--config " + own + " --check", "the configuration is not valid"},
	} {
		said := refused(t, invocation{args: append([]string{"agent"}, strings.Fields(bad.args)...)})
		if !strings.Contains(said, bad.says) {
			t.Errorf("%s: it said %s", bad.args, said)
		}
	}
}

// TestTheAgentNeedsItsLines: without them it ends with a sentence, and the service
// manager is not told that it is ready.
func TestTheAgentNeedsItsLines(t *testing.T) {
	t.Parallel()
	config, own := agentFiles(t)
	dir, err := os.MkdirTemp("", "notify") // a short path: sockets have a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := &net.UnixAddr{Name: filepath.Join(dir, "socket"), Net: "unixgram"}
	socket, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	want := "door 1, relay: no such chip gpiochip60000"
	if runtime.GOOS != "linux" {
		want = "on Linux only"
	}
	said := refused(t, invocation{
		args:        []string{"agent", "--config", config, "--credentials", own, "--broker", "127.0.0.1:1883"},
		environment: []string{"NOTIFY_SOCKET=" + address.Name, "WATCHDOG_USEC=1000000"},
	})
	if !strings.Contains(said, want) || strings.Contains(said, "AAAA") {
		t.Errorf("it said %s", said)
	}
	if err := socket.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 100)
	if n, err := socket.Read(message); err == nil {
		t.Errorf("the service manager was told %s", message[:n])
	}
	if said := refused(t, invocation{args: []string{"agent", "--config", config, "--release"}}); !strings.Contains(said, strings.TrimPrefix(want, "door 1, relay: ")) {
		t.Errorf("--release said %s", said)
	}
}
