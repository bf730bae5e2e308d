package oauth

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

// device begins the device grant and returns what the device was told.
func (w *world) device(t *testing.T, a app, scope string) (code, user string) {
	t.Helper()
	answer := w.post(t, PathDeviceAuthorization, a.form("scope", scope))
	fields := answer.fields(t)
	keys := slices.Sorted(maps.Keys(fields))
	if answer.status != 200 || !slices.Equal(keys, []string{"device_code", "expires_in", "interval", "user_code", "verification_uri", "verification_uri_complete"}) {
		t.Fatalf("%d %s", answer.status, answer.body)
	}
	code, user = fields["device_code"].(string), fields["user_code"].(string)
	if !secret.Is(secret.DeviceCode, code) || !regexp.MustCompile(`^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$`).MatchString(user) {
		t.Fatalf("device code %q, user code %q", code, user)
	}
	if fields["expires_in"] != 600.0 || fields["interval"] != 5.0 || fields["verification_uri"] != issuer+"/device" ||
		fields["verification_uri_complete"] != issuer+"/device?user_code="+user {
		t.Fatalf("%v", fields)
	}
	return code, user
}

func TestDeviceGrant(t *testing.T) {
	w := newWorld(t)
	for _, a := range w.apps() {
		code, user := w.device(t, a, "opendoor,closedoor")
		w.post(t, PathToken, a.polling(code)).wantRefused(t, "at first", 400, AuthorizationPending)
		request, err := w.server.Device(t.Context(), user)
		if err != nil || request.UserCode != user || request.Client.ID != a.ID || request.Scopes != lintel.ScopeOpen|lintel.ScopeClose || request.Address != "192.0.2.7" {
			t.Errorf("%+v, %v", request, err)
		}
		must(t, w.server.ApproveDevice(t.Context(), user, w.person, request.Scopes))
		w.clock.pass(devicePause)
		got := w.post(t, PathToken, a.polling(code)).tokens(t)
		subject := w.subject(t, got.AccessToken)
		if got.Scope != "OPENDOOR CLOSEDOOR" || subject.PersonID != w.person || subject.ClientID != a.ID || !w.alive(t, got.AccessToken) {
			t.Errorf("%s: %+v, %+v", a.ID, got, subject)
		}
		w.refresh(t, a, got.RefreshToken)
		w.clock.pass(devicePause)
		w.post(t, PathToken, a.polling(code)).wantRefused(t, "used twice", 400, InvalidGrant)
		w.clock.pass(deviceLifetime)
		w.post(t, PathToken, a.polling(code)).wantRefused(t, "used twice, long after", 400, InvalidGrant)
	}
}

// TestTakenUserCodes: user codes are short, so that two devices may get the same.
func TestTakenUserCodes(t *testing.T) {
	w := newWorld(t)
	for _, taken := range []int{userCodeRetries - 1, userCodeRetries} {
		tries := 0
		w.hook.before = func(method string) error {
			if method != "AddDeviceCode" {
				return nil
			}
			if tries++; tries <= taken {
				return &lintel.Error{Code: lintel.CodeConflict, Message: "taken"}
			}
			return nil
		}
		if taken < userCodeRetries {
			w.device(t, w.public, "")
		} else {
			w.post(t, PathDeviceAuthorization, w.public.form()).wantRefused(t, "all taken", 500, ServerError)
		}
	}
}

// TestDeviceWithLess: a person leaves an app less than it asked for, and it gets
// no more, now or by a refresh.
func TestDeviceWithLess(t *testing.T) {
	w := newWorld(t)
	code, user := w.device(t, w.public, "OPENDOOR CLOSEDOOR READ")
	for _, scopes := range []lintel.Scope{0, lintel.AllScopes, lintel.ScopeShare} {
		if err := w.server.ApproveDevice(t.Context(), user, w.person, scopes); lintel.CodeOf(err) != lintel.CodeInvalid {
			t.Errorf("%v: %v", scopes, err)
		}
	}
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	got := w.post(t, PathToken, w.public.polling(code)).tokens(t)
	if got.Scope != "READ" || w.subject(t, got.AccessToken).Scopes != lintel.ScopeRead {
		t.Errorf("%+v", got)
	}
	w.post(t, PathToken, w.public.renewal(got.RefreshToken, "scope", "OPENDOOR")).wantRefused(t, "more", 400, InvalidScope)
	if next := w.refresh(t, w.public, got.RefreshToken); next.Scope != "READ" {
		t.Errorf("%+v", next)
	}
}

func TestDeviceScopes(t *testing.T) {
	w := newWorld(t)
	_, user := w.device(t, w.public, "")
	if request, err := w.server.Device(t.Context(), user); err != nil || request.Scopes != lintel.ScopeRead {
		t.Errorf("%+v, %v", request, err)
	}
	for _, scope := range []string{"EVERYTHING", ",", "SHARE"} {
		w.post(t, PathDeviceAuthorization, w.legacy.form("scope", scope)).wantRefused(t, scope, 400, InvalidScope)
	}
}

