// Package lintel_test holds the whole tree to its rules: what may import what,
// where a clock may be read, and what the documents must say. A rule that is
// broken for a reason gets an exception here, with the reason beside it.
package lintel_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lintel/config"
	"lintel/protocol"
)

const module = "lintel"

// rule is what a package may import besides the standard library. A package
// imports from lower layers only.
type rule struct {
	layer   int
	own     string // packages of this module; "." is the root
	modules string // modules of others
}

// rules is the import table. ARCHITECTURE.md says in a line what each package is.
var rules = map[string]rule{
	".":        {0, "", ""},
	"door":     {0, "", ""},
	"api":      {0, "", ""},
	"protocol": {0, "", "github.com/go-json-experiment/json"},
	"secret":   {0, "", ""},
	"limit":    {0, "", ""},
	"config":   {0, "", "github.com/pelletier/go-toml/v2"},
	"tcp":      {0, "", "golang.org/x/sys"},

	"access":     {1, ".", ""},
	"client":     {1, "api", ""},
	"account":    {1, ". limit secret", "github.com/go-webauthn/webauthn golang.org/x/crypto golang.org/x/text"},
	"broker":     {1, ". limit tcp", "github.com/mochi-mqtt/server/v2"},
	"controller": {1, "door protocol", "github.com/eclipse/paho.mqtt.golang"},
	"driver":     {1, "door", ""},

	"control":     {2, ". access", ""},
	"store":       {2, ". access", "github.com/pressly/goose/v3"},
	"sim":         {2, "controller door protocol", ""},
	"gpio":        {2, "controller door protocol", "github.com/warthog618/go-gpiocdev"},
	"conformance": {2, ". broker protocol", "github.com/mochi-mqtt/server/v2"},
	"oauth":       {2, ". access limit secret", ""},

	"driver/esphome":    {2, ". door driver", ""},
	"driver/garadget":   {2, ". door driver", ""},
	"driver/opengarage": {2, "door driver", ""},
	"driver/ratgdo":     {2, ". door driver", ""},
	"driver/shelly":     {2, "door driver", ""},
	"driver/tasmota":    {2, "door driver", ""},

	"sim/firmware":   {3, "door sim", "github.com/eclipse/paho.mqtt.golang"},
	"enrol":          {3, ". limit secret store", ""},
	"link":           {3, ". broker control protocol", ""},
	"upstream":       {2, ". driver tcp", "github.com/eclipse/paho.golang"},
	"httpapi":        {4, ". access api control enrol secret store", "github.com/go-json-experiment/json github.com/klauspost/compress"},
	"bridge":         {4, ". broker controller door driver link protocol upstream", ""},
	"web":            {4, ". account limit oauth secret store", ""},
	"store/sqlite":   {3, "store", "github.com/gofrs/flock github.com/pressly/goose/v3 modernc.org/sqlite"},
	"store/postgres": {3, "store", "github.com/jackc/pgx/v5 github.com/pressly/goose/v3"},

	"cmd/lintel": {5, ". account api bridge broker client config conformance control controller door driver driver/esphome driver/garadget driver/opengarage driver/ratgdo driver/shelly driver/tasmota enrol gpio httpapi link oauth protocol secret sim sim/firmware store store/postgres store/sqlite upstream web",
		"github.com/coreos/go-systemd/v22 github.com/gofrs/flock github.com/pelletier/go-toml/v2 github.com/spf13/cobra github.com/spf13/pflag golang.org/x/oauth2 golang.org/x/sys"},
}

// outside are the directories of code that is not part of the service: nothing
// imports them, and they may import what they measure or test.
var outside = []string{"bench", "e2e", "hardwaretest", "storetest"}

// pure are the packages that decide and describe: no I/O, no locks, no logs.
var pure = []string{".", "door", "api", "protocol", "access",
	"driver", "driver/esphome", "driver/garadget", "driver/opengarage", "driver/ratgdo", "driver/shelly", "driver/tasmota"}

