package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// installed runs npm ci once for all tests, in a directory of the suite's.
var installed = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(temporary, "node")
	if err := os.CopyFS(dir, os.DirFS("testdata/node")); err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

// nodeModules returns where the npm clients are installed, or skips where that
// is not possible on a user's machine.
func nodeModules(t *testing.T) string {
	t.Helper()
	needTool(t, "node", "nodejs")
	needTool(t, "npm", "npm")
	dir, err := installed()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("the npm clients cannot be installed here: %v", err)
	}
	return dir
}

// TestForeignClientsOfNPM runs libraries that apps use, over TLS, unchanged.
func TestForeignClientsOfNPM(t *testing.T) {
	t.Parallel()
	dir := nodeModules(t)
	c := newCertificate(t)
	h := startHouse(t, "--tls-cert", c.certFile, "--tls-key", c.keyFile)
	const redirect = "https://app.example/callback"
	confidential := h.addClient("Server", "--redirect-uri", redirect)
	legacy := h.addClient("Old server", "--redirect-uri", redirect, "--legacy")
	// openid-client takes the query of a redirect URI for parameters of the answer.
	tenant := h.addClient("Server with a query", "--redirect-uri", redirect+"?tenant=7")
	public := h.addClient("Desktop", "--redirect-uri", "http://127.0.0.1/callback", "--kind", "public")
	for _, test := range []struct {
		library, auth string
		client        oauthClient
	}{
		{"openid-client", "basic", confidential},
		{"openid-client", "post", confidential},
		{"openid-client", "none", public},
		{"openid-client device", "none", public},
		{"oauth4webapi", "basic", confidential},
		{"oauth4webapi", "post", tenant},
		{"oauth4webapi", "none", public},
		{"simple-oauth2", "basic", legacy},
		{"simple-oauth2", "post", legacy},
	} {
		t.Run(test.library+" "+test.auth, func(t *testing.T) {
			h := *h
			h.t = t
			given, err := json.Marshal(map[string]string{"issuer": h.BaseURL, "client_id": test.client.ID, "client_secret": test.client.Secret,
				"redirect_uri": strings.Replace(test.client.RedirectURIs[0], "127.0.0.1/", "127.0.0.1:54321/", 1), "auth": test.auth, "scope": "READ OPENDOOR"})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("node", filepath.Join(dir, "clients.mjs"), test.library, string(given))
			cmd.Env = environment("NODE_EXTRA_CA_CERTS=" + c.certFile)
			h.accompany(t, c, cmd)
		})
	}
}

// accompany is the person beside an app: it goes where the app says, signs in,
// allows, and looks whether the app's tokens are worth what they should be.
func (h *house) accompany(t *testing.T, c certificate, cmd *exec.Cmd) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, cmd)
	v := newVisitor(t, h.BaseURL)
	v.trust(c)
	revoked := false
	for lines := bufio.NewScanner(p.stdout); lines.Scan(); {
		said := parsed[map[string]string](t, lines.Text())
		switch {
		case said["authorize"] != "":
			page := h.signedIn(v.open(said["authorize"]))
			page = page.submit(page.form("decision"), "decision", "allow")
			reply(t, stdin, page.Location)
		case said["device"] != "":
			page := h.signedIn(v.open(said["device"]))
			if page.form("user_code").fields.Get("user_code") != said["user_code"] {
				t.Errorf("the page asks for another code than %s:\n%s", said["user_code"], page.Text)
			}
			page = page.submit(page.form("user_code"))
			page.submit(page.form("decision"), "decision", "allow")
			reply(t, stdin, "done")
		case said["use"] != "":
			if said["scope"] != "OPENDOOR READ" {
				t.Errorf("scope %q", said["scope"])
			}
			if got := h.syncStatus(c, said["use"]); got != http.StatusOK {
				t.Errorf("sync with the app's token: %d", got)
			}
			reply(t, stdin, "used")
		case said["revoked"] != "":
			revoked = true
			if got := h.syncStatus(c, said["revoked"]); got != http.StatusUnauthorized {
				t.Errorf("sync after revocation: %d", got)
			}
		}
	}
	if err := p.wait(); err != nil || !revoked {
		t.Fatalf("the client ended with %v, revoked %t\n%s", err, revoked, p.stderr)
	}
}

func reply(t *testing.T, to io.Writer, line string) {
	t.Helper()
	if _, err := io.WriteString(to, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// trust makes a visitor accept a certificate.
func (v *visitor) trust(c certificate) { v.client.Transport = c.transport() }

func (h *house) syncStatus(c certificate, token string) int {
	h.t.Helper()
	res, err := (&http.Client{Transport: c.transport(), Timeout: patience}).Do(request("POST", h.BaseURL+syncPath, token, nil))
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// signedIn signs in where a page asks for that.
func (h *house) signedIn(p page) page {
	h.t.Helper()
	for _, f := range p.forms {
		if f.inputs["password"] {
			return p.signIn(h.Email, h.Password)
		}
	}
	return p
}

// addClient registers an OAuth client.
func (s *site) addClient(name string, args ...string) oauthClient {
	s.t.Helper()
	arguments := []string{"client", "add", "--data", s.Data, "--json", "--name", name}
	return parsed[oauthClient](s.t, lintel(s.t, append(arguments, args...)...))
}
