package e2e

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// written writes a configuration file and returns its path.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lintel.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCheck validates and does nothing else.
func TestCheck(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if said := lintel(t, "serve", "--check", "--data", data); said != "the configuration is valid\n" {
		t.Errorf("it says %q", said)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("it made the data directory")
	}
	if said := refused(t, invocation{args: []string{"serve", "--check", "--deadline", "0s"}}); !strings.Contains(said, "--deadline") {
		t.Errorf("a bad deadline: it says %q", said)
	}
	said := refused(t, invocation{args: []string{"serve", "--check", "--tls-cert", data, "--tls-key", data}})
	if !strings.Contains(said, "--tls-cert") {
		t.Errorf("a missing certificate: it says %q", said)
	}
}

// TestSample is a file that loads, as it is and with every line put to use.
func TestSample(t *testing.T) {
	t.Parallel()
	sample := lintel(t, "serve", "--sample")
	used := regexp.MustCompile(`(?m)^# ([a-z_]+ = .*)$`).ReplaceAllString(sample, "$1")
	for _, key := range []string{"http", "mqtt", "data", "database", "tls_cert", "tls_key", "allow_plaintext", "deadline", "hardware_name", "log_level", "mqtt_upstream", "mqtt_upstream_password", "mqtt_upstream_ca"} {
		if !strings.Contains(used, "\n"+key+" = ") {
			t.Errorf("the sample lacks %s", key)
		}
	}
	for _, text := range []string{sample, used} {
		lintel(t, "serve", "--check", "--config", written(t, text))
	}
}

// TestFaultsAreListedAtOnce: nobody corrects a file one message at a time. A
// secret is not among what is shown.
func TestFaultsAreListedAtOnce(t *testing.T) {
	t.Parallel()
	said := refused(t, invocation{
		args:        []string{"serve", "--check", "--mqtt", "nowhere", "--config", written(t, "htpp = \"127.0.0.1:0\"\ndeadline = \"soon\"\nlog_level = 3\n")},
		environment: []string{"LINTEL_HTTP=0.0.0.0:0", "LINTEL_DATABASE=mysql://user:hunter2@host", "LINTEL_TLS_KEY=key.pem"},
	})
	for _, fault := range []string{`"htpp"`, "deadline", "log_level", "--mqtt", "--http", "LINTEL_DATABASE", "--tls-cert"} {
		if !strings.Contains(said, fault) {
			t.Errorf("%s is not named in %q", fault, said)
		}
	}
	if strings.Contains(said, "hunter2") {
		t.Errorf("the secret is shown in %q", said)
	}
}

// TestUnknownKeys are errors in a file, alone as well.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	said := refused(t, invocation{args: []string{"serve", "--check", "--config", written(t, "dead_line = \"5s\"\n")}})
	if !strings.Contains(said, "dead_line") {
		t.Errorf("it says %q", said)
	}
	refused(t, invocation{args: []string{"serve", "--check", "--dead-line", "5s"}})
	refused(t, invocation{args: []string{"serve", "--check", "--config", filepath.Join(t.TempDir(), "missing")}})
	said = refused(t, invocation{args: []string{"serve", "--check"}, environment: []string{"LINTEL_DEAD_LINE=5s"}})
	if !strings.Contains(said, "LINTEL_DEAD_LINE") {
		t.Errorf("an unknown variable: it says %q", said)
	}
}

// TestPrecedence: a flag wins over the environment, and that over the file. Each
// value is wrong, so that the one that counts is named.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	path := written(t, "deadline = \"from the file\"\n")
	rows := []struct {
		invocation
		counts string
	}{
		{invocation{args: []string{"--config", path}}, "from the file"},
		{invocation{environment: []string{"LINTEL_CONFIG=" + path}}, "from the file"},
		{invocation{args: []string{"--config", path}, environment: []string{"LINTEL_DEADLINE=from the environment"}}, "from the environment"},
		{invocation{args: []string{"--config", path, "--deadline", "from the flag"},
			environment: []string{"LINTEL_DEADLINE=from the environment"}}, "from the flag"},
	}
	for _, row := range rows {
		row.args = append([]string{"serve", "--check"}, row.args...)
		if said := refused(t, row.invocation); !strings.Contains(said, row.counts) || strings.Count(said, `"from the `) != 1 {
			t.Errorf("%s does not count alone in %q", row.counts, said)
		}
	}
}

// TestTakenPort is told in one sentence that names the flag to change.
func TestTakenPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken, left := listener.Addr().String(), t.TempDir()
	for _, command := range []string{"serve", "demo"} {
		for flag, other := range map[string]string{"--http": "--mqtt", "--mqtt": "--http"} {
			args := []string{command, flag, taken, other, "127.0.0.1:0"}
			if command == "serve" {
				args = append(args, "--data", t.TempDir())
			}
			said := refused(t, invocation{args: args, environment: []string{"TMPDIR=" + left}})
			if strings.Count(said, "\n") != 1 || !strings.Contains(said, taken+" is already in use") || !strings.Contains(said, flag) {
				t.Errorf("%s: it says %q", strings.Join(args, " "), said)
			}
		}
	}
	if rest, err := os.ReadDir(left); err != nil || len(rest) > 0 {
		t.Errorf("the demo left %v behind (%v)", rest, err)
	}
}

// TestPlainTextStaysOnThisMachine unless the operator says otherwise.
func TestPlainTextStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	for _, beyond := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "lintel.example:0"} {
		for _, flag := range []string{"--http", "--mqtt"} {
			said := refused(t, invocation{args: []string{"serve", "--check", flag, beyond}})
			if !strings.Contains(said, flag) || !strings.Contains(said, "--allow-plaintext") {
				t.Errorf("%s %s: it says %q", flag, beyond, said)
			}
			lintel(t, "serve", "--check", flag, beyond, "--allow-plaintext")
		}
	}
	for _, command := range []string{"serve", "demo"} {
		said := refused(t, invocation{args: []string{command, "--data", t.TempDir(), "--http", "0.0.0.0:0", "--mqtt", "127.0.0.1:0"}})
		if !strings.Contains(said, "--allow-plaintext") {
			t.Errorf("%s: it says %q", command, said)
		}
	}
	for _, here := range []string{"127.0.0.1:0", "127.1.2.3:0", "[::1]:0", "localhost:0"} {
		lintel(t, "serve", "--check", "--http", here, "--mqtt", here)
	}
}
