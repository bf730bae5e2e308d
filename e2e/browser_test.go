package e2e

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// browser is a real Chromium with an empty profile.
type browser struct {
	t   *testing.T
	ctx context.Context
	// complaints are what the console said: a broken policy shows up there only.
	complaints chan string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	needTool(t, "chromium", "chromium")
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("headless", true), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true),
	}
	allocated, stopAllocating := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocated)
	b := &browser{t: t, complaints: make(chan string, 100)}
	var end context.CancelFunc
	b.ctx, end = context.WithTimeout(ctx, 2*patience)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		end()
		stop()
		stopAllocating()
	})
	console := chromedp.Console(b.ctx)
	go func() {
		for message, err := range console {
			if err != nil {
				return // the browser ended
			}
			if message.Type != chromedp.ConsoleLog {
				b.note(message.Text)
			}
		}
	}()
	b.do("start", chromedp.Navigate("about:blank"))
	return b
}

func (b *browser) note(text string) {
	select {
	case b.complaints <- text:
	default: // enough of them
	}
}

// do performs actions; what says which.
func (b *browser) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	err := chromedp.Do(b.ctx, actions...)
	if err == nil {
		return
	}
	look, end := context.WithTimeout(context.WithoutCancel(b.ctx), 5*time.Second)
	defer end()
	at, _ := chromedp.Run(look, chromedp.Location())
	text, _ := chromedp.Run(look, chromedp.Text("body"))
	b.t.Fatalf("%s: %v\nat %s:\n%s\nconsole: %q", what, err, at, text, b.said())
}

// read asks the page for something.
func (b *browser) read(what string, action chromedp.Action[string]) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return text
}

// said returns what the console said so far.
func (b *browser) said() (all []string) {
	for {
		select {
		case text := <-b.complaints:
			all = append(all, text)
		default:
			return all
		}
	}
}

// obeyed fails when the browser blocked something of a page.
func (b *browser) obeyed() {
	b.t.Helper()
	for _, text := range b.said() {
		if !strings.Contains(text, "favicon") {
			b.t.Errorf("the console says %q", text)
		}
	}
}

func (b *browser) signIn(email, password string) {
	b.t.Helper()
	b.do("sign in", chromedp.WaitVisible(`input[name=password]`), chromedp.SetValue(`input[name=email]`, email),
		chromedp.SendKeys(`input[name=password]`, password), chromedp.Submit(`input[name=password]`))
}

// app is the redirect address of an app on this machine: it keeps the answers.
type app struct {
	uri     string
	answers chan url.Values
}

func newApp(t *testing.T) *app {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{uri: "http://" + l.Addr().String() + "/callback", answers: make(chan url.Values, 1)}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/callback" {
			a.answers <- r.URL.Query()
			_, _ = w.Write([]byte(`<p id="arrived">arrived</p>`))
		}
	}), ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return a
}

// TestConsentInChromium signs in, allows, and arrives at the app; then denies.
// Only a browser applies the pages' policy to the redirect behind the form.
func TestConsentInChromium(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	b, back := newBrowser(t), newApp(t)
	address := authorizationURL(d.BaseURL, d.client("public"), "redirect_uri", back.uri)
	b.do("open", chromedp.Navigate(address))
	b.signIn(d.User.Email, d.User.Password)
	b.do("allow", chromedp.WaitVisible(`button[value=allow]`), chromedp.Click(`button[value=allow]`), chromedp.WaitVisible(`#arrived`))
	q := receive(t, "the app to be called back", back.answers)
	if q.Get("code") == "" || q.Get("state") != state || q.Get("iss") != d.BaseURL {
		t.Errorf("answered %q", q)
	}
	b.do("deny", chromedp.Navigate(address), chromedp.WaitVisible(`button[value=deny]`), chromedp.Click(`button[value=deny]`), chromedp.WaitVisible(`#arrived`))
	if q = receive(t, "the app to be called back", back.answers); q.Get("error") != "access_denied" || q.Get("state") != state {
		t.Errorf("answered %q", q)
	}
	b.obeyed()
}

// TestDeviceInChromium types a device's code and allows it.
func TestDeviceInChromium(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	app := d.client("public")
	r := d.post(devicePath, "client_id", app.ID, "scope", "READ")
	started := parsed[struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		Page       string `json:"verification_uri"`
		Complete   string `json:"verification_uri_complete"`
	}](t, string(r.Body))
	b := newBrowser(t)
	b.do("open", chromedp.Navigate(started.Page))
	b.signIn(d.User.Email, d.User.Password)
	b.do("enter the code", chromedp.WaitVisible(`input[name=user_code]`), chromedp.SendKeys(`input[name=user_code]`, strings.ToLower(started.UserCode)),
		chromedp.Submit(`input[name=user_code]`), chromedp.WaitVisible(`button[value=allow]`))
	text := b.read("the page", chromedp.Text("body"))
	b.do("allow", chromedp.Click(`button[value=allow]`), chromedp.WaitNotPresent(`button[value=allow]`))
	if !strings.Contains(text, started.UserCode) || !strings.Contains(text, "Demo desktop app") {
		t.Errorf("the page says:\n%s", text)
	}
	tokens := parsed[tokenAnswer](t, string(d.post(tokenPath, "grant_type", "urn:ietf:params:oauth:grant-type:device_code",
		"client_id", app.ID, "device_code", started.DeviceCode).Body))
	if tokens.Scope != "READ" {
		t.Errorf("tokens %+v", tokens)
	}
	b.obeyed()
}

// TestPasskeyInChromium adds a passkey with Chromium's own authenticator and
// signs in with it.
func TestPasskeyInChromium(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--http", "localhost:0")
	h := &house{site: s, Email: "owner@house.example"}
	h.Password = h.addUser(h.Email)["password"]
	b := newBrowser(t)
	if _, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	authenticator := webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}}
	if _, err := chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator, authenticator); err != nil {
		t.Fatal(err)
	}
	b.do("open", chromedp.Navigate(h.BaseURL+"/account/passkeys"))
	b.signIn(h.Email, h.Password)
	b.do("add a passkey", chromedp.WaitVisible(`form[data-passkey=create] button`), chromedp.SetValue(`form[data-passkey=create] input[name=name]`, "Test key"),
		chromedp.Click(`form[data-passkey=create] button`), chromedp.WaitVisible(`//h2[text()="Test key"]`))
	b.do("sign out", chromedp.Submit(`form[action="/sign-out"] button`), chromedp.Navigate(h.BaseURL+"/sign-in?return=/account/sessions"))
	// Chromium's authenticator answers the request behind the e-mail field by itself,
	// or the button's: whichever comes first.
	press := `document.querySelector('form[data-passkey=get] button:not(:disabled)')?.click()`
	_, _ = chromedp.Run(b.ctx, chromedp.Evaluate[any](press)) // the page may just be leaving
	b.do("sign in with the passkey", chromedp.WaitReady(`a[aria-current=page]`))
	if at := b.read("the address", chromedp.Location()); at != h.BaseURL+"/account/sessions" {
		t.Errorf("after signing in: %s", at)
	}
	b.obeyed()
}
