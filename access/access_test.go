package access_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/access"
)

var now = time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)

// roles are who asks, by what the token carries.
var roles = map[string]func() *access.Subject{
	"nobody":           func() *access.Subject { return nil },
	"stranger":         func() *access.Subject { return bearer("stranger", open|shut|read) },
	"owner":            func() *access.Subject { return bearer("owner", open|shut|read) },
	"owner,open+close": func() *access.Subject { return bearer("owner", open|shut) },
	"owner,open":       func() *access.Subject { return bearer("owner", open) },
	"owner,close":      func() *access.Subject { return bearer("owner", shut) },
	"owner,read":       func() *access.Subject { return bearer("owner", read) },
	"owner,open+read":  func() *access.Subject { return bearer("owner", open|read) },
	"owner,close+read": func() *access.Subject { return bearer("owner", shut|read) },
	"owner,none":       func() *access.Subject { return bearer("owner", 0) },
}

const (
	open = lintel.ScopeOpen
	shut = lintel.ScopeClose
	read = lintel.ScopeRead
)

func bearer(person lintel.ID, scopes lintel.Scope) *access.Subject {
	return &access.Subject{TokenID: "token", PersonID: person, Scopes: scopes, ExpiresAt: now.Add(time.Hour)}
}

// circumstances are the columns of the tables below.
var circumstances = []struct {
	name   string
	change func(s *access.Subject, t **access.Target)
}{
	{"usual", func(*access.Subject, **access.Target) {}},
	{"lastms", func(s *access.Subject, _ **access.Target) { s.ExpiresAt = now.Add(time.Millisecond) }},
	{"expires", func(s *access.Subject, _ **access.Target) { s.ExpiresAt = now }},
	{"expired", func(s *access.Subject, _ **access.Target) { s.ExpiresAt = now.Add(-time.Hour) }},
	{"revoked", func(s *access.Subject, _ **access.Target) { s.Revoked = true }},
	{"disabled", func(s *access.Subject, _ **access.Target) { s.Disabled = true }},
	{"nodoor", func(_ *access.Subject, t **access.Target) { *t = nil }},
	{"gone", func(_ *access.Subject, t **access.Target) { (*t).Revoked = true }},
}

// The decisions: yes, or the code of the refusal as its HTTP status.
var tables = map[lintel.Action]string{
	lintel.ActionOpen: `
		                  usual lastms expires expired revoked disabled nodoor gone
		nobody            401   401    401     401     401     401      401    401
		stranger          404   404    401     401     401     401      404    404
		owner             yes   yes    401     401     401     401      404    404
		owner,open+close  yes   yes    401     401     401     401      404    404
		owner,open        yes   yes    401     401     401     401      404    404
		owner,close       403   403    401     401     401     401      403    403
		owner,read        403   403    401     401     401     401      403    403
		owner,open+read   yes   yes    401     401     401     401      404    404
		owner,close+read  403   403    401     401     401     401      403    403
		owner,none        403   403    401     401     401     401      403    403`,
	lintel.ActionClose: `
		                  usual lastms expires expired revoked disabled nodoor gone
		nobody            401   401    401     401     401     401      401    401
		stranger          404   404    401     401     401     401      404    404
		owner             yes   yes    401     401     401     401      404    404
		owner,open+close  yes   yes    401     401     401     401      404    404
		owner,open        403   403    401     401     401     401      403    403
		owner,close       yes   yes    401     401     401     401      404    404
		owner,read        403   403    401     401     401     401      403    403
		owner,open+read   403   403    401     401     401     401      403    403
		owner,close+read  yes   yes    401     401     401     401      404    404
		owner,none        403   403    401     401     401     401      403    403`,
	lintel.ActionStop: `
		                  usual lastms expires expired revoked disabled nodoor gone
		nobody            401   401    401     401     401     401      401    401
		stranger          404   404    401     401     401     401      404    404
		owner             yes   yes    401     401     401     401      404    404
		owner,open+close  yes   yes    401     401     401     401      404    404
		owner,open        403   403    401     401     401     401      403    403
		owner,close       403   403    401     401     401     401      403    403
		owner,read        403   403    401     401     401     401      403    403
		owner,open+read   403   403    401     401     401     401      403    403
		owner,close+read  403   403    401     401     401     401      403    403
		owner,none        403   403    401     401     401     401      403    403`,
}