// impure is what a pure package does without.
var impure = []string{"context", "database/sql", "io/fs", "log/slog", "net", "net/http", "os", "sync"}

// excepted is what files use although the rules forbid it, with the reason.
var excepted = map[string]string{
	"broker/broker.go time.Now":   "how many lines are logged is all that goes by it",
	"broker/listener.go time.Now": "deadlines of sockets are points of the wall clock, and nothing is decided by them",
}

// file is one parsed Go file.
type file struct {
	name   string // slash-separated, from the module's root
	dir    string
	test   bool
	syntax *ast.File
	set    *token.FileSet
}

func (f file) outside() bool { return slices.Contains(outside, strings.Split(f.dir, "/")[0]) }

// at is where a node is, for messages.
func (f file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.set.Position(n.Pos()).Line)
}

// files parses every Go file of the module.
func files(t *testing.T) []file {
	t.Helper()
	var found []file
	set := token.NewFileSet()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || name == "bin" || name == "dist" || name == "tools"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		syntax, err := parser.ParseFile(set, filepath.FromSlash(name), nil, parser.ParseComments)
		found = append(found, file{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), syntax, set})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 50 {
		t.Fatalf("found %d Go files only", len(found))
	}
	return found
}

func imports(f file) []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

// own returns the directory of an import of this module.
func own(p string) (string, bool) {
	if p == module {
		return ".", true
	}
	return strings.CutPrefix(p, module+"/")
}

// foreign reports whether an import is of somebody else's module.
func foreign(p string) bool {
	_, mine := own(p)
	return !mine && strings.Contains(strings.Split(p, "/")[0], ".")
}

func TestPackagesImportWhatTheTableAllows(t *testing.T) {
	unused := map[string]bool{}
	for dir, r := range rules {
		for _, entry := range strings.Fields(r.own + " " + r.modules) {
			unused[dir+" imports "+entry] = true
		}
		for _, lower := range strings.Fields(r.own) {
			if rules[lower].layer >= r.layer {
				t.Errorf("the table lets %s import %s, which is not in a lower layer", dir, lower)
			}
		}
	}
	for _, f := range files(t) {
		if f.test || f.outside() {
			continue
		}
		r, ok := rules[f.dir]
		if !ok {
			t.Errorf("%s: package %s is not in the table", f.name, f.dir)
			continue
		}
		for _, p := range imports(f) {
			entry, ok := allowed(r, p)
			if !ok {
				t.Errorf("%s imports %s, which the table does not allow", f.name, p)
			}
			delete(unused, f.dir+" imports "+entry)
		}
	}
	for entry := range unused {
		t.Errorf("the table allows what nobody needs: %s", entry)
	}
}

// allowed returns the entry of the table that allows an import; none is needed
// for the standard library.
func allowed(r rule, p string) (entry string, ok bool) {
	if dir, mine := own(p); mine {
		return dir, slices.Contains(strings.Fields(r.own), dir)
	}
	if !foreign(p) {
		return "", p != "testing"
	}
	for _, m := range strings.Fields(r.modules) {
		if p == m || strings.HasPrefix(p, m+"/") {
			return m, true
		}
	}
	return "", false
}

func TestPurePackagesDoNoIO(t *testing.T) {
	for _, f := range files(t) {
		if f.test || !slices.Contains(pure, f.dir) {
			continue
		}
		for _, p := range imports(f) {
			if slices.Contains(impure, p) {
				t.Errorf("%s imports %s: the package decides or describes, and does nothing else", f.name, p)
			}
		}
	}
}

