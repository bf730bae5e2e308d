package oauth

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"lintel"
	"lintel/secret"
)

// faults are requests with the methods of the store that they need.
func (w *world) faults(t *testing.T) map[string]struct {
	path    string
	form    url.Values
	methods []string
} {
	t.Helper()
	code, user := w.device(t, w.public, "")
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	replayed := w.code(t, w.confidential)
	w.post(t, PathToken, w.confidential.redemption(replayed)).tokens(t)
	spent := w.connect(t, w.public).RefreshToken
	w.refresh(t, w.public, spent)
	return map[string]struct {
		path    string
		form    url.Values
		methods []string
	}{
		"code":                 {PathToken, w.confidential.redemption(w.code(t, w.confidential)), []string{"Client", "Code", "RedeemCode"}},
		"code, replayed":       {PathToken, w.confidential.redemption(replayed), []string{"Client", "Code", "RevokeGrant"}},
		"refresh":              {PathToken, w.public.renewal(w.connect(t, w.public).RefreshToken), []string{"Client", "RefreshToken", "RedeemRefreshToken"}},
		"refresh, replayed":    {PathToken, w.public.renewal(spent), []string{"Client", "RefreshToken", "RevokeGrant"}},
		"device":               {PathToken, w.public.polling(code), []string{"Client", "DeviceCode", "RedeemDeviceCode"}},
		"device authorization": {PathDeviceAuthorization, w.public.form(), []string{"Client", "AddDeviceCode"}},
		"revoke access":        {PathRevocation, w.public.form("token", w.connect(t, w.public).AccessToken), []string{"Client", "Subject", "RevokeGrant"}},
		"revoke refresh":       {PathRevocation, w.public.form("token", w.connect(t, w.public).RefreshToken), []string{"Client", "RefreshToken", "RevokeGrant"}},
		"introspect access":    {PathIntrospection, w.confidential.form("token", w.connect(t, w.confidential).AccessToken), []string{"Client", "Subject"}},
		"introspect refresh":   {PathIntrospection, w.confidential.form("token", w.connect(t, w.confidential).RefreshToken), []string{"Client", "RefreshToken"}},
	}
}

// TestFaults breaks every use of the store, by an error and by a panic: the
// client learns only that, and may ask again, which then works.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	for name, c := range w.faults(t) {
		for _, method := range c.methods {
			for how, fault := range map[string]func() error{
				"error": func() error {
					return &lintel.Error{Code: lintel.CodeInternal, Message: "no storage", Err: errors.New("sql: /data/lintel.db: disk on fire")}
				},
				"panic": func() error { panic("index out of range") },
			} {
				w.hook.before = func(m string) error {
					if m == method {
						return fault()
					}
					return nil
				}
				before := len(w.log.String())
				answer := w.post(t, c.path, c.form)
				w.hook.before = nil
				if name == "device" {
					w.clock.pass(devicePause)
				}
				answer.wantRefused(t, name+", "+method+", "+how, 500, ServerError)
				text := w.log.String()[before:]
				if strings.Contains(answer.body, "sql") || strings.Contains(answer.body, "range") || !strings.Contains(text, `"level":"ERROR"`) ||
					!strings.Contains(text, "disk on fire") && !strings.Contains(text, "index out of range") {
					t.Errorf("%s, %s, %s: answered %s, logged %s", name, method, how, answer.body, text)
				}
			}
		}
		answer := w.post(t, c.path, c.form)
		if strings.HasSuffix(name, "replayed") {
			answer.wantRefused(t, name, 400, InvalidGrant)
		} else if answer.status != 200 || strings.Contains(answer.body, inactive) {
			t.Errorf("%s after the faults: %d %s", name, answer.status, answer.body)
		}
	}
}

// TestFaultsBehindThePages breaks what the pages call: they must learn that it
// was no mistake of the person.
func TestFaultsBehindThePages(t *testing.T) {
	w := newWorld(t)
	_, user := w.device(t, w.public, "")
	for _, method := range []string{"DeviceByUserCode", "Client"} {
		w.hook.before = func(m string) error {
			if m == method {
				return &lintel.Error{Code: lintel.CodeInternal, Message: "no storage"}
			}
			return nil
		}
		if _, err := w.server.Device(t.Context(), user); lintel.CodeOf(err) != lintel.CodeInternal {
			t.Errorf("%s: shown: %v", method, err)
		}
		if err := w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead); lintel.CodeOf(err) != lintel.CodeInternal {
			t.Errorf("%s: approved: %v", method, err)
		}
	}
}

