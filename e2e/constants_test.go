package e2e

import (
	"database/sql"
	"encoding/base64"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// secretForm is the form of every secret that the service gives out: a prefix and 43
// characters, the secret of a client, or a one-time code, as somebody may type it. What
// has none of these forms is refused before anything is looked up, but for passwords of
// people.
var secretForm = regexp.MustCompile(`lt[a-z]_[A-Za-z0-9_-]{43}|ltk[A-Z2-7]{52}|` +
	`\b(?:(?i:[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4})|[B-DF-HJ-NP-TV-XZ]{12}|[b-df-hj-np-tv-xz]{12})\b`)

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

// doors are where keys are tried.
type doors struct {
	*house
	made   credentials // of a controller
	client oauthClient
	app    oauthClient // a public one
	empty  site        // a service without an account, whose set-up takes a ticket
}

// controller tries an MQTT password in a CONNECT of MQTT 3.1.1, by hand: there are many.
func (d doors) controller(key string) (bool, error) {
	text := func(s string) string { return string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }
	body := text("MQTT") + "\x04\xc2\x00\x3c" + text(d.made.ID) + text(d.made.ID) + text(key)
	conn, err := net.DialTimeout("tcp", d.MQTT, patience)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	answer := make([]byte, 4)
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return false, err
	}
	if _, err := conn.Write([]byte("\x10" + length(len(body)) + body)); err != nil {
		return false, err
	}
	if _, err := io.ReadFull(conn, answer); err != nil {
		return false, err
	}
	return answer[0] == 0x20 && answer[3] == 0, nil
}

// length is a remaining length below 16,384 (MQTT 3.1.1 §2.2.3).
func length(n int) string { return string([]byte{byte(n) | 0x80, byte(n >> 7)}) }

func (d doors) bearer(key string) (bool, error) {
	r, err := exchange(request("POST", d.BaseURL+syncPath, key, http.NoBody))
	return r.Status != http.StatusUnauthorized, err
}

// everywhere tries one text at every door that takes secrets, and says which opened.
func (d doors) everywhere(key string) (opened []string) {
	d.t.Helper()
	note := func(door string, open bool) {
		if open {
			opened = append(opened, door)
		}
	}
	if !strings.HasPrefix(key, "lt") { // guesses are limited: spend them on codes
		r := d.claim(key)
		if note("claim", r.Status == http.StatusCreated); r.Status != http.StatusCreated && r.Status != http.StatusNotFound {
			d.t.Errorf("a code cannot be tried: %d", r.Status)
		}
	}
	for name, try := range map[string]func(string) (bool, error){"controller": d.controller, "bearer": d.bearer} {
		open, err := try(key)
		if note(name, open); err != nil {
			d.t.Fatal(err)
		}
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(d.client.ID+":"+key))
	note("client", do(d.t, "POST", d.BaseURL+revocationPath, "", url.Values{"token": {"x"}}.Encode(), "Authorization", basic,
		"Content-Type", "application/x-www-form-urlencoded").Status == http.StatusOK)
	note("session", do(d.t, "GET", d.BaseURL+"/account/sessions", "", "", "Accept", "text/html", "Cookie", "lintel-session="+key).Status == http.StatusOK)
	site := demo{site: d.site}
	for grant, name := range map[string]string{"refresh_token": "refresh_token", "authorization_code": "code", "urn:ietf:params:oauth:grant-type:device_code": "device_code"} {
		r := site.post(tokenPath, "grant_type", grant, "client_id", d.app.ID, name, key, "redirect_uri", d.app.RedirectURIs[0], "code_verifier", verifier)
		note(name, parsed[tokenAnswer](d.t, string(r.Body)).Error != "invalid_grant")
	}
	if strings.HasPrefix(key, "ltt_") {
		p := newVisitor(d.t, d.empty.BaseURL).open("/setup?ticket=" + key)
		p = p.submit(p.form("email"), "email", "eve@house.example", "password", "a long enough password")
		note("set-up", p.Status < http.StatusBadRequest)
	}
	return opened
}

