package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// connected is an app with tokens of a person.
type connected struct {
	client oauthClient
	tokens tokenAnswer
	v      *visitor // the browser that the person agreed with
}

func (d *demo) connect(c oauthClient) connected {
	d.t.Helper()
	v := newVisitor(d.t, d.BaseURL)
	p := d.consent(v, authorizationURL(d.BaseURL, c))
	p = p.submit(p.form("decision"), "decision", "allow")
	back, err := url.Parse(p.Location)
	if err != nil {
		d.t.Fatal(err)
	}
	a := connected{client: c, v: v}
	a.tokens = d.redeemAs(c, back.Query().Get("code"))
	if a.tokens.RefreshToken == "" {
		d.t.Fatalf("no tokens: %+v", a.tokens)
	}
	return a
}

// redeemAs gets tokens for a code by a client of either kind.
func (d *demo) redeemAs(c oauthClient, code string) tokenAnswer {
	d.t.Helper()
	pairs := []string{"grant_type", "authorization_code", "client_id", c.ID, "code", code, "redirect_uri", c.RedirectURIs[0], "code_verifier", verifier}
	if c.Secret != "" {
		pairs = append(pairs, "client_secret", c.Secret)
	}
	return parsed[tokenAnswer](d.t, string(d.post(tokenPath, pairs...).Body))
}

// button presses the button of a form of a page by its action.
func (p page) press(action string, pairs ...string) page {
	p.v.t.Helper()
	for _, f := range p.forms {
		if strings.Contains(f.action, action) {
			return p.submit(f, pairs...)
		}
	}
	p.v.t.Fatalf("%s (%d) has no form to %s:\n%s", p.URL, p.Status, action, p.Text)
	panic("unreachable")
}

// TestEveryEndOfAnAppActsAtOnce ends what an app was given in every way there
// is, beside the running service: the next toggle, sync and refresh are refused.
func TestEveryEndOfAnAppActsAtOnce(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	admin := func(args ...string) {
		t.Helper()
		lintel(t, append(args, "--data", d.Data)...)
	}
	for _, end := range []struct {
		name string
		by   func(a connected)
		undo func()
	}{
		{"the app revokes", func(a connected) {
			r := d.post(revocationPath, "client_id", a.client.ID, "token", a.tokens.RefreshToken)
			if r.Status != http.StatusOK || string(r.Body) != "{}\n" {
				t.Errorf("revocation: %d %s", r.Status, r.Body)
			}
		}, nil},
		{"the person disconnects it", func(a connected) { a.v.open("/account/apps").press("/disconnect") }, nil},
		{"the client is disabled", func(a connected) { admin("client", "disable", a.client.ID) }, func() { admin("client", "enable", "demoapp") }},
		{"the password is changed", func(a connected) {
			const next = "quite another long password"
			p := a.v.open("/account/password")
			p.submit(p.form("current"), "current", d.User.Password, "next", next)
			d.User.Password = next
		}, nil},
		{"the administrator sets a password", func(connected) {
			made := parsed[map[string]string](t, lintel(t, "user", "password", d.User.Email, "--json", "--data", d.Data))
			d.User.Password = made["password"]
		}, nil},
		{"the account is disabled", func(connected) { admin("user", "disable", d.User.Email) }, func() { admin("user", "enable", d.User.Email) }},
		{"the client is removed", func(a connected) { admin("client", "remove", a.client.ID) }, nil},
	} {
		t.Run(end.name, func(t *testing.T) {
			d := *d
			d.t = t
			app := d.client("public")
			a := d.connect(app)
			door := d.door("works").DoorID
			if r := d.toggleAs(a.tokens.AccessToken, door, "OPEN"); r.Status != http.StatusOK {
				t.Fatalf("before: %d", r.Status)
			}
			end.by(a)
			if r := d.toggleAs(a.tokens.AccessToken, door, "CLOSED"); r.Status != http.StatusUnauthorized {
				t.Errorf("toggle: %d", r.Status)
			}
			if r := do(t, "POST", d.BaseURL+syncPath, a.tokens.AccessToken, ""); r.Status != http.StatusUnauthorized {
				t.Errorf("sync: %d", r.Status)
			}
			r := d.post(tokenPath, "grant_type", "refresh_token", "client_id", app.ID, "refresh_token", a.tokens.RefreshToken)
			if got := parsed[tokenAnswer](t, string(r.Body)).Error; got != "invalid_grant" && got != "invalid_client" {
				t.Errorf("refresh: %d %s", r.Status, r.Body)
			}
			if end.undo != nil {
				end.undo()
				if r := d.toggleAs(a.tokens.AccessToken, door, "CLOSED"); r.Status != http.StatusUnauthorized {
					t.Errorf("afterwards the token is good again: %d", r.Status)
				}
			}
		})
	}
	if taken := len(d.history()); taken != 7 {
		t.Errorf("%d commands are recorded, want 7", taken)
	}
}

