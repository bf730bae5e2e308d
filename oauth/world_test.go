package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lintel"
	"lintel/access"
	"lintel/secret"
	"lintel/store"
	"lintel/store/sqlite"
)

// epoch is a time with milliseconds, in another zone than the answers'.
var epoch = time.Date(2026, 3, 29, 3, 30, 0, 123e6, time.FixedZone("", 2*60*60))

const (
	issuer = "https://door.example"

	// The example of RFC 7636 appendix B.
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// world is the authorization server, live, on a real store with one person and
// one client of each sort.
type world struct {
	server *Server
	db     *store.Store
	hook   *hooked
	clock  *clock
	log    *logged
	url    string
	person lintel.ID

	confidential, public, legacy app
}

// app is a registered client with its secret.
type app struct {
	lintel.Client
	secret string // empty for a public one
}

func newWorld(t *testing.T) *world {
	t.Helper()
	engine, err := sqlite.Open(t.Context(), t.TempDir())
	must(t, err)
	w := &world{db: store.New(engine), clock: &clock{now: epoch}, log: &logged{}, person: lintel.NewID()}
	t.Cleanup(func() { must(t, w.db.Close()) })
	w.hook = &hooked{Store: w.db}
	w.server = New(Config{
		Issuer: issuer,
		Source: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") },
		Now:    w.clock.read,
		Log:    slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, w.hook)
	mux := http.NewServeMux()
	w.server.Routes(mux)
	live := httptest.NewServer(mux)
	t.Cleanup(live.Close)
	w.url = live.URL

	must(t, w.db.AddPerson(t.Context(), lintel.Person{ID: w.person, Email: "a@example.org", CreatedAt: epoch}, ""))
	w.confidential = w.register(t, lintel.Client{ID: "server", Kind: lintel.Confidential, Scopes: lintel.AllScopes,
		RedirectURIs: []string{"https://server.example/cb", "https://server.example/other"}})
	w.public = w.register(t, lintel.Client{ID: "program", Kind: lintel.Public, Scopes: lintel.AllScopes,
		RedirectURIs: []string{"http://127.0.0.1/cb"}})
	w.legacy = w.register(t, lintel.Client{ID: "hub", Kind: lintel.Confidential, Legacy: true,
		Scopes: lintel.ScopeOpen | lintel.ScopeClose | lintel.ScopeRead, RedirectURIs: []string{"https://hub.example/cb?a=b%20c"}})
	return w
}

func (w *world) register(t *testing.T, c lintel.Client) app {
	t.Helper()
	a := app{Client: c}
	hash := ""
	if c.Kind == lintel.Confidential {
		_, a.secret = secret.NewClient()
		hash = secret.Hash(a.secret)
	}
	c.Name, c.CreatedAt = c.ID, epoch
	must(t, w.db.AddClient(t.Context(), c, hash))
	return a
}

func (w *world) apps() []app { return []app{w.confidential, w.public, w.legacy} }

// form makes parameters of pairs of a name and a value.
func form(pairs ...string) url.Values { return change(url.Values{}, pairs...) }

// change sets parameters; an empty value takes one away.
func change(v url.Values, pairs ...string) url.Values {
	v = maps.Clone(v)
	for pair := range slices.Chunk(pairs, 2) {
		v.Set(pair[0], pair[1])
		if pair[1] == "" {
			v.Del(pair[0])
		}
	}
	return v
}

// query is a good request for consent, changed by pairs.
func (a app) query(pairs ...string) url.Values {
	q := form("response_type", "code", "client_id", a.ID, "redirect_uri", a.RedirectURIs[0], "state", "s", "scope", "OPENDOOR CLOSEDOOR",
		"code_challenge", challenge, "code_challenge_method", "S256")
	if a.Legacy {
		q = change(q, "code_challenge", "", "code_challenge_method", "")
	}
	return change(q, pairs...)
}

// form is a request at an endpoint with the client's credentials.
func (a app) form(pairs ...string) url.Values {
	return change(form("client_id", a.ID, "client_secret", a.secret), pairs...)
}

// redemption is a good request for the tokens of a code, changed by pairs.
func (a app) redemption(code string, pairs ...string) url.Values {
	f := a.form("grant_type", "authorization_code", "code", code, "redirect_uri", a.RedirectURIs[0], "code_verifier", verifier)
	if a.Legacy {
		f.Del("code_verifier")
	}
	return change(f, pairs...)
}

// renewal is a good request for the tokens of a refresh token, changed by pairs.
func (a app) renewal(token string, pairs ...string) url.Values {
	return change(a.form("grant_type", "refresh_token", "refresh_token", token), pairs...)
}

// polling is a good request for the tokens of a device code.
func (a app) polling(code string) url.Values {
	return a.form("grant_type", grantDevice, "device_code", code)
}

// asked puts a request for consent, which must be in order.
func (w *world) asked(t *testing.T, q url.Values) AuthorizationRequest {
	t.Helper()
	request, _, refusal := w.server.Authorize(t.Context(), q.Encode())
	if refusal != nil {
		t.Fatalf("%s: %v", q.Encode(), refusal.Err)
	}
	return request
}

// code has the person agree to all that an app asks for.
func (w *world) code(t *testing.T, a app, pairs ...string) string {
	t.Helper()
	request := w.asked(t, a.query(pairs...))
	location, err := w.server.Approve(t.Context(), request, w.person, request.Scopes)
	must(t, err)
	return parsed(t, location).Query().Get("code")
}

// connect gives an app its first tokens.
func (w *world) connect(t *testing.T, a app, pairs ...string) tokens {
	t.Helper()
	return w.post(t, PathToken, a.redemption(w.code(t, a, pairs...))).tokens(t)
}

// refresh gives an app new tokens.
func (w *world) refresh(t *testing.T, a app, token string, pairs ...string) tokens {
	t.Helper()
	return w.post(t, PathToken, a.renewal(token, pairs...)).tokens(t)
}

// alive reports whether an access token is good now.
func (w *world) alive(t *testing.T, token string) bool {
	t.Helper()
	return access.Token(w.subject(t, token), w.clock.read()) == nil
}

func (w *world) subject(t *testing.T, token string) *access.Subject {
	t.Helper()
	subject, err := w.db.Subject(t.Context(), secret.Hash(token))
	must(t, err)
	return subject
}

// wantRevoked holds that every one of the tokens was ended, and not by its age.
func (w *world) wantRevoked(t *testing.T, all ...tokens) {
	t.Helper()
	for _, each := range all {
		if s := w.subject(t, each.AccessToken); s == nil || !s.Revoked {
			t.Errorf("an access token still works: %+v", s)
		}
		_, grant, err := w.db.RefreshToken(t.Context(), secret.Hash(each.RefreshToken))
		if err != nil || grant.RevokedAt.IsZero() {
			t.Errorf("a refresh token still works: %+v, %v", grant, err)
		}
	}
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request as it is; nothing is followed or added.
func (w *world) send(r *http.Request) (reply, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return reply{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return reply{answer.StatusCode, answer.Header, string(body)}, err
}

// request makes a request with a form in its body, where there is one.
func (w *world) request(t *testing.T, method, path string, body url.Values) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body.Encode()))
	must(t, err)
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// call sends a request to an endpoint, and holds what every answer has.
func (w *world) call(t *testing.T, r *http.Request) reply {
	t.Helper()
	answer, err := w.send(r)
	must(t, err)
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Location": "",
	} {
		if got := strings.Join(answer.header.Values(name), ", "); got != want {
			t.Errorf("%s %s answered %s: %q", r.Method, r.URL.Path, name, got)
		}
	}
	return answer
}

func (w *world) post(t *testing.T, path string, body url.Values) reply {
	t.Helper()
	return w.call(t, w.request(t, http.MethodPost, path, body))
}

func (w *world) get(t *testing.T, path string, query url.Values) reply {
	t.Helper()
	return w.call(t, w.request(t, http.MethodGet, path+"?"+query.Encode(), nil))
}

// fields reads an answer's JSON object.
func (r reply) fields(t *testing.T) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(r.body), &fields); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	return fields
}

