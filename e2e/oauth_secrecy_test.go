package e2e

import (
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoSecretOfSigningInIsKept plants every secret of signing in and of OAuth
// where it belongs and where it does not, and looks for it in the log, in the
// database's files and in every answer to a wrong request.
func TestNoSecretOfSigningInIsKept(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "made")
	h := &house{site: startServeIn(t, data, "--log-level", "debug"), Email: "owner@house.example"}
	h.Password = h.addUser(h.Email)["password"]
	const redirect = "http://127.0.0.1:9/callback"
	old := h.addClient("Old", "--redirect-uri", redirect, "--legacy")

	v := newVisitor(t, h.BaseURL)
	var wrong strings.Builder // what answers to wrong requests say
	note := func(p page) { wrong.WriteString(p.Text + p.Location + strings.Join(p.Header["Set-Cookie"], "")) }
	note(v.open("/sign-in").signIn(h.Email, h.Password+"x"))
	note(v.open("/sign-in").signIn(h.Password, h.Email))
	address := authorizationURL(h.BaseURL, old, "code_challenge", "", "code_challenge_method", "")
	p := h.signedIn(v.open(address))
	ticket := p.form("ticket").fields.Get("ticket")
	consent := p
	p = p.submit(p.form("decision"), "decision", "allow")
	back, err := url.Parse(p.Location)
	if err != nil || back.Query().Get("code") == "" {
		t.Fatalf("sent to %q", p.Location)
	}
	code := back.Query().Get("code")

	get := func(q url.Values) response {
		q.Set("client_id", old.ID)
		r := do(t, "GET", h.BaseURL+tokenPath+"?"+q.Encode(), "", "")
		if r.Status != http.StatusOK {
			wrong.Write(r.Body)
		}
		return r
	}
	with := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "client_secret": {old.Secret + "x"}}
	get(with)
	with.Set("client_secret", old.Secret)
	with.Set("redirect_uri", "http://127.0.0.1:9/other")
	get(with)
	with.Set("redirect_uri", redirect)
	tokens := parsed[tokenAnswer](t, string(get(with).Body))
	if tokens.RefreshToken == "" {
		t.Fatalf("no tokens: %+v", tokens)
	}
	for _, path := range []string{tokenPath, revocationPath, introspectionPath, devicePath, authorizationPath, "/sign-in", "/device", "/nowhere", syncPath} {
		q := url.Values{"client_id": {old.Secret}, "code": {code}, "token": {tokens.AccessToken}, "password": {h.Password}, "refresh_token": {tokens.RefreshToken}}
		for _, method := range []string{"GET", "POST", "PUT"} {
			wrong.Write(do(t, method, h.BaseURL+path+"?"+q.Encode(), tokens.RefreshToken, q.Encode(), "Content-Type", "application/x-www-form-urlencoded").Body)
		}
	}
	// An address that is not plain is not redirected with what it carries.
	for _, path := range []string{"/" + tokenPath, tokenPath + "/", "/oauth/../oauth/v2/endpoints/token/", authorizationPath + "/"} {
		q := url.Values{"client_id": {old.ID}, "client_secret": {old.Secret}, "refresh_token": {tokens.RefreshToken}}
		for _, method := range []string{"GET", "POST"} {
			r := do(t, method, h.BaseURL+path+"?"+q.Encode(), "", "")
			wrong.WriteString(string(r.Body) + r.Header.Get("Location"))
			if r.Status != http.StatusNotFound || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d, Cache-Control %q", method, path, r.Status, r.Header.Get("Cache-Control"))
			}
		}
	}
	device := parsed[map[string]any](t, string(do(t, "POST", h.BaseURL+devicePath, "", "client_id=lintelcli", "Content-Type", "application/x-www-form-urlencoded").Body))
	deviceCode, userCode := device["device_code"].(string), device["user_code"].(string)
	get(url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {deviceCode}, "client_secret": {old.Secret}})
	codes := v.open("/account/recovery-codes")
	codes = codes.press("/account/recovery-codes")
	recovery := regexp.MustCompile(`[0-9a-z]{4}(-[0-9a-z]{4}){3}`).FindString(codes.Text)
	note(newVisitor(t, h.BaseURL).open("/sign-in/recovery").press("/sign-in/recovery", "email", "nobody@house.example", "code", recovery))
	get(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}, "client_secret": {old.Secret}})
	get(with) // a replay, which is logged
	session := ""
	base, _ := url.Parse(h.BaseURL)
	for _, c := range v.client.Jar.Cookies(base) {
		if strings.Contains(c.Name, "session") {
			session = c.Value
		}
	}
	secrets := map[string]string{"password": h.Password, "code": code, "access token": tokens.AccessToken,
		"refresh token": tokens.RefreshToken, "client secret": old.Secret, "session": session,
		"device code": deviceCode, "user code": userCode, "recovery code": recovery, "form's token": consent.form("ticket").fields.Get("csrf"),
		"consent's ticket": ticket}
	for name, secret := range secrets {
		if len(secret) < 9 {
			t.Fatalf("the %s was not planted: %q", name, secret)
		}
	}
	search(t, "what wrong requests are answered", wrong.String(), secrets, "invalid_client")
	searchFiles(t, data, secrets, old.ID)
	if err := h.interrupt(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	searchFiles(t, data, secrets, old.ID)
	search(t, "the service's log", h.stderr.String(), secrets, "used twice")
}