// planted returns a real secret for each door.
func (d doors) planted() map[string]string {
	d.t.Helper()
	site := demo{site: d.site}
	site.User.Email, site.User.Password = d.Email, d.Password
	started := parsed[map[string]any](d.t, string(site.post(devicePath, "client_id", d.app.ID, "scope", "READ").Body))
	v := newVisitor(d.t, d.BaseURL)
	v.open("/sign-in").signIn(d.Email, d.Password)
	at, err := url.Parse(d.BaseURL)
	if err != nil {
		d.t.Fatal(err)
	}
	session := ""
	for _, c := range v.client.Jar.Cookies(at) {
		if c.Name == "lintel-session" {
			session = c.Value
		}
	}
	ticket, ok := "", false
	for !ok {
		line, err := d.empty.stdout.ReadString('\n')
		if err != nil {
			d.t.Fatal(err)
		}
		_, ticket, ok = strings.Cut(strings.TrimSpace(line), "/setup?ticket=")
	}
	code := func(name string) string {
		return d.controllerCode("code", d.addController(d.Email, name).ID, "--user", d.Email).Code
	}
	return map[string]string{
		d.made.Secret: "controller", d.Token: "bearer", d.client.Secret: "client", session: "session", ticket: "set-up",
		code("Shed"): "claim", strings.ToLower(code("Barn")): "claim", strings.ReplaceAll(code("Attic"), "-", ""): "claim",
		site.redeem(d.app, d.authorise()).RefreshToken: "refresh_token",
		started["device_code"].(string):                "device_code",
	}
}

// authorise returns an authorization code.
func (d doors) authorise() string {
	site := demo{site: d.site}
	site.User.Email, site.User.Password = d.Email, d.Password
	return site.authorise(d.app)
}

// opensOne checks that the search finds a secret, and that it opens its door and no other.
func (d doors) opensOne(key, door string) {
	d.t.Helper()
	if hits := secretForm.FindAllString("so it says: "+key+".", -1); len(hits) != 1 || hits[0] != key {
		d.t.Errorf("the search would not find the planted secret for the door %s", door)
	}
	if opened := d.everywhere(key); len(opened) != 1 || opened[0] != door {
		d.t.Errorf("the planted secret for the door %s opens %q", door, opened)
	}
}

// quoted is a word of a document.
var quoted = regexp.MustCompile("`([^`\n]+)`|\"([^\"\n]+)\"")

// words are the texts in a file that somebody might take for a password: each string of a
// program, and what stands in quotes in a document.
func words(path string, text []byte) (found []string) {
	switch {
	case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
		var s scanner.Scanner
		set := token.NewFileSet()
		s.Init(set.AddFile(path, set.Base(), len(text)), text, nil, 0)
		for {
			_, kind, literal := s.Scan()
			if kind == token.EOF {
				return found
			}
			if value, err := strconv.Unquote(literal); kind == token.STRING && err == nil {
				found = append(found, value)
			}
		}
	case strings.HasSuffix(path, ".md"):
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			found = append(append(found, m[1]+m[2]), strings.Fields(m[1]+m[2])...)
		}
	}
	return found
}

// tryAll tries texts at a door, several at once.
func tryAll(t *testing.T, texts map[string]string, door string, try func(string) (bool, error)) {
	queue := make(chan string)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for text := range queue {
				if open, err := try(text); err != nil || open {
					t.Errorf("%q, in %s, opens the door %s: %v (%v)", text, texts[text], door, open, err)
				}
			}
		})
	}
	for text := range texts {
		queue <- text
	}
	close(queue)
	running.Wait()
}

// TestNoConstantAuthenticates: nothing in the program, its documents or its samples is
// a secret of any service, and the search would find one that is. Passwords of people are
// left to TestANewServiceKnowsNobody: guessing at them is limited, and nobody has one that
// was not chosen or made for them.
func TestNoConstantAuthenticates(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	d := doors{house: h, made: h.addController(h.Email, "Garage"), client: h.addClient("Panel", "--redirect-uri", "https://panel.example/callback"),
		app: h.addClient("App", "--redirect-uri", "https://app.example/callback", "--kind", "public"), empty: startServe(t)}
	texts := corpus(t)
	found, constants := map[string]string{}, map[string]string{} // where, by what
	for where, text := range texts {
		for _, word := range words(where, text) {
			if len(word) > 0 && len(word) <= 256 && strings.Trim(word, printable) == "" {
				constants[word] = where
			}
		}
	}
	if len(constants) < 2000 {
		t.Errorf("only %d constants", len(constants))
	}
	tryAll(t, constants, "controller", d.controller)
	tryAll(t, constants, "bearer", d.bearer)

	for where, text := range texts {
		for _, key := range secretForm.FindAllString(string(text), -1) {
			found[key] = where
		}
	}
	for key, where := range found {
		if opened := d.everywhere(key); len(opened) > 0 {
			t.Errorf("%q, in %s, opens %q", key, where, opened)
		}
	}
	// Last: some work once, and no limit was reached before.
	for key, door := range d.planted() {
		d.opensOne(key, door)
	}
	d.opensOne(d.authorise(), "code") // which lives for a minute
	t.Logf("tried %d texts that have the form of a secret, and %d constants", len(found), len(constants))
}

// printable is what a header can hold.
const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

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
