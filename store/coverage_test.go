package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lintel/store"
	"lintel/store/sqlite"
	"lintel/storetest"
)

// TestTheSuiteRunsEverySQLText runs the conformance suite on an engine that
// notes what it is given, and looks for every SQL text of this package in that.
// What the suite does not run is not known to work on both engines.
func TestTheSuiteRunsEverySQLText(t *testing.T) {
	notes := &notes{}
	storetest.Exercise(t, notes.open)
	ran := strings.Join(notes.texts, "\n")
	texts := sqlTexts(t)
	for text, where := range texts {
		if !strings.Contains(ran, text) {
			t.Errorf("%s: not run by the suite: %s", where, text)
		}
	}
	if len(texts) < 20 {
		t.Errorf("only %d SQL texts were found in this package", len(texts))
	}
}

// notes are the texts that were prepared on any connection.
type notes struct {
	mu    sync.Mutex // guards texts
	texts []string
}

func (n *notes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
}

// notingConnector opens SQLite's connections, with notes.
type notingConnector struct {
	sqliteDriver driver.Driver
	name         string
	notes        *notes
}

func (c notingConnector) Driver() driver.Driver { return c.sqliteDriver }

func (c notingConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.sqliteDriver.Open(c.name)
	return notingConn{conn, c.notes}, err
}

// notingConn hides what the real connection can do without preparing.
type notingConn struct {
	driver.Conn
	notes *notes
}

func (c notingConn) Prepare(query string) (driver.Stmt, error) {
	c.notes.add(query)
	return c.Conn.Prepare(query)
}

// noting is the plainest engine there could be.
type noting struct {
	db     *sql.DB
	engine *sqlite.DB // for what is only asked
}

func (n *notes) open(t *testing.T) store.Engine {
	t.Helper()
	dir := t.TempDir()
	engine, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "lintel.db") + "?_txlock=immediate&_dqs=0&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"
	connector := notingConnector{sqliteDriver: engine.Reader().Driver(), name: name, notes: n}
	return noting{sql.OpenDB(connector), engine}
}

func (n noting) Write(ctx context.Context, fn func(tx store.Tx) error) error {
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of no effect after a commit
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (n noting) Reader() *sql.DB         { return n.db }
func (n noting) IsUnique(err error) bool { return n.engine.IsUnique(err) }

func (n noting) Close() error {
	if err := n.db.Close(); err != nil {
		return err
	}
	return n.engine.Close()
}

// isSQL matches a statement, or a part that is put together with others.
var isSQL = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|FROM|WHERE|ORDER BY|LIMIT)\b`)

// sqlTexts finds the SQL texts of this package's sources.
func sqlTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && isSQL.MatchString(text) {
				texts[text] = set.Position(literal.Pos()).String()
			}
			return true
		})
	}
	return texts
}