// tokens reads an answer with tokens, and holds it to its shape (RFC 6749 §5.1).
func (r reply) tokens(t *testing.T) tokens {
	t.Helper()
	fields := r.fields(t)
	keys := slices.Sorted(maps.Keys(fields))
	if r.status != 200 || !slices.Equal(keys, []string{"access_token", "expires_in", "refresh_token", "scope", "token_type"}) {
		t.Fatalf("%d with %v: %v", r.status, keys, fields["error_description"])
	}
	var got tokens
	must(t, json.Unmarshal([]byte(r.body), &got))
	if got.TokenType != "Bearer" || got.ExpiresIn != 3600 ||
		!secret.Is(secret.AccessToken, got.AccessToken) || !secret.Is(secret.RefreshToken, got.RefreshToken) {
		t.Fatalf("%+v", got)
	}
	return got
}

// wantRefused holds a refusal to its shape (RFC 6749 §5.2).
func (r reply) wantRefused(t *testing.T, what string, status int, code ErrorCode) {
	t.Helper()
	fields := r.fields(t)
	description, _ := fields["error_description"].(string)
	if r.status != status || fields["error"] != string(code) || len(fields) != 2 || !isDescription(description) {
		t.Errorf("%s: %d %s instead of %d %s", what, r.status, strings.TrimSpace(r.body), status, code)
	}
	wantChallenge, wantAllow := "", ""
	switch status {
	case 401:
		wantChallenge = `Basic realm="lintel", charset="UTF-8"`
	case 405:
		wantAllow = "POST"
	}
	if got := r.header.Get("WWW-Authenticate"); got != wantChallenge {
		t.Errorf("%s: WWW-Authenticate %q", what, got)
	}
	if got := r.header.Get("Allow"); got != wantAllow {
		t.Errorf("%s: Allow %q", what, got)
	}
}

