package web

import (
	"bytes"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/account"
	"lintel/oauth"
	"lintel/secret"
	"lintel/store"
	"lintel/store/sqlite"
)

const (
	origin   = "https://doors.example"
	email    = "ada@example.org"
	password = "correct horse battery staple"
	callback = "https://app.example/callback"
	ask      = authorizationPath + "/?response_type=code&client_id=app1&redirect_uri=" +
		"https%3A%2F%2Fapp.example%2Fcallback&scope=OPENDOOR+CLOSEDOOR+READ&state=s1" + pkce
	pkce = "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
)

// world is the pages over real accounts, a real authorization server and a real
// store, with one account and some apps.
type world struct {
	*store.Store
	pages    *Pages
	accounts *account.Service
	handler  http.Handler
	ada      lintel.Person
	log      *bytes.Buffer

	mu  sync.Mutex // guards now
	now time.Time
}

// hash is the password's, made once: it takes long by design.
var hash = sync.OnceValues(func() (string, error) { return account.HashPassword(password) })

func newWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t, origin)
	stored, err := hash()
	must(t, err)
	w.ada = lintel.Person{ID: lintel.NewID(), Email: email, GivenName: "Ada", CreatedAt: w.now}
	must(t, w.AddPerson(t.Context(), w.ada, stored))
	for _, c := range []lintel.Client{
		{ID: "app1", Name: "Hall Panel", Kind: lintel.Confidential, RedirectURIs: []string{callback}},
		{ID: "legacy1", Name: "Old Panel", Kind: lintel.Confidential, Legacy: true, RedirectURIs: []string{"https://old.example/cb"}},
		{ID: "native1", Name: "Door CLI", Kind: lintel.Public,
			RedirectURIs: []string{"http://127.0.0.1/cb", "http://[::1]/cb", "http://localhost:7777/cb", "org.example.doors:/cb"}},
	} {
		c.Scopes, c.CreatedAt = lintel.AllScopes, w.now
		must(t, w.AddClient(t.Context(), c, ""))
	}
	return w
}

// emptyWorld is before the set-up.
func emptyWorld(t *testing.T, origin string) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	must(t, err)
	w := &world{Store: store.New(db), log: &bytes.Buffer{}, now: time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
	t.Cleanup(func() { must(t, w.Close()) })
	log := slog.New(slog.NewTextHandler(w.log, nil))
	w.accounts, err = account.New(account.Config{Origin: origin, Now: w.clock, Log: log}, w.Store)
	must(t, err)
	w.serve(t, w.accounts, origin)
	return w
}

// serve makes the pages over accounts.
func (w *world) serve(t *testing.T, accounts Accounts, origin string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(w.log, nil))
	server := oauth.New(oauth.Config{Issuer: origin, Now: w.clock, Log: log}, w.Store)
	pages, err := New(Config{Origin: origin, Now: w.clock, Log: log, Source: source}, accounts, server, w.Store)
	must(t, err)
	mux := http.NewServeMux()
	pages.Routes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the API", http.StatusTeapot) })
	w.pages, w.handler = pages, pages.Gate(mux)
}

func source(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") }

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// browser keeps cookies, and remembers the last page's form token.
type browser struct {
	w       *world
	cookies map[string]string
	csrf    string
	ticket  string
}

func (w *world) browser() *browser { return &browser{w: w, cookies: map[string]string{}} }

// signedIn is a browser that Ada signed in with just now.
func (w *world) signedIn(t *testing.T) *browser {
	t.Helper()
	b := w.browser()
	b.get(t, "/sign-in").is(t, 200)
	b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}}).leads(t, home)
	b.get(t, home).is(t, 200)
	return b
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

func (b *browser) get(t *testing.T, path string) reply {
	t.Helper()
	return b.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
}