// TestDevicePauses holds when a device may ask: each time that it comes too
// early adds five seconds, for good (RFC 8628 §3.5).
func TestDevicePauses(t *testing.T) {
	w := newWorld(t)
	code, user := w.device(t, w.public, "")
	const ms = time.Millisecond
	for i, step := range []struct {
		after time.Duration
		want  ErrorCode
	}{
		{0, AuthorizationPending},
		{5*time.Second - pollGrace, AuthorizationPending},
		{5*time.Second - pollGrace - ms, SlowDown},
		{10*time.Second - pollGrace - ms, SlowDown},
		{15*time.Second - pollGrace, AuthorizationPending},
		{15*time.Second - pollGrace - ms, SlowDown},
		{time.Minute, AuthorizationPending},
		{20*time.Second - pollGrace, AuthorizationPending},
		{0, SlowDown},
		{0, SlowDown},
		{30*time.Second - pollGrace, AuthorizationPending},
	} {
		w.clock.pass(step.after)
		w.post(t, PathToken, w.public.polling(code)).wantRefused(t, fmt.Sprint("poll ", i), 400, step.want)
	}
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	w.post(t, PathToken, w.public.polling(code)).tokens(t) // only what is pending can be asked about too early
	w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "used", 400, InvalidGrant)

	// A device of another pause is not held up.
	other, _ := w.device(t, w.public, "")
	w.post(t, PathToken, w.public.polling(other)).wantRefused(t, "another", 400, AuthorizationPending)
}

// pollGrace is how much too early a device may ask.
const pollGrace = 500 * time.Millisecond

func TestDeviceDenied(t *testing.T) {
	w := newWorld(t)
	code, user := w.device(t, w.public, "")
	must(t, w.server.DenyDevice(t.Context(), strings.ToLower(user)))
	for range 2 {
		w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "denied", 400, AccessDenied)
		w.clock.pass(devicePause)
	}
	for what, err := range map[string]error{
		"approve": w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead),
		"deny":    w.server.DenyDevice(t.Context(), user),
	} {
		if lintel.CodeOf(err) != lintel.CodeNotFound {
			t.Errorf("%s after it was denied: %v", what, err)
		}
	}
	if _, err := w.server.Device(t.Context(), user); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("shown after it was denied: %v", err)
	}
	w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "denied, and then approved", 400, AccessDenied)
}

func TestDeviceDecidedOnce(t *testing.T) {
	w := newWorld(t)
	code, user := w.device(t, w.public, "READ OPENDOOR")
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	for what, err := range map[string]error{
		"approve": w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeOpen),
		"deny":    w.server.DenyDevice(t.Context(), user),
	} {
		if lintel.CodeOf(err) != lintel.CodeNotFound {
			t.Errorf("%s after it was approved: %v", what, err)
		}
	}
	if got := w.post(t, PathToken, w.public.polling(code)).tokens(t); got.Scope != "READ" {
		t.Errorf("%+v", got)
	}
}

// TestDeviceExpires holds the last moment of every step.
func TestDeviceExpires(t *testing.T) {
	const ms = time.Millisecond
	w := newWorld(t)
	ask := func(t *testing.T) (code, user string) {
		w.clock.set(epoch)
		return w.device(t, w.public, "")
	}
	code, user := ask(t)
	w.clock.pass(deviceLifetime - ms)
	w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "just in time", 400, AuthorizationPending)
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	w.clock.pass(ms)
	w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "approved, too late", 400, ExpiredToken)

	code, user = ask(t)
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	w.clock.pass(deviceLifetime - ms)
	w.post(t, PathToken, w.public.polling(code)).tokens(t)

	code, user = ask(t)
	w.clock.pass(deviceLifetime)
	w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "never decided", 400, ExpiredToken)
	w.post(t, PathToken, w.public.polling(code)).wantRefused(t, "at once again", 400, ExpiredToken)
	if _, err := w.server.Device(t.Context(), user); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("shown too late: %v", err)
	}
	if err := w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("approved too late: %v", err)
	}
	if err := w.server.DenyDevice(t.Context(), user); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("denied too late: %v", err)
	}
}

