package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// logIn runs lintel login against the service itself, as the person and as the
// terminal.
func (d *demo) logIn(p person) {
	d.t.Helper()
	cmd := exec.Command(binary, "login", "--server", d.BaseURL, "--json")
	cmd.Env = environment("XDG_CONFIG_HOME=" + p.home)
	login := launch(d.t, cmd)
	line, err := login.stdout.ReadString('\n')
	if err != nil {
		d.t.Fatalf("login printed nothing: %v\n%s", err, login.stderr)
	}
	started := parsed[struct {
		Complete string `json:"verification_uri_complete"`
	}](d.t, line)
	page := d.consent(newVisitor(d.t, d.BaseURL), started.Complete)
	page = page.submit(page.form("user_code"))
	if !strings.Contains(page.Text, "Lintel command line") {
		d.t.Errorf("the page does not say who asks:\n%s", page.Text)
	}
	page.submit(page.form("decision"), "decision", "allow")
	if err := login.wait(); err != nil {
		d.t.Fatalf("login ended with %v\n%s", err, login.stderr)
	}
}

// TestCommandLineAtTheService signs in, lists, opens and closes doors, refreshes
// from many processes at once, and signs out.
func TestCommandLineAtTheService(t *testing.T) {
	t.Parallel()
	d, p := startDemo(t), newPerson(t)
	d.logIn(p)
	if out, _ := p.expect(0, "doors"); !strings.Contains(out, "Left door") {
		t.Errorf("the doors are:\n%s", out)
	}
	if _, progress := p.expect(0, "open", "left", "--wait"); !strings.Contains(progress, "opening") {
		t.Errorf("no progress: %s", progress)
	}
	d.awaitDoor(d.door("works").DoorID, "open/sensor/true/OPEN")
	p.expect(0, "close", d.door("works").DoorID, "--wait")
	d.awaitDoor(d.door("works").DoorID, "closed/sensor/true/CLOSED")
	for behaviour, code := range map[string]int{"offline": 5, "sensor_lost": 6, "unsupported": 6, "auth_error": 6} {
		p.expect(code, "open", d.door(behaviour).Name)
	}
	p.expect(4, "open", "no such door")
	p.expect(4, "open", "o") // of many

	text, err := os.ReadFile(p.file())
	if err != nil {
		t.Fatal(err)
	}
	stale := regexp.MustCompile(`"expires_at": *"[^"]*"`).ReplaceAllString(string(text), `"expires_at": "2020-01-01T00:00:00Z"`)
	if err := os.WriteFile(p.file(), []byte(stale), 0o600); err != nil || stale == string(text) {
		t.Fatalf("the tokens were not made stale (%v)", err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code, out, stderr := p.attempt("doors"); code != 0 {
				t.Errorf("exit code %d: %s%s", code, out, stderr)
			}
		})
	}
	all.Wait()

	token := regexp.MustCompile(`"access_token": *"([^"]*)"`)
	text, err = os.ReadFile(p.file())
	if err != nil {
		t.Fatal(err)
	}
	access := token.FindStringSubmatch(string(text))[1]
	if r := do(t, "POST", d.BaseURL+syncPath, access, ""); r.Status != http.StatusOK {
		t.Errorf("sync with the refreshed token: %d", r.Status)
	}
	p.expect(0, "logout")
	if r := do(t, "POST", d.BaseURL+syncPath, access, ""); r.Status != http.StatusUnauthorized {
		t.Errorf("sync after logout: %d", r.Status)
	}
	p.expect(3, "doors")
}

// TestEveryCommandPrintsJSON walks through all commands: each that says anything
// takes --json.
func TestEveryCommandPrintsJSON(t *testing.T) {
	t.Parallel()
	// These print what is no data: a log, a shell's script, help, a question answered.
	spared := map[string]bool{"serve": true, "sim": true, "completion": true, "help": true}
	var walk func(path []string)
	walk = func(path []string) {
		help := lintel(t, append(path, "--help")...)
		_, list, group := strings.Cut(help, "Available Commands:\n")
		if !group {
			if !strings.Contains(help, "--json") {
				t.Errorf("lintel %s has no --json", strings.Join(path, " "))
			}
			return
		}
		list, _, _ = strings.Cut(list, "\n\n")
		for _, line := range strings.Split(list, "\n") {
			if name := strings.Fields(line); len(name) > 0 && !spared[name[0]] {
				walk(append(append([]string{}, path...), name[0]))
			}
		}
	}
	walk(nil)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := lintel(t, "completion", shell); !strings.Contains(out, "lintel") {
			t.Errorf("no completion for %s: %s", shell, fmt.Sprint(out))
		}
	}
}
