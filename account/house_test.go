package account

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"lintel"
	"lintel/store"
	"lintel/store/sqlite"
)

var _ Store = (*store.Store)(nil)

const (
	email    = "ada@house.example"
	password = "correct horse battery"
	next     = "staple of another kind"
	origin   = "https://doors.example"
)

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// hooked is a store that calls back around what a test wants to happen between.
type hooked struct {
	*store.Store
	beforeAddSession  func()
	afterPasswordHash func()
	failPasskeys      error
}

func (h *hooked) Passkeys(ctx context.Context, person lintel.ID) ([]lintel.Passkey, error) {
	if h.failPasskeys != nil {
		return nil, h.failPasskeys
	}
	return h.Store.Passkeys(ctx, person)
}

// PersonByEmail refuses what PostgreSQL cannot take as text.
func (h *hooked) PersonByEmail(ctx context.Context, email string) (lintel.Person, error) {
	if !utf8.ValidString(email) || strings.Contains(email, "\x00") {
		return lintel.Person{}, errors.New("not text")
	}
	return h.Store.PersonByEmail(ctx, email)
}

func (h *hooked) AddSession(ctx context.Context, n lintel.Session, hash string) error {
	if h.beforeAddSession != nil {
		h.beforeAddSession()
	}
	return h.Store.AddSession(ctx, n, hash)
}

func (h *hooked) PasswordHash(ctx context.Context, person lintel.ID) (string, error) {
	hash, err := h.Store.PasswordHash(ctx, person)
	if h.afterPasswordHash != nil {
		h.afterPasswordHash()
	}
	return hash, err
}

// house is a service on a database of its own, with a clock that stands still.
type house struct {
	*Service
	t     *testing.T
	db    *hooked
	clock *clock
	log   *bytes.Buffer // read only while nothing runs

	mu        sync.Mutex        // guards the two below
	passwords map[string]string // by hash, once cheap was called
	checks    int
}

func newHouse(t *testing.T) *house { return newHouseAt(t, origin) }

func newHouseAt(t *testing.T, origin string) *house {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	must(t, err)
	h := &house{
		t: t, db: &hooked{Store: store.New(db)}, log: &bytes.Buffer{},
		clock: &clock{at: time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.UTC)},
	}
	t.Cleanup(func() { must(t, h.db.Close()) })
	log := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h.Service, err = New(Config{Origin: origin, Now: h.clock.now, Log: log}, h.db)
	must(t, err)
	return h
}

// cheap makes checks of passwords count and cost nothing.
func (h *house) cheap() {
	h.passwords = map[string]string{}
	h.check = func(hash, password string) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.checks++
		want, ok := h.passwords[hash]
		return ok && want == password
	}
}

// person adds an account with the password.
func (h *house) person(email string) lintel.Person {
	h.t.Helper()
	p, hash := lintel.Person{ID: lintel.NewID(), Email: email, GivenName: "Ada", CreatedAt: h.stamp()}, "cheap "+email
	if h.passwords == nil {
		var err error
		p, hash, err = NewPerson(email, "Ada", "", password, h.stamp())
		must(h.t, err)
	} else {
		h.passwords[hash] = password
	}
	must(h.t, h.db.AddPerson(h.t.Context(), p, hash))
	return p
}

// from is a browser at an address that has not been here before.
func from(address string) Browser {
	return Browser{Address: netip.MustParseAddr(address), UserAgent: "Test/1"}
}

// in signs in by password and keeps the known-browser cookie in b.
func (h *house) in(b *Browser, email string) SignedIn {
	h.t.Helper()
	in, err := h.SignIn(h.t.Context(), *b, email, password)
	must(h.t, err)
	if in.Known != "" {
		b.Known = in.Known
	}
	return in
}

// session is what the browser with a session cookie is.
func (h *house) session(secret string) lintel.Session {
	h.t.Helper()
	n, _, err := h.Session(h.t.Context(), secret)
	must(h.t, err)
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, want lintel.Code) {
	t.Helper()
	if lintel.CodeOf(err) != want {
		t.Fatalf("error %v, want code %q", err, want)
	}
}

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}