// TestCutBody sends less than was announced.
func TestCutBody(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, PathToken, iotest.ErrReader(io.ErrUnexpectedEOF))
	if text, failure := readForm(r); text != "" || failure == nil || failure.Code != InvalidRequest {
		t.Errorf("%q, %v", text, failure)
	}
}

// TestNoSecretIsLogged has every secret pass by, in all the ways that a request
// can take, also a failing one, and reads the log.
func TestNoSecretIsLogged(t *testing.T) {
	w := newWorld(t)
	const password, planted = "hunter2-of-the-person", "planted-in-the-state"
	planting := map[string]string{"password": password, "planted": planted, "secret": w.legacy.secret, "other secret": w.confidential.secret, "verifier": verifier}

	code := w.code(t, w.legacy, "state", planted)
	first := w.get(t, PathToken, w.legacy.redemption(code, "password", password, "state", planted)).tokens(t)
	second := w.get(t, PathToken, w.legacy.renewal(first.RefreshToken, "password", password)).tokens(t)
	device, user := w.device(t, w.public, "")
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	third := w.post(t, PathToken, w.public.polling(device)).tokens(t)
	fourth := w.connect(t, w.confidential)
	planting["code"], planting["device code"], planting["user code"] = code, device, user
	for name, each := range map[string]tokens{"first": first, "second": second, "third": third, "fourth": fourth} {
		planting[name+" access token"], planting[name+" refresh token"] = each.AccessToken, each.RefreshToken
	}

	for _, how := range []func(string) error{
		func(string) error { return nil },
		func(string) error {
			return &lintel.Error{Code: lintel.CodeInternal, Message: "no storage", Err: errors.New("locked")}
		},
		func(string) error { panic("broken") },
	} {
		w.hook.before = how
		for _, form := range []url.Values{
			w.legacy.redemption(code, "password", password, "state", planted), w.legacy.renewal(second.RefreshToken, "password", password),
			w.legacy.redemption(code, "client_secret", password), w.legacy.redemption(code, "client_id", w.confidential.ID),
		} {
			w.get(t, PathToken, form)
			w.post(t, PathToken, form)
			w.post(t, strings.TrimSuffix(PathToken, "/")+"?"+form.Encode(), form)
		}
		w.post(t, PathToken, w.public.polling(device))
		w.post(t, PathIntrospection, w.confidential.form("token", fourth.AccessToken))
		w.post(t, PathRevocation, w.confidential.form("token", fourth.RefreshToken))
		w.post(t, PathRevocation, w.confidential.form("token", third.RefreshToken))
		r := w.request(t, http.MethodPost, PathToken, w.confidential.redemption(code, "client_id", "", "client_secret", ""))
		r.Header.Set("Authorization", basicOf(w.confidential.ID, w.confidential.secret))
		w.call(t, r)
	}
	w.hook.before = nil

	text := w.log.String()
	if !strings.Contains(text, "used twice") || !strings.Contains(text, "broken") || !strings.Contains(text, "locked") || !strings.Contains(text, "app authorised") {
		t.Fatalf("the log does not tell of it: %s", text)
	}
	for name, value := range planting {
		for form, value := range map[string]string{"": value, " escaped": url.QueryEscape(value), "'s hash": secret.Hash(value), "'s shown hash": userCodeHash(value)} {
			if strings.Contains(text, value) {
				t.Errorf("the %s%s is in the log", name, form)
			}
		}
	}
	if strings.Contains(text, "?") && strings.Contains(text, "grant_type=") {
		t.Error("an address is in the log with its query")
	}
}

func TestErrors(t *testing.T) {
	for code, want := range map[ErrorCode]int{
		InvalidRequest: 400, InvalidClient: 401, InvalidGrant: 400, InvalidScope: 400, UnsupportedGrantType: 400,
		AccessDenied: 400, ServerError: 500, AuthorizationPending: 400, SlowDown: 400, ExpiredToken: 400,
	} {
		if e := fail(code, "why"); e.status() != want || e.Error() != string(code)+": why" {
			t.Errorf("%v: %d", e, e.status())
		}
	}
	if errMethod.status() != 405 {
		t.Errorf("a status of its own: %d", errMethod.status())
	}
}
