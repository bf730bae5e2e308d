package e2e

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// judged is a line of lintel conformance --json.
type judged struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Seen    string `json:"seen"`
}

// junit is a file for CI systems.
type junit struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// conformance runs the kit against one simulated controller with one door.
func conformance(t *testing.T, args ...string) (exitCode int, results map[string]judged, file junit) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junit.xml")
	kit := start(t, append([]string{"conformance", "--broker", "127.0.0.1:0", "--json", "--quick", "--junit", path}, args...)...)
	line, err := kit.stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var peer struct {
		credentials
		Broker string `json:"broker"`
	}
	if err := json.Unmarshal([]byte(line), &peer); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	peer.line = line
	start(t, "sim", "--broker", peer.Broker, "--credentials", peer.file(t), "--travel", "100ms")
	results = map[string]judged{}
	for lines := json.NewDecoder(kit.stdout); lines.More(); {
		var r judged
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		results[r.Rule] = r
	}
	if exit, ok := errors.AsType[*exec.ExitError](kit.wait()); ok {
		exitCode = exit.ExitCode()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &file); err != nil || len(file.Suites) != 1 || len(file.Suites[0].Cases) != len(results) {
		t.Fatalf("%d results, %v, and the file says\n%s", len(results), err, text)
	}
	return exitCode, results, file
}

// TestTheSimulatorConforms over TCP, door movements included.
func TestTheSimulatorConforms(t *testing.T) {
	t.Parallel()
	exitCode, results, file := conformance(t, "--move")
	if exitCode != 0 || len(results) < 40 {
		t.Errorf("exit code %d, %d results", exitCode, len(results))
	}
	slow := map[string]bool{"report-interval": true, "time-interval": true}
	for name, r := range results {
		if r.Outcome == "fail" || r.Outcome == "skip" != slow[name] {
			t.Errorf("%+v", r)
		}
	}
	if s := file.Suites[0]; s.Tests != len(results) || s.Failures != 0 || s.Skipped != len(slow) {
		t.Errorf("the file says %+v", s)
	}
}

// TestANonconformingControllerIsFound: its hello lacks the door that is asked for.
func TestANonconformingControllerIsFound(t *testing.T) {
	t.Parallel()
	exitCode, results, file := conformance(t, "--door", "2")
	if exitCode != 1 || results["hello"].Outcome != "fail" || !strings.Contains(results["hello"].Seen, "door 2") {
		t.Errorf("exit code %d, %+v", exitCode, results["hello"])
	}
	for _, c := range file.Suites[0].Cases {
		if (c.Failure != nil) != (results[c.Name].Outcome == "fail") || (c.Skipped != nil) != (results[c.Name].Outcome == "skip") {
			t.Errorf("the file has another outcome for %s than %s", c.Name, results[c.Name].Outcome)
		}
	}
}

// TestConformanceWithoutAController ends, and says that none came. A secret that was
// given is not printed.
func TestConformanceWithoutAController(t *testing.T) {
	t.Parallel()
	secret := "ltc_" + strings.Repeat("A", 43)
	out, said, err := invocation{
		args:  []string{"conformance", "--broker", "127.0.0.1:0", "--secret-stdin", "--timeout", "100ms"},
		stdin: secret + "\n",
	}.run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v: %s", err, said)
	}
	if !strings.Contains(out, "no CONNECT within 100ms") || strings.Contains(out+said, secret) {
		t.Errorf("it said\n%s%s", out, said)
	}
	refused(t, invocation{args: []string{"conformance", "--broker", "127.0.0.1:0", "--secret-stdin"}, stdin: "short"})
	refused(t, invocation{args: []string{"conformance", "--controller", "AAAA"}})
	refused(t, invocation{args: []string{"conformance", "--door", "33"}})
}