func TestNamesSayWhatAPackageIsFor(t *testing.T) {
	banned := []string{"util", "utils", "common", "helper", "helpers", "models", "types", "misc", "pkg", "shared", "base"}
	for _, f := range files(t) {
		for _, part := range append(strings.Split(f.dir, "/"), f.syntax.Name.Name) {
			if slices.Contains(banned, part) {
				t.Errorf("%s: %q says nothing", f.name, part)
			}
		}
		if strings.Count(f.dir, "/") > 1 {
			t.Errorf("%s: more than two levels of directories", f.name)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range files(t) {
		want := "Package " + f.syntax.Name.Name + " "
		if f.syntax.Name.Name == "main" {
			want = "Command " + path.Base(f.dir) + " "
		}
		key := f.dir + " " + f.syntax.Name.Name
		documented[key] = documented[key] || strings.HasPrefix(f.syntax.Doc.Text(), want)
	}
	for key, ok := range documented {
		if !ok && !strings.HasSuffix(key, "_test") {
			t.Errorf("directory and package %s: no comment that begins with its name", key)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && receiverExported(d) && d.Doc == nil {
					t.Errorf("%s: %s has no comment", f.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if name := undocumented(s, d.Doc); name != "" {
						t.Errorf("%s: %s has no comment", f.at(s), name)
					}
				}
			}
		}
	}
}

func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if index, ok := kind.(*ast.IndexExpr); ok {
		kind = index.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}

func undocumented(s ast.Spec, group *ast.CommentGroup) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && group == nil {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && s.Doc == nil && s.Comment == nil && group == nil {
				return name.Name
			}
		}
	}
	return ""
}

// uses calls found with every mention of pkg.Name in a file.
func uses(f file, found func(n ast.Node, pkg, name string)) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				found(s, x.Name, s.Sel.Name)
			}
		}
		return true
	})
}

func TestClockAndEnvironmentAreReadInOnePlace(t *testing.T) {
	unused := map[string]bool{}
	for exception := range excepted {
		unused[exception] = true
	}
	for _, f := range files(t) {
		free := f.test || f.outside() || strings.HasPrefix(f.dir, "cmd/")
		uses(f, func(n ast.Node, pkg, name string) {
			mention := pkg + "." + name
			advice := ""
			switch mention {
			case "time.Now", "time.Since", "time.Until":
				if !free {
					advice = "take a clock or a time as an argument"
				}
			case "os.Getenv", "os.LookupEnv", "os.Environ":
				if !free {
					advice = "only cmd reads the environment"
				}
			case "time.Sleep":
				if f.test {
					advice = "a test waits for an event, not for time"
				}
			}
			exception := f.name + " " + mention
			if advice != "" && excepted[exception] == "" {
				t.Errorf("%s: %s: %s", f.at(n), mention, advice)
			}
			if advice != "" {
				delete(unused, exception)
			}
		})
	}
	for exception := range unused {
		t.Errorf("the exception for %s is no longer needed", exception)
	}
}

func TestNothingHappensBeforeMain(t *testing.T) {
	for _, f := range files(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: an init function; call it where it is needed", f.at(fn))
			}
		}
	}
}

// TestOnePlaceForEach: what must not happen in two places happens in one.
func TestOnePlaceForEach(t *testing.T) {
	places := map[string][]string{
		"RecordCommand": {"control/control.go"},                                              // no command without a record
		"Actuate":       {"controller/doors.go", "bridge/unit.go", "sim/firmware/opener.go"}, // the second translates what the first decided; the third is the device that obeys
		"WriteHeader":   {"httpapi/v1.go", "oauth/http.go", "web/answer.go"},                 // in each front, one place writes answers
	}
	for _, f := range files(t) {
		if f.test || f.outside() {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if allowed, ok := places[s.Sel.Name]; ok && !slices.Contains(allowed, f.name) {
					t.Errorf("%s calls %s; only %s may", f.at(call), s.Sel.Name, strings.Join(allowed, ", "))
				}
			}
			return true
		})
	}
}

