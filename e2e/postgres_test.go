//go:build unix

package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// postgres is a PostgreSQL server of one test: a directory with a socket in it.
type postgres struct {
	t   *testing.T
	bin string
	dir string
	as  *syscall.SysProcAttr
}

// startPostgres runs a server until the test ends, or skips where there is none.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // where Debian keeps them
	if path, err := exec.LookPath("postgres"); err == nil && len(installed) == 0 {
		installed = append(installed, path)
	}
	if len(installed) == 0 {
		lacking(t, "PostgreSQL's server is not installed (Debian package postgresql)")
	}
	// Not t.TempDir: its parents are closed to the server's user, and its path is
	// longer than a socket's may be.
	dir, err := os.MkdirTemp("/tmp", "lintel-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &postgres{t: t, bin: filepath.Dir(slices.Max(installed)), dir: dir}
	p.another()
	p.run("initdb", "--pgdata", filepath.Join(dir, "data"), "--username", "lintel", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	// The server ends with its standard input, which the system closes if this process is killed.
	cmd := exec.Command("/bin/sh", "-c", `"$@" & server=$!; cat; kill -INT $server; wait $server`, "sh",
		filepath.Join(p.bin, "postgres"), "-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=")
	cmd.SysProcAttr, cmd.Dir = p.as, dir
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	eventually(t, "PostgreSQL to answer", func() bool {
		return p.psql("SELECT 1").Run() == nil
	})
	return p
}

// another gives the directory to somebody else where this is root: the server refuses
// to run as root.
func (p *postgres) another() {
	p.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		if err := os.Chown(p.dir, int(uid), int(gid)); err != nil {
			p.t.Fatal(err)
		}
		p.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return
	}
	lacking(p.t, "PostgreSQL does not run as root, and there is no user postgres or nobody")
}

// run runs one of PostgreSQL's programs to its end.
func (p *postgres) run(program string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(p.bin, program), args...)
	cmd.SysProcAttr, cmd.Dir = p.as, p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v %s", program, err, out)
	}
}

// psql is a command that runs a statement of SQL, and fails if that does.
func (p *postgres) psql(statement string) *exec.Cmd {
	return exec.Command(filepath.Join(p.bin, "psql"), "-h", p.dir, "-U", "lintel", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", statement)
}

// query runs a statement of SQL.
func (p *postgres) query(statement string) {
	p.t.Helper()
	if out, err := p.psql(statement).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v %s", statement, err, out)
	}
}

// url is the address of the server's one database.
func (p *postgres) url() string {
	return "postgres:///postgres?user=lintel&host=" + url.QueryEscape(p.dir)
}
