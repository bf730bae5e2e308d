package e2e

import (
	"database/sql"
	"encoding/base64"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
	_ "modernc.org/sqlite"
)

// secretForm is the form of every secret that the service gives out: a prefix and 43
// characters, the secret of a client, or a one-time code. What has none of these forms
// is refused before anything is looked up, but for passwords of people.
var secretForm = regexp.MustCompile(`lt[a-z]_[A-Za-z0-9_-]{43}|ltk[A-Z2-7]{52}|[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}`)

// corpus is what everybody has: the program, its sources, its documents and its samples.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"the program": program, "the sample": []byte(lintel(t, "serve", "--sample"))}
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.IsDir() && strings.HasPrefix(entry.Name(), ".git") {
				return fs.SkipDir
			}
			return err
		}
		texts[path], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(texts) < 100 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	return texts
}

// keys tries one secret at every door of the service that takes one, and says which opened.
func (h *house) keys(made credentials, client oauthClient, key string) (opened []string) {
	h.t.Helper()
	options := paho.NewClientOptions().AddBroker("tcp://" + h.MQTT).SetClientID(made.ID).SetUsername(made.ID).SetPassword(key).
		SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false)
	c := paho.NewClient(options)
	if token := c.Connect(); token.WaitTimeout(patience) && token.Error() == nil {
		opened = append(opened, "controller")
		c.Disconnect(0)
	}
	if do(h.t, "POST", h.BaseURL+syncPath, key, "").Status != http.StatusUnauthorized {
		opened = append(opened, "bearer")
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(client.ID+":"+key))
	form := url.Values{"token": {"x"}}.Encode()
	if do(h.t, "POST", h.BaseURL+"/oauth/v2/endpoints/revocation", "", form, "Authorization", basic,
		"Content-Type", "application/x-www-form-urlencoded").Status == http.StatusOK {
		opened = append(opened, "client")
	}
	if !strings.HasPrefix(key, "lt") { // guesses are limited: spend them on codes
		if r := h.claim(key); r.Status == http.StatusCreated {
			opened = append(opened, "claim")
		} else if r.Status != http.StatusNotFound {
			h.t.Errorf("a code cannot be tried: %d", r.Status)
		}
	}
	return opened
}

// TestNoConstantAuthenticates: nothing in the program, its documents or its samples is
// a secret of any service, and the search would find one that is.
func TestNoConstantAuthenticates(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	made, client := h.addController(h.Email, "Garage"), h.addClient("Panel", "--redirect-uri", "https://panel.example/callback")
	code := h.controllerCode("code", h.addController(h.Email, "Shed").ID, "--user", h.Email).Code
	planted := map[string]string{made.Secret: "controller", h.Token: "bearer", client.Secret: "client", code: "claim"}

	texts := corpus(t)
	for key := range planted {
		texts["planted "+key] = []byte("so it says: " + key + ".")
	}
	found := map[string]string{} // where, by what
	for where, text := range texts {
		for _, key := range secretForm.FindAllString(string(text), -1) {
			found[key] = where
		}
	}
	for key, door := range planted {
		if _, ok := found[key]; !ok {
			t.Fatalf("the search did not find the planted secret for the door %s", door)
		}
		delete(found, key)
		if opened := h.keys(made, client, key); len(opened) != 1 || opened[0] != door {
			t.Fatalf("the planted secret for the door %s opens %q", door, opened)
		}
	}
	for key, where := range found {
		if opened := h.keys(made, client, key); len(opened) > 0 {
			t.Errorf("%q, in %s, opens %q", key, where, opened)
		}
	}
	t.Logf("tried %d texts that have the form of a secret", len(found))
}

// TestANewServiceKnowsNobody: there is no account, controller, token or secret in a
// database that the service has just made, so that nothing at all can authenticate.
func TestANewServiceKnowsNobody(t *testing.T) {
	t.Parallel()
	s := startServe(t)
	s.kill()
	db, err := sql.Open("sqlite", filepath.Join(s.Data, "lintel.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version'`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil || len(tables) < 15 {
		t.Fatalf("%q, %v", tables, err)
	}
	known := map[string]int{
		"clients": 1, // the command line, which has no secret
		"tickets": 1, // the link that makes the first account
		// the count of changed credentials
		"revisions": 1,
	}
	for _, name := range tables {
		var n int
		if err := db.QueryRow(`SELECT COUNT(*) FROM ` + name).Scan(&n); err != nil || n > known[name] {
			t.Errorf("%s has %d rows, want %d at the most (%v)", name, n, known[name], err)
		}
	}
	var kind string
	if err := db.QueryRow(`SELECT kind FROM clients`).Scan(&kind); err != nil || kind != "public" {
		t.Errorf("the client that every service has is %s, %v", kind, err)
	}
}