// read returns a document.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns a document's part from a heading to the next of its level or above.
func section(t *testing.T, document, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(document, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	level := len(heading) - len(strings.TrimLeft(heading, "#"))
	if end := regexp.MustCompile(fmt.Sprintf(`(?m)^#{1,%d} `, level)).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// rows returns the rows of the tables in a text by their first cell, without its quotes.
func rows(text string) map[string]string {
	found := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.HasPrefix(line, "|-") {
			continue
		}
		found[strings.Trim(cells[1], " `")] = line
	}
	return found
}

// messages are the messages of the controller protocol by their headings in the document.
var messages = map[string]struct {
	value  any
	decode func(payload []byte) error
}{
	"### hello":        {protocol.Hello{}, decode[protocol.Hello]},
	"### cmd":          {protocol.Command{}, decode[protocol.Command]},
	"### ack":          {protocol.Ack{}, decode[protocol.Ack]},
	"### state":        {protocol.State{}, decode[protocol.State]},
	"### time/request": {protocol.TimeRequest{}, decode[protocol.TimeRequest]},
	"### time":         {protocol.Time{}, decode[protocol.Time]},
	"### will":         {protocol.Will{}, decode[protocol.Will]},
}

func decode[M any, P interface {
	*M
	protocol.Message
}](payload []byte) error {
	_, err := protocol.Decode[M, P](payload)
	return err
}

const protocolDocument = "docs/controller-protocol.md"

func TestProtocolDocumentNamesEveryField(t *testing.T) {
	document := read(t, protocolDocument)
	example := regexp.MustCompile("(?s)```json\n(.*?)```")
	for heading, m := range messages {
		text := section(t, document, heading)
		documented := rows(text)
		for i := range reflect.TypeOf(m.value).NumField() {
			name, options, _ := strings.Cut(reflect.TypeOf(m.value).Field(i).Tag.Get("json"), ",")
			required := "| yes |"
			if options == "omitempty" {
				required = "| no |"
			}
			if row, ok := documented[name]; !ok || !strings.Contains(row, required) {
				t.Errorf("%s: no row for %s that says %q", heading, name, required)
			}
			delete(documented, name)
		}
		delete(documented, "Field")
		for name := range documented {
			t.Errorf("%s: a row for %q, which the message does not have", heading, name)
		}
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) == 0 {
			t.Errorf("%s: no example", heading)
		}
		for _, e := range examples {
			if err := m.decode([]byte(e[1])); err != nil {
				t.Errorf("%s: the example %s is refused: %v", heading, e[1], err)
			}
		}
	}
}

// constants returns the string and integer constants of a package whose names
// begin with the prefix, as written in the source.
func constants(t *testing.T, dir, prefix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, f := range files(t) {
		if f.dir != dir || f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			s, ok := n.(*ast.ValueSpec)
			if !ok || len(s.Values) != 1 || !strings.HasPrefix(s.Names[0].Name, prefix) {
				return true
			}
			if literal, ok := s.Values[0].(*ast.BasicLit); ok {
				found[s.Names[0].Name] = strings.Trim(literal.Value, `"`)
			}
			return true
		})
	}
	if len(found) < 3 {
		t.Fatalf("%s: %d constants %s...", dir, len(found), prefix)
	}
	return found
}