// form makes a POST as a form of the last page would, from our own site.
func (b *browser) form(t *testing.T, path string, fields url.Values) *http.Request {
	t.Helper()
	all := url.Values{"csrf": {b.csrf}}
	for name, values := range fields {
		all[name] = values
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(all.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

func (b *browser) post(t *testing.T, path string, fields url.Values) reply {
	t.Helper()
	return b.send(t, b.form(t, path, fields))
}

var (
	tokenField  = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	ticketField = regexp.MustCompile(`name="ticket" value="([^"]+)"`)
)

func (b *browser) send(t *testing.T, r *http.Request) reply {
	t.Helper()
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	recorder := httptest.NewRecorder()
	b.w.handler.ServeHTTP(recorder, r)
	result := recorder.Result()
	body, err := io.ReadAll(result.Body)
	must(t, err)
	for _, c := range result.Cookies() {
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	if found := tokenField.FindSubmatch(body); found != nil {
		b.csrf = string(found[1])
	}
	if found := ticketField.FindSubmatch(body); found != nil {
		b.ticket = string(found[1])
	}
	return reply{result.StatusCode, result.Header, html.UnescapeString(string(body))}
}

// sessionCookieName is what the session's cookie is called over https.
const sessionCookieName = "__Host-lintel-session"

func (r reply) is(t *testing.T, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d to %q, want %d: %s", r.status, r.header.Get("Location"), status, r.body)
	}
	return r
}

func (r reply) says(t *testing.T, text string) reply {
	t.Helper()
	if !strings.Contains(r.body, text) {
		t.Fatalf("%d does not say %q: %s", r.status, text, r.body)
	}
	return r
}

func (r reply) silent(t *testing.T, text string) reply {
	t.Helper()
	if strings.Contains(r.body, text) {
		t.Fatalf("%d says %q: %s", r.status, text, r.body)
	}
	return r
}

// leads holds that the answer sends the browser on.
func (r reply) leads(t *testing.T, location string) reply {
	t.Helper()
	r.is(t, http.StatusSeeOther)
	if got := r.header.Get("Location"); got != location {
		t.Fatalf("leads to %q, want %q", got, location)
	}
	return r
}

// things are what the account has, for addresses that name one.
type things struct{ grant, token, session, passkey lintel.ID }

func (w *world) things(t *testing.T) things {
	t.Helper()
	now := w.clock()
	grant := lintel.Grant{ID: lintel.NewID(), PersonID: w.ada.ID, ClientID: "app1", Scopes: lintel.ScopeOpen | lintel.ScopeRead,
		CreatedAt: now, ExpiresAt: now.Add(oauth.GrantLifetime), LastUsedAt: now}
	code := lintel.AuthorizationCode{Hash: secret.Hash(string(grant.ID)), ExpiresAt: now.Add(time.Minute)}
	must(t, w.AddCode(t.Context(), grant, code))
	_, err := w.RedeemCode(t.Context(), code.Hash, lintel.Issue{
		At: now, AccessID: lintel.NewID(), AccessHash: secret.Hash("a" + string(grant.ID)), AccessScopes: grant.Scopes, AccessExpiresAt: now.Add(time.Hour),
		RefreshHash: secret.Hash("r" + string(grant.ID)), RefreshExpiresAt: now.Add(time.Hour),
	})
	must(t, err)
	token := store.Token{ID: lintel.NewID(), Hash: secret.Hash("t" + string(grant.ID)), PersonID: w.ada.ID, Scopes: lintel.ScopeOpen,
		Label: "gate script", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	must(t, w.AddToken(t.Context(), token))
	other := lintel.Session{ID: lintel.NewID(), PersonID: w.ada.ID, Method: lintel.ByPassword, Address: "198.51.100.9",
		UserAgent: "Mozilla/5.0 (iPhone) Safari/605", CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(time.Hour)}
	must(t, w.AddSession(t.Context(), other, secret.Hash("s"+string(grant.ID))))
	passkey := lintel.Passkey{ID: lintel.NewID(), PersonID: w.ada.ID, CredentialID: "id", Credential: "{}", Name: "Blue key", CreatedAt: now}
	must(t, w.AddPasskey(t.Context(), passkey))
	return things{grant.ID, token.ID, other.ID, passkey.ID}
}