// TestSecretsRotate: the secret before the last stays good until it is finished.
func TestSecretsRotate(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	made := d.addClient("Rotating", "--redirect-uri", "https://app.example/cb")
	works := func(secret string) bool {
		r := d.post(introspectionPath, "client_id", made.ID, "client_secret", secret, "token", "x")
		return r.Status == http.StatusOK && string(r.Body) == "{\"active\":false}\n"
	}
	rotate := func(args ...string) string {
		arguments := append([]string{"client", "rotate", made.ID, "--data", d.Data, "--json"}, args...)
		return parsed[oauthClient](t, lintel(t, arguments...)).Secret
	}
	second := rotate()
	third := rotate()
	for secret, want := range map[string]bool{made.Secret: false, second: true, third: true} {
		if works(secret) != want {
			t.Errorf("of three, works is %t", !want)
		}
	}
	if rotate("--finish") != "" || works(second) || !works(third) {
		t.Error("finishing leaves more or less than the newest")
	}
	if fourth := rotate("--at-once"); works(third) || !works(fourth) {
		t.Error("a rotation at once leaves more or less than the newest")
	}
}

// TestSetUp goes from an empty database to an account: the printed link works
// once, and until then there is nothing else.
func TestSetUp(t *testing.T) {
	t.Parallel()
	s := startServe(t)
	link := ""
	for !strings.Contains(link, "/setup?ticket=") {
		line, err := s.stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		link = strings.TrimSpace(line)
	}
	if strings.Contains(s.stderr.String(), link) {
		t.Error("the link is in the log")
	}
	for _, path := range []string{"/", "/sign-in", "/account", syncPath, togglePath, authorizationPath, tokenPath, metadataPath, "/device"} {
		if r := do(t, "GET", s.BaseURL+path, "", ""); r.Status != http.StatusServiceUnavailable {
			t.Errorf("before the set-up, %s answers %d", path, r.Status)
		}
	}
	v := newVisitor(t, s.BaseURL)
	if p := newVisitor(t, s.BaseURL).open(s.BaseURL + "/setup?ticket=ltt_" + strings.Repeat("A", 43)); p.Status == http.StatusOK && len(p.forms) > 0 {
		p = p.submit(p.form("email"), "email", "eve@house.example", "password", "a long enough password")
		if p.Status < 400 {
			t.Errorf("a made-up link works: %d", p.Status)
		}
	}
	p := v.open(link)
	short := p.submit(p.form("email"), "email", "owner@house.example", "password", "short")
	if short.Status != http.StatusBadRequest {
		t.Errorf("a short password: %d", short.Status)
	}
	p = short.submit(short.form("email"), "email", "owner@house.example", "password", "a long enough password")
	if p.Status != http.StatusOK || !strings.Contains(p.Text, "owner@house.example") {
		t.Fatalf("set up: %d %s", p.Status, p.Text)
	}
	again := newVisitor(t, s.BaseURL).open(link)
	if len(again.forms) > 0 && again.forms[0].inputs["password"] && strings.Contains(again.URL.Path, "setup") {
		t.Error("the link shows its form a second time")
	}
	if r := do(t, "GET", s.BaseURL+syncPath, "", ""); r.Status != http.StatusUnauthorized {
		t.Errorf("after the set-up, sync answers %d", r.Status)
	}
	if p := newVisitor(t, s.BaseURL).open("/sign-in").signIn("owner@house.example", "a long enough password"); !strings.HasPrefix(p.URL.Path, "/account") {
		t.Errorf("signing in leads to %s (%d)", p.URL, p.Status)
	}
}
