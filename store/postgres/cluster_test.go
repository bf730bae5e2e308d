//go:build unix

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"lintel"
)

// cluster is a PostgreSQL server that lives as long as this test binary: a
// directory of its own, a socket in it, no TCP port, fsync as it comes.
type cluster struct {
	dir    string
	watch  *exec.Cmd      // runs the server, and ends it when stdin closes
	stdin  io.WriteCloser // closed by the system if this process is killed
	admin  *sql.DB
	output *os.File
}

// shared is the one cluster of this binary, started by the first test that asks.
var shared struct {
	once    sync.Once
	cluster *cluster
	err     error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if c := shared.cluster; c != nil {
		if err := c.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var errNoPostgres = errors.New("PostgreSQL's server programs (initdb, postgres) are not installed")

// newDatabase returns the URL of a new, empty database. Without PostgreSQL the
// test is skipped, or, in CI, fails.
func newDatabase(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = start() })
	if errors.Is(shared.err, errNoPostgres) && os.Getenv("CI") == "" {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	name := newName()
	if _, err := shared.cluster.admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return shared.cluster.url(name)
}

func newName() string { return "test_" + strings.ReplaceAll(string(lintel.NewID()), "-", "") }

func (c *cluster) url(database string) string {
	return "postgres:///" + database + "?user=lintel&host=" + url.QueryEscape(c.dir)
}

func start() (c *cluster, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	// Not t.TempDir: its parents are closed to the server's user, and its path
	// is longer than a socket's may be.
	dir, err := os.MkdirTemp("/tmp", "lintel-pg-")
	if err != nil {
		return nil, err
	}
	c = &cluster{dir: dir}
	if err := c.launch(bin); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) launch(bin string) error {
	as, err := serverUser(c.dir)
	if err != nil {
		return err
	}
	if err := c.initialise(bin, as); err != nil {
		return err
	}
	c.watch = exec.Command("/bin/sh", "-c", watchdog, c.dir,
		filepath.Join(bin, "postgres"), "-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-c", "listen_addresses=",
		"-c", "max_connections=200")
	c.watch.SysProcAttr, c.watch.Dir = as, c.dir
	if c.output, err = os.Create(filepath.Join(c.dir, "log")); err != nil {
		return err
	}
	c.watch.Stdout, c.watch.Stderr = c.output, c.output
	if c.stdin, err = c.watch.StdinPipe(); err != nil {
		return err
	}
	if err := c.watch.Start(); err != nil {
		return err
	}
	return c.connect()
}

// watchdog runs the server until its standard input closes, and then ends it
// and removes the directory. That happens too when this process is killed.
const watchdog = `"$@" & server=$!
cat
kill -INT $server
wait $server
code=$?
rm -rf -- "$0"
exit $code`

// initialise makes the cluster, where it can with ICU's order of text: that
// differs from SQLite's, and so finds what depends on it.
func (c *cluster) initialise(bin string, as *syscall.SysProcAttr) (err error) {
	icu := []string{"--locale-provider", "icu", "--icu-locale", "en-US"} // from PostgreSQL 15
	for _, more := range [][]string{icu, nil} {
		args := append([]string{"--pgdata", filepath.Join(c.dir, "data"), "--username", "lintel", "--auth", "trust",
			"--encoding", "UTF8", "--locale", "C", "--no-sync"}, more...)
		initdb := exec.Command(filepath.Join(bin, "initdb"), args...)
		initdb.SysProcAttr, initdb.Dir = as, c.dir
		out, failed := initdb.CombinedOutput()
		if failed == nil {
			return nil
		}
		err = fmt.Errorf("initdb: %w: %s", failed, out)
	}
	return err
}

// connect waits until the server answers.
func (c *cluster) connect() (err error) {
	if c.admin, err = sql.Open("pgx", c.url("postgres")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond) // another process's start cannot be waited for otherwise
	defer poll.Stop()
	for ; ; <-poll.C {
		err := c.admin.PingContext(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(c.output.Name())
			return fmt.Errorf("PostgreSQL did not start: %w: %s", err, log)
		}
	}
}

func (c *cluster) stop() error {
	var errs []error
	if c.admin != nil {
		errs = append(errs, c.admin.Close())
	}
	if c.stdin != nil {
		errs = append(errs, c.stdin.Close())
	}
	if c.watch != nil && c.watch.Process != nil {
		errs = append(errs, c.watch.Wait())
	}
	if c.output != nil {
		errs = append(errs, c.output.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// programs finds the directory with initdb and postgres, which Debian keeps off PATH.
func programs() (string, error) {
	var dirs []string
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	versions, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	dirs = append(dirs, versions...)
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", errNoPostgres
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// serverUser says whom the server runs as: it refuses to run as root, so there
// somebody else is given the directory.
func serverUser(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}
