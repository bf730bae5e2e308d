package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const (
	authorizationPath = "/oauth/v2/endpoints/authorization/"
	tokenPath         = "/oauth/v2/endpoints/token/"
	revocationPath    = "/oauth/v2/endpoints/revocation/"
	introspectionPath = "/oauth/v2/endpoints/introspection/"
	devicePath        = "/oauth/v2/endpoints/device_authorization/"
	metadataPath      = "/.well-known/oauth-authorization-server"
)

// oauthClient is a registered client as the demo and lintel client add print it.
type oauthClient struct {
	ID           string   `json:"client_id"`
	Secret       string   `json:"client_secret"`
	RedirectURIs []string `json:"redirect_uris"`
	Kind         string   `json:"kind"`
}

// client returns the demo's client of a kind.
func (d *demo) client(kind string) oauthClient {
	d.t.Helper()
	for _, c := range d.Clients {
		if c.Kind == kind {
			return c
		}
	}
	d.t.Fatalf("no %s client", kind)
	panic("unreachable")
}

// tokenAnswer is what the token endpoint says.
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
	Error        string `json:"error"`
}

const (
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 appendix B
	state    = "s t/at&e=ä"
)

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// authorizationURL is a request for consent; pairs change it.
func authorizationURL(base string, c oauthClient, pairs ...string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {c.RedirectURIs[0]}, "scope": {"OPENDOOR CLOSEDOOR READ"},
		"state": {state}, "code_challenge": {challenge()}, "code_challenge_method": {"S256"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	return base + authorizationPath + "?" + q.Encode()
}

// consent opens a request for consent and signs in where that is needed.
func (d *demo) consent(v *visitor, address string) page {
	d.t.Helper()
	p := v.open(address)
	for _, f := range p.forms {
		if f.inputs["password"] {
			return p.signIn(d.User.Email, d.User.Password)
		}
	}
	return p
}

// authorise goes the whole way to a code.
func (d *demo) authorise(c oauthClient, pairs ...string) (code string) {
	d.t.Helper()
	p := d.consent(newVisitor(d.t, d.BaseURL), authorizationURL(d.BaseURL, c, pairs...))
	p = p.submit(p.form("decision"), "decision", "allow")
	answer, err := url.Parse(p.Location)
	if err != nil || answer.Query().Get("code") == "" {
		d.t.Fatalf("allowed, and sent to %q (%d)\n%s", p.Location, p.Status, p.Text)
	}
	return answer.Query().Get("code")
}

// post sends a form to an endpoint.
func (d *demo) post(path string, pairs ...string) response {
	d.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return do(d.t, "POST", d.BaseURL+path, "", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// redeem gets tokens for a code by a public client.
func (d *demo) redeem(c oauthClient, code string) tokenAnswer {
	d.t.Helper()
	r := d.post(tokenPath, "grant_type", "authorization_code", "client_id", c.ID, "code", code,
		"redirect_uri", c.RedirectURIs[0], "code_verifier", verifier)
	return parsed[tokenAnswer](d.t, string(r.Body))
}

// TestAuthorizationCode goes from an app to its first toggle, as a person does.
func TestAuthorizationCode(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	app := d.client("public")
	v := newVisitor(t, d.BaseURL)
	p := d.consent(v, authorizationURL(d.BaseURL, app))
	for _, said := range []string{"Demo desktop app", d.User.Email} {
		if !strings.Contains(p.Text, said) {
			t.Errorf("the consent page does not say %q", said)
		}
	}
	p = p.submit(p.form("decision"), "decision", "allow")
	answer, err := url.Parse(p.Location)
	if err != nil || p.Status != http.StatusSeeOther && p.Status != http.StatusFound || !strings.HasPrefix(p.Location, app.RedirectURIs[0]+"?") {
		t.Fatalf("%d to %q", p.Status, p.Location)
	}
	if q := answer.Query(); q.Get("state") != state || q.Get("iss") != d.BaseURL {
		t.Errorf("answered %q", q)
	}
	tokens := d.redeem(app, answer.Query().Get("code"))
	if tokens.TokenType != "Bearer" || tokens.Scope != "OPENDOOR CLOSEDOOR READ" || tokens.ExpiresIn < 60 || tokens.RefreshToken == "" {
		t.Fatalf("tokens %+v", tokens)
	}
	if r := d.toggleAs(tokens.AccessToken, d.door("works").DoorID, "OPEN"); r.Status != http.StatusOK {
		t.Errorf("toggle: %d %s", r.Status, r.Body)
	}
	// A second use of the code ends what the first one got.
	if again := d.redeem(app, answer.Query().Get("code")); again.Error != "invalid_grant" {
		t.Errorf("the code works again: %+v", again)
	}
	if r := d.toggleAs(tokens.AccessToken, d.door("works").DoorID, "CLOSED"); r.Status != http.StatusUnauthorized {
		t.Errorf("after a replay the token is worth %d", r.Status)
	}
}

// TestDeny sends the person's refusal back.
func TestDeny(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	p := d.consent(newVisitor(t, d.BaseURL), authorizationURL(d.BaseURL, d.client("public")))
	p = p.submit(p.form("decision"), "decision", "deny")
	answer, err := url.Parse(p.Location)
	if err != nil {
		t.Fatal(err)
	}
	if q := answer.Query(); q.Get("error") != "access_denied" || q.Get("state") != state || q.Get("iss") != d.BaseURL || q.Get("code") != "" {
		t.Errorf("answered %q", q)
	}
}

// TestDeployedStyleClient does what the deployed services' pages show: everything
// in the query of a GET, commas between scopes, no PKCE.
func TestDeployedStyleClient(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	app := d.client("confidential")
	code := d.authorise(app, "scope", "opendoor,CloseDoor", "code_challenge", "", "code_challenge_method", "")
	get := func(q url.Values) tokenAnswer {
		t.Helper()
		q.Set("client_id", app.ID)
		q.Set("client_secret", app.Secret)
		r := do(t, "GET", d.BaseURL+tokenPath+"?"+q.Encode(), "", "", "Content-Type", "application/x-www-form-urlencoded")
		if r.Status != http.StatusOK {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		return parsed[tokenAnswer](t, string(r.Body))
	}
	first := get(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {app.RedirectURIs[0]}})
	if first.Scope != "OPENDOOR CLOSEDOOR" {
		t.Errorf("scope %q", first.Scope)
	}
	second := get(url.Values{"grant_type": {"authorization_code", "refresh_token"}, "refresh_token": {first.RefreshToken}})
	for _, token := range []string{first.AccessToken, second.AccessToken} {
		if r := d.toggleAs(token, d.door("works").DoorID, "OPEN"); r.Status != http.StatusOK {
			t.Errorf("toggle: %d", r.Status)
		}
	}
}

// TestOldAppThatLists: what was written for services without a scope for reading
// can be registered to ask for READ as well.
func TestOldAppThatLists(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	app := d.addClient("Old panel", "--redirect-uri", "https://panel.example/cb", "--legacy", "--with-read")
	code := d.authorise(app, "scope", "OPENDOOR,CLOSEDOOR", "code_challenge", "", "code_challenge_method", "")
	r := d.post(tokenPath, "grant_type", "authorization_code", "client_id", app.ID, "client_secret", app.Secret, "code", code, "redirect_uri", app.RedirectURIs[0])
	tokens := parsed[tokenAnswer](t, string(r.Body))
	if tokens.Scope != "OPENDOOR CLOSEDOOR READ" {
		t.Errorf("scope %q", tokens.Scope)
	}
	if r := do(t, "POST", d.BaseURL+syncPath, tokens.AccessToken, ""); r.Status != http.StatusOK {
		t.Errorf("sync: %d", r.Status)
	}
}

// TestUntickedScope holds that a person may give less than was asked.
func TestUntickedScope(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	app := d.client("public")
	p := d.consent(newVisitor(t, d.BaseURL), authorizationURL(d.BaseURL, app))
	p = p.submit(p.form("decision"), "decision", "allow", "scope", "READ")
	answer, err := url.Parse(p.Location)
	if err != nil {
		t.Fatal(err)
	}
	tokens := d.redeem(app, answer.Query().Get("code"))
	if tokens.Scope != "READ" {
		t.Errorf("scope %q", tokens.Scope)
	}
	r := d.toggleAs(tokens.AccessToken, d.door("works").DoorID, "OPEN")
	if r.Status != http.StatusForbidden || !strings.Contains(r.Header.Get("WWW-Authenticate"), "insufficient_scope") {
		t.Errorf("toggle: %d %q", r.Status, r.Header)
	}
}
