package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// site is a running service and one account's access to it.
type site struct {
	*process
	BaseURL string `json:"base_url"`
	MQTT    string `json:"mqtt_addr"`
	Token   string `json:"access_token"`
	Data    string `json:"-"` // its data directory

	Database string `json:"-"` // its PostgreSQL; empty for SQLite
}

// demo is a running demo house.
type demo struct {
	site
	Other   string `json:"other_access_token"`
	User    struct{ Email, Password string }
	Clients []oauthClient
	Doors   []demoDoor
}

type demoDoor struct {
	DoorID       string `json:"door_id"`
	Name         string `json:"name"`
	HardwareName string `json:"hardware_name"`
	Behaviour    string `json:"behaviour"`
}

// startDemo runs lintel demo --json on free ports.
func startDemo(t *testing.T, args ...string) *demo {
	t.Helper()
	return startDemoIn(t, t.TempDir(), args...)
}

// startDemoIn runs a demo on the data of an earlier one, if there was one.
func startDemoIn(t *testing.T, data string, args ...string) *demo {
	t.Helper()
	arguments := []string{"demo", "--json", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--data", data}
	d := &demo{site: site{process: start(t, append(arguments, args...)...), Data: data}}
	line, err := d.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("demo printed no line: %v\n%s", err, d.stderr)
	}
	if err := json.Unmarshal([]byte(line), d); err != nil {
		t.Fatalf("demo printed %q: %v", line, err)
	}
	return d
}

// door returns the first door with a behaviour. The first that works starts
// closed, the second one open.
func (d *demo) door(behaviour string) demoDoor {
	d.t.Helper()
	return d.doors(behaviour)[0]
}

func (d *demo) doors(behaviour string) []demoDoor {
	d.t.Helper()
	var found []demoDoor
	for _, door := range d.Doors {
		if door.Behaviour == behaviour {
			found = append(found, door)
		}
	}
	if len(found) == 0 {
		d.t.Fatalf("no door with behaviour %s", behaviour)
	}
	return found
}

// house is a service as an operator runs it, with one account.
type house struct {
	site
	Email    string
	Password string
}

var serving = regexp.MustCompile(`msg=serving http=(\S+) mqtt=(\S+)`)

// startServe runs lintel serve on free ports and a data directory of its own.
func startServe(t *testing.T, args ...string) site {
	t.Helper()
	return startServeIn(t, t.TempDir(), args...)
}

func startServeIn(t *testing.T, data string, args ...string) site {
	t.Helper()
	arguments := []string{"serve", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--data", data}
	s := awaitServing(start(t, append(arguments, args...)...), data)
	if i := slices.Index(args, "--database"); i >= 0 {
		s.Database = args[i+1]
	}
	return s
}

// awaitServing waits until a service says where it serves.
func awaitServing(p *process, data string) site {
	p.t.Helper()
	s := site{process: p, Data: data}
	eventually(p.t, "the service to say where it serves", func() bool {
		found := serving.FindStringSubmatch(s.stderr.String())
		if found != nil {
			s.BaseURL, s.MQTT = found[1], found[2]
		}
		return found != nil
	})
	return s
}

// startHouse runs lintel serve and makes an account with a token for everything.
func startHouse(t *testing.T, args ...string) *house {
	t.Helper()
	h := &house{site: startServe(t, args...), Email: "owner@house.example"}
	made := h.addUser(h.Email)
	h.Password = made["password"]
	h.Token = h.createToken(h.Email, "OPENDOOR,CLOSEDOOR,READ").AccessToken
	return h
}

// stored adds to a command where the service keeps its data.
func (s *site) stored(command ...string) []string {
	command = append(command, "--data", s.Data)
	if s.Database != "" {
		command = append(command, "--database", s.Database)
	}
	return command
}

func (s *site) addUser(email string) map[string]string {
	s.t.Helper()
	return parsed[map[string]string](s.t, lintel(s.t, s.stored("user", "add", "--json", "--email", email)...))
}

// madeToken is what lintel token create --json prints.
type madeToken struct {
	ID          string
	AccessToken string `json:"access_token"`
}

func (s *site) createToken(email, scope string, args ...string) madeToken {
	s.t.Helper()
	arguments := s.stored("token", "create", "--json", "--user", email, "--scope", scope)
	return parsed[madeToken](s.t, lintel(s.t, append(arguments, args...)...))
}

// credentials are what lintel controller add --json prints.
type credentials struct {
	ID     string `json:"controller_id"`
	Name   string `json:"name"`
	Secret string `json:"secret"`
	Doors  []struct {
		DoorID string `json:"door_id"`
		Number int    `json:"number"`
	} `json:"doors"`
	line string // as printed
}

// door returns the id of the first door.
func (c credentials) door() string { return c.Doors[0].DoorID }

// file writes the credentials where lintel sim reads them.
func (c credentials) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(path, []byte(c.line), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// addController enrols a controller with one door.
func (s *site) addController(email, name string) credentials {
	s.t.Helper()
	line := lintel(s.t, s.stored("controller", "add", "--json", "--user", email, "--name", name)...)
	made := parsed[credentials](s.t, line)
	made.line = line
	return made
}

// recorded is a command as lintel history --json prints it.
type recorded struct {
	ID          string
	DoorID      string `json:"door_id"`
	Action      string
	RequestedAt time.Time `json:"requested_at"`
	Status      string
	Code        int
	Reason      string
	SettledAt   *time.Time `json:"settled_at"`
	LateCode    int        `json:"late_code"`
	LateReason  string     `json:"late_reason"`
	LateAt      *time.Time `json:"late_at"`
}

// history lists the recorded commands, newest first.
func (s *site) history(args ...string) []recorded {
	s.t.Helper()
	arguments := s.stored("history", "--json", "--limit", "1000000")
	var commands []recorded
	for line := range strings.Lines(lintel(s.t, append(arguments, args...)...)) {
		commands = append(commands, parsed[recorded](s.t, line))
	}
	return commands
}

// record returns one command of the history.
func (s *site) record(id string) recorded {
	s.t.Helper()
	for _, command := range s.history() {
		if command.ID == id {
			return command
		}
	}
	s.t.Fatalf("the history does not hold the command %q", id)
	return recorded{}
}

// change is a door's change as lintel history --events --json prints it.
type change struct {
	Event     string
	Value     string
	Cause     string
	Reason    string
	CommandID string `json:"command_id"`
}

// events lists a door's changes, oldest first.
func (s *site) events(door string) []change {
	s.t.Helper()
	var changes []change
	for line := range strings.Lines(lintel(s.t, s.stored("history", "--json", "--events", "--limit", "1000000", "--door", door)...)) {
		changes = append(changes, parsed[change](s.t, line))
	}
	slices.Reverse(changes)
	return changes
}

// nothingRecorded checks that no request so far was made a command: what is not
// recorded is not sent to a controller either.
func (s *site) nothingRecorded() {
	s.t.Helper()
	for _, command := range s.history() {
		s.t.Errorf("a refused request became the command %+v", command)
	}
}

func parsed[T any](t *testing.T, text string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%q is not what was expected: %v", text, err)
	}
	return value
}