func TestProtocolDocumentNamesEveryTopicReasonAndLimit(t *testing.T) {
	document := read(t, protocolDocument)
	topics := rows(section(t, document, "## Topics"))
	for constant, name := range constants(t, "protocol", "Topic") {
		if !strings.Contains(topics[protocol.Topic("<controller>", name)], "|") {
			t.Errorf("%s: no row for topic %s", constant, protocol.Topic("<controller>", name))
		}
	}
	codes := section(t, document, "## Answer codes")
	for constant, code := range constants(t, "protocol", "Code") {
		if !strings.Contains(codes, "| "+code+" |") {
			t.Errorf("%s: no row for code %s", constant, code)
		}
	}
	reasons := rows(section(t, document, "## Reasons"))
	for _, from := range [][2]string{{"protocol", "Reason"}, {"door", "Refuse"}} {
		for constant, reason := range constants(t, from[0], from[1]) {
			if reasons[reason] == "" {
				t.Errorf("%s: no row for reason %s", constant, reason)
			}
		}
	}
	limits := section(t, document, "## Limits")
	for name, value := range map[string]any{
		"MaxPayload": protocol.MaxPayload, "MaxDoors": protocol.MaxDoors, "MaxLead": protocol.MaxLead, "KeepAlive": protocol.KeepAlive,
		"ReportEvery": protocol.ReportEvery, "TimeEvery": protocol.TimeEvery, "MaxTimeAge": protocol.MaxTimeAge, "MaxExchange": protocol.MaxExchange,
	} {
		text := fmt.Sprint(value)
		if d, ok := value.(time.Duration); ok {
			text = fmt.Sprintf("%d s", int(d.Seconds()))
		}
		if row := rows(limits)[name]; !strings.Contains(row, "| "+text+" ") {
			t.Errorf("the row of %s in the limits does not say %s: %s", name, text, row)
		}
	}
}

func TestOperatingDocumentListsEveryOption(t *testing.T) {
	listed := rows(section(t, read(t, "docs/operating.md"), "## Options"))
	delete(listed, "Flag")
	for _, o := range config.Options() {
		value := "(empty)"
		if o.Default != "" {
			value = "`" + o.Default + "`"
		}
		want := fmt.Sprintf("| `--%s` | `%s` | `%s` | %s | %s |", o.Name, o.Env(), o.Key(), value, o.Usage)
		if listed["--"+o.Name] != want {
			t.Errorf("docs/operating.md must say\n%s\nand says\n%s", want, listed["--"+o.Name])
		}
		delete(listed, "--"+o.Name)
	}
	for name := range listed {
		t.Errorf("docs/operating.md lists %q, which is no option", name)
	}
}

// documents returns every Markdown file of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md"} {
		names, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no documents (%v)", pattern, err)
		}
		found = append(found, names...)
	}
	return found
}

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	for _, name := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(read(t, name), -1) {
			if strings.Contains(found[1], ":") {
				continue // another site
			}
			target := filepath.Join(filepath.Dir(name), filepath.FromSlash(found[1]))
			if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s links to %s, which does not exist", name, found[1])
			}
		}
	}
}

func TestDecisionsAreNumberedAndComplete(t *testing.T) {
	names, err := filepath.Glob(filepath.FromSlash("docs/adr/0*.md"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no decisions (%v)", err)
	}
	for i, name := range names {
		text := read(t, name)
		if want := fmt.Sprintf("# %04d: ", i+1); !strings.HasPrefix(text, want) || !strings.HasPrefix(filepath.Base(name), want[2:6]+"-") {
			t.Errorf("%s: neither its name nor its heading may be other than number %04d", name, i+1)
		}
		for _, heading := range []string{"## Context", "## Decision", "## Measurements", "## Consequences"} {
			section(t, text, heading)
		}
		if !regexp.MustCompile(`(?m)^Status: (accepted|superseded by \d{4})$`).MatchString(text) {
			t.Errorf("%s: no status", name)
		}
		if !strings.Contains(read(t, "docs/adr/README.md"), "("+filepath.Base(name)+")") {
			t.Errorf("%s is not in docs/adr/README.md", name)
		}
	}
}

// TestDocumentsNameTestsThatExist: what a document says is tested by name, is.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	exists := map[string]bool{}
	for _, f := range files(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test {
				exists[fn.Name.Name] = true
			}
		}
	}
	mention := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")
	for _, name := range documents(t) {
		for _, found := range mention.FindAllStringSubmatch(read(t, name), -1) {
			if !exists[found[1]] {
				t.Errorf("%s names %s, which does not exist", name, found[1])
			}
		}
	}
}