// TestBadPollsSpendNothing asks in every wrong way; the pause does not grow by it.
func TestBadPollsSpendNothing(t *testing.T) {
	w := newWorld(t)
	code, user := w.device(t, w.public, "")
	must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
	right := w.public.polling(code)
	for _, c := range []struct {
		name   string
		pairs  []string
		status int
		code   ErrorCode
	}{
		{"no code", []string{"device_code", ""}, 400, InvalidRequest},
		{"an unknown code", []string{"device_code", secret.New(secret.DeviceCode)}, 400, InvalidGrant},
		{"the user code", []string{"device_code", user}, 400, InvalidGrant},
		{"its hash", []string{"device_code", secret.Hash(code)}, 400, InvalidGrant},
		{"in the wrong parameter", []string{"device_code", "", "code", code}, 400, InvalidRequest},
		{"as another grant", []string{"grant_type", "authorization_code", "code", code, "device_code", ""}, 400, InvalidGrant},
		{"by the short name", []string{"grant_type", "device_code"}, 400, UnsupportedGrantType},
		{"another client", []string{"client_id", w.confidential.ID, "client_secret", w.confidential.secret}, 400, InvalidGrant},
		{"an unknown client", []string{"client_id", "x"}, 401, InvalidClient},
		{"a public client with a secret", []string{"client_secret", "x"}, 401, InvalidClient},
	} {
		for range 2 {
			w.post(t, PathToken, change(right, c.pairs...)).wantRefused(t, c.name, c.status, c.code)
		}
	}
	w.post(t, PathToken, right).tokens(t)
}

// TestDeviceTooLate ends what an approved device stands on before it asks.
func TestDeviceTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(w *world) error
		status int
		code   ErrorCode
	}{
		"person disabled":  {func(w *world) error { return w.db.DisablePerson(t.Context(), w.person, epoch) }, 400, InvalidGrant},
		"password changed": {func(w *world) error { return w.db.ChangePassword(t.Context(), w.person, "x", "", epoch) }, 400, InvalidGrant},
		"client disabled":  {func(w *world) error { return w.db.DisableClient(t.Context(), w.public.ID, epoch) }, 401, InvalidClient},
	} {
		w := newWorld(t)
		code, user := w.device(t, w.public, "")
		_, undecided := w.device(t, w.public, "")
		must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
		must(t, c.end(w))
		w.post(t, PathToken, w.public.polling(code)).wantRefused(t, name, c.status, c.code)
		if err := w.server.ApproveDevice(t.Context(), undecided, w.person, lintel.ScopeRead); name != "password changed" && lintel.CodeOf(err) != lintel.CodeNotFound {
			t.Errorf("%s, and yet approved: %v", name, err)
		}
	}
}

func TestUserCodes(t *testing.T) {
	for typed, want := range map[string]string{
		"BCDF-GHJK":            "BCDF-GHJK",
		"BCDFGHJK":             "BCDF-GHJK",
		"bcdf-ghjk":            "BCDF-GHJK",
		" bcdf ghjk ":          "BCDF-GHJK",
		"b c d f - g h j k":    "BCDF-GHJK",
		"--bcdfghjk--":         "BCDF-GHJK",
		"bcdf\tghjk":           "BCDF-GHJK",
		"LMNP-QRST":            "LMNP-QRST",
		"VWXZ-VWXZ":            "VWXZ-VWXZ",
		"":                     "",
		"-":                    "",
		"BCDF-GHJ":             "",
		"BCDF-GHJKL":           "",
		"ACDF-GHJK":            "", // a vowel
		"YCDF-GHJK":            "",
		"BCDF-GHJ1":            "",
		"BCDF_GHJK":            "",
		"BCDF\nGHJK":           "",
		"BCDF\x00GHJ":          "",
		"BCDFGHJ\xff":          "",
		"BCD😀":                 "",
		"BCDFGHJÇ":             "",
		"ÜÜÜÜ":                 "",
		"%42CDFGHJ":            "",
		"BCDF-GHJK; DROP":      "",
		"BCDF-GHJK, BCDF-GHJK": "",
	} {
		if got := NormalUserCode(typed); got != want {
			t.Errorf("%q: %q instead of %q", typed, got, want)
		}
	}
}

func TestDeviceByWhatWasTyped(t *testing.T) {
	w := newWorld(t)
	_, user := w.device(t, w.public, "")
	for _, typed := range []string{user, strings.ToLower(user), " " + user + " ", strings.ReplaceAll(user, "-", ""), strings.ReplaceAll(user, "-", " ")} {
		if request, err := w.server.Device(t.Context(), typed); err != nil || request.UserCode != user {
			t.Errorf("%q: %+v, %v", typed, request, err)
		}
	}
	for _, typed := range []string{"", "BCDF-GHJK", user[1:], user + "B", secret.New(secret.DeviceCode)} {
		_, err := w.server.Device(t.Context(), typed)
		for what, err := range map[string]error{
			"shown": err, "approved": w.server.ApproveDevice(t.Context(), typed, w.person, lintel.ScopeRead), "denied": w.server.DenyDevice(t.Context(), typed),
		} {
			if lintel.CodeOf(err) != lintel.CodeNotFound {
				t.Errorf("%q was %s: %v", typed, what, err)
			}
		}
	}
}