// isDescription reports whether a text may be an error_description (RFC 6749 §5.2).
func isDescription(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e || r == '"' || r == '\\' })
}

// hooked is a store that calls before with the name of each method, when set:
// to fail, or to panic.
type hooked struct {
	Store
	before func(method string) error
}

func (h *hooked) call(method string) error {
	if h.before == nil {
		return nil
	}
	return h.before(method)
}

func (h *hooked) Client(ctx context.Context, id string) (lintel.Client, error) {
	if err := h.call("Client"); err != nil {
		return lintel.Client{}, err
	}
	return h.Store.Client(ctx, id)
}

func (h *hooked) Subject(ctx context.Context, hash string) (*access.Subject, error) {
	if err := h.call("Subject"); err != nil {
		return nil, err
	}
	return h.Store.Subject(ctx, hash)
}

func (h *hooked) AddCode(ctx context.Context, g lintel.Grant, c lintel.AuthorizationCode) error {
	if err := h.call("AddCode"); err != nil {
		return err
	}
	return h.Store.AddCode(ctx, g, c)
}

func (h *hooked) Code(ctx context.Context, hash string) (lintel.AuthorizationCode, lintel.Grant, error) {
	if err := h.call("Code"); err != nil {
		return lintel.AuthorizationCode{}, lintel.Grant{}, err
	}
	return h.Store.Code(ctx, hash)
}

func (h *hooked) RedeemCode(ctx context.Context, hash string, issue lintel.Issue) (lintel.Redemption, error) {
	if err := h.call("RedeemCode"); err != nil {
		return "", err
	}
	return h.Store.RedeemCode(ctx, hash, issue)
}

func (h *hooked) RefreshToken(ctx context.Context, hash string) (lintel.RefreshToken, lintel.Grant, error) {
	if err := h.call("RefreshToken"); err != nil {
		return lintel.RefreshToken{}, lintel.Grant{}, err
	}
	return h.Store.RefreshToken(ctx, hash)
}

func (h *hooked) RedeemRefreshToken(ctx context.Context, hash string, strict bool, issue lintel.Issue) (lintel.Redemption, error) {
	if err := h.call("RedeemRefreshToken"); err != nil {
		return "", err
	}
	return h.Store.RedeemRefreshToken(ctx, hash, strict, issue)
}

func (h *hooked) RevokeGrant(ctx context.Context, id lintel.ID, why string, now time.Time) error {
	if err := h.call("RevokeGrant"); err != nil {
		return err
	}
	return h.Store.RevokeGrant(ctx, id, why, now)
}

func (h *hooked) AddDeviceCode(ctx context.Context, d lintel.DeviceCode) error {
	if err := h.call("AddDeviceCode"); err != nil {
		return err
	}
	return h.Store.AddDeviceCode(ctx, d)
}

func (h *hooked) DeviceCode(ctx context.Context, hash string) (lintel.DeviceCode, error) {
	if err := h.call("DeviceCode"); err != nil {
		return lintel.DeviceCode{}, err
	}
	return h.Store.DeviceCode(ctx, hash)
}

func (h *hooked) DeviceByUserCode(ctx context.Context, hash string) (lintel.DeviceCode, error) {
	if err := h.call("DeviceByUserCode"); err != nil {
		return lintel.DeviceCode{}, err
	}
	return h.Store.DeviceByUserCode(ctx, hash)
}

func (h *hooked) PollDevice(ctx context.Context, hash string, now time.Time) (bool, error) {
	if err := h.call("PollDevice"); err != nil {
		return false, err
	}
	return h.Store.PollDevice(ctx, hash, now)
}

func (h *hooked) RedeemDeviceCode(ctx context.Context, hash string, issue lintel.Issue) (lintel.Redemption, error) {
	if err := h.call("RedeemDeviceCode"); err != nil {
		return "", err
	}
	return h.Store.RedeemDeviceCode(ctx, hash, issue)
}

// clock tells the time that a test sets.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func (c *clock) pass(d time.Duration) { c.set(c.read().Add(d)) }

// logged is a log that a test may read while the server writes it.
type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, uri string) *url.URL {
	t.Helper()
	u, err := url.Parse(uri)
	must(t, err)
	return u
}
