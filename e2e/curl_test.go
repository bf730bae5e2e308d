package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPrintedCommands pastes what lintel demo prints for a person into a shell.
func TestPrintedCommands(t *testing.T) {
	t.Parallel()
	needTool(t, "curl", "curl")
	p := start(t, "demo", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0")
	text, commands := p.printed(3)
	for _, what := range []string{"  address   http://127.0.0.1:", "  account   demo@", "  password  ", "  token     lta_", "  data      " + temporary} {
		if !strings.Contains(text, what) {
			t.Errorf("the output lacks %q:\n%s", what, text)
		}
	}
	said := make([]string, len(commands))
	for i, command := range commands {
		shell := exec.CommandContext(t.Context(), "sh", "-c", command)
		shell.Env = environment()
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v: %s", command, err, out)
		}
		said[i] = string(out)
	}
	if devices := parsed[struct{ Devices []listedDevice }](t, said[0]).Devices; len(devices) != 8 {
		t.Errorf("the first lists %d devices, want 8: %s", len(devices), said[0])
	}
	if message := parsed[envelope](t, said[1]).Message; message != "200" {
		t.Errorf("the second says %q, want 200", message)
	}
	if message := parsed[envelope](t, said[2]).Message; message != "Boathouse requires pairing a door sensor before the request can be processed (428)" {
		t.Errorf("the third says %q, want the text of 428", message)
	}
}

// printed reads what is printed up to so many curl commands.
func (p *process) printed(count int) (text string, commands []string) {
	p.t.Helper()
	for command := ""; len(commands) < count; {
		line, err := p.stdout.ReadString('\n')
		if err != nil {
			p.t.Fatalf("%d curl commands are printed, want %d: %v\n%s%s", len(commands), count, err, text, p.stderr)
		}
		text += line
		if command == "" && !strings.HasPrefix(line, "curl ") {
			continue
		}
		command += line
		if !strings.HasSuffix(line, "\\\n") { // the command's last line
			commands, command = append(commands, command), ""
		}
	}
	return text, commands
}