// list is the same for the list of doors, which no door is needed for.
const list = `
		                  usual lastms expires expired revoked disabled nodoor gone
		nobody            401   401    401     401     401     401      401    401
		stranger          yes   yes    401     401     401     401      yes    yes
		owner             yes   yes    401     401     401     401      yes    yes
		owner,open+close  403   403    401     401     401     401      403    403
		owner,open        403   403    401     401     401     401      403    403
		owner,close       403   403    401     401     401     401      403    403
		owner,read        yes   yes    401     401     401     401      yes    yes
		owner,open+read   yes   yes    401     401     401     401      yes    yes
		owner,close+read  yes   yes    401     401     401     401      yes    yes
		owner,none        403   403    401     401     401     401      403    403`

var codes = map[string]lintel.Code{
	"yes": "", "401": lintel.CodeUnauthenticated, "403": lintel.CodeForbidden, "404": lintel.CodeNotFound,
}

// cells reads a table, and fails unless it has each role and circumstance once.
func cells(t *testing.T, table string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for i, name := range strings.Fields(lines[0]) {
		if circumstances[i].name != name {
			t.Fatalf("column %d is %q instead of %q", i, name, circumstances[i].name)
		}
	}
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		if rows[fields[0]] != nil || roles[fields[0]] == nil || len(fields) != len(circumstances)+1 {
			t.Fatalf("row %q is there twice, unknown or not complete", fields[0])
		}
		rows[fields[0]] = fields[1:]
	}
	if len(rows) != len(roles) {
		t.Fatalf("%d rows for %d roles", len(rows), len(roles))
	}
	return rows
}

// decide puts a role into a circumstance and asks.
func decide(role string, circumstance int, ask func(*access.Subject, *access.Target) error) error {
	s := roles[role]()
	target := &access.Target{DoorID: "door", DoorNumber: 1, ControllerID: "controller", OwnerID: "owner"}
	given := s
	if given == nil {
		given = &access.Subject{} // so that the circumstance has something to change
	}
	circumstances[circumstance].change(given, &target)
	return ask(s, target)
}

func checkTable(t *testing.T, table string, ask func(*access.Subject, *access.Target) error) {
	t.Helper()
	for role, row := range cells(t, table) {
		for i, want := range row {
			code, known := codes[want]
			if !known {
				t.Fatalf("%q is no decision", want)
			}
			if got := lintel.CodeOf(decide(role, i, ask)); got != code {
				t.Errorf("%s, %s: code %q instead of %q", role, circumstances[i].name, got, want)
			}
		}
	}
}

func TestMove(t *testing.T) {
	for action, table := range tables {
		t.Run(string(action), func(t *testing.T) {
			checkTable(t, table, func(s *access.Subject, target *access.Target) error {
				return access.Move(s, target, action, now)
			})
		})
	}
}

func TestList(t *testing.T) {
	checkTable(t, list, func(s *access.Subject, _ *access.Target) error { return access.List(s, now) })
}

// TestAnActionThatIsNoneNeedsAllRights is for an action somebody adds and forgets here.
func TestAnActionThatIsNoneNeedsAllRights(t *testing.T) {
	if got := access.ScopeFor("fly"); got != open|shut {
		t.Errorf("an unknown action needs %q", got)
	}
}

// TestRefusalsDoNotTellWhy holds that what a stranger may not know gives one
// and the same answer: why a token is not good, and whether a door exists.
func TestRefusalsDoNotTellWhy(t *testing.T) {
	refusals := map[lintel.Code]error{}
	for role := range roles {
		for i := range circumstances {
			err := decide(role, i, func(s *access.Subject, target *access.Target) error {
				return access.Move(s, target, lintel.ActionOpen, now)
			})
			code := lintel.CodeOf(err)
			if first, ok := refusals[code]; ok && !reflect.DeepEqual(first, err) {
				t.Errorf("%s, %s: %v is not %v", role, circumstances[i].name, err, first)
			}
			refusals[code] = err
		}
	}
}
