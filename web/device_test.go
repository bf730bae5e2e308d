package web

import (
	"net/url"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

func hashOf(s string) string { return secret.Hash(s) }

const userCode = "WDJB-MJHT"

// request stores a device's request under a code.
func (w *world) request(t *testing.T, code string) lintel.DeviceCode {
	t.Helper()
	d := lintel.DeviceCode{
		Hash: hashOf("device " + code), UserCodeHash: hashOf("user code " + code), ClientID: "native1",
		Scopes: lintel.ScopeOpen | lintel.ScopeRead, Address: "203.0.113.5", CreatedAt: w.clock(), ExpiresAt: w.clock().Add(10 * time.Minute),
		Pause: 5 * time.Second, State: lintel.DevicePending,
	}
	must(t, w.AddDeviceCode(t.Context(), d))
	return d
}

func (w *world) device(t *testing.T, d lintel.DeviceCode) lintel.DeviceCode {
	t.Helper()
	found, err := w.DeviceCode(t.Context(), d.Hash)
	must(t, err)
	return found
}

func TestDeviceIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	d := w.request(t, userCode)
	// A link fills the code in, and that is all it does.
	b.get(t, "/device?user_code=wdjbmjht").is(t, 200).says(t, `value="WDJB-MJHT"`).silent(t, "Door CLI")
	b.post(t, "/device", url.Values{"user_code": {"wdjb mjht"}}).is(t, 200).
		says(t, userCode).says(t, "Door CLI").says(t, "203.0.113.5").says(t, "Only allow this if you started it on your own device").
		says(t, `value="OPENDOOR" checked`).silent(t, `value="CLOSEDOOR"`)
	if got := w.device(t, d); got.State != lintel.DevicePending {
		t.Fatalf("looking made it %s", got.State)
	}
	b.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"allow"}}).is(t, 400).says(t, "Nothing is ticked")
	b.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"allow"}, "scope": {"SHARE"}}).is(t, 400)
	b.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"allow"}, "scope": {"OPENDOOR"}}).is(t, 200).says(t, "is connected")
	if got := w.device(t, d); got.State != lintel.DeviceApproved {
		t.Fatalf("it is %s", got.State)
	}
	b.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"allow"}, "scope": {"OPENDOOR"}}).is(t, 400).says(t, "not valid, or no longer")
}

func TestDeviceIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	d := w.request(t, userCode)
	b.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"deny"}}).is(t, 200).says(t, "is not connected")
	if got := w.device(t, d); got.State != lintel.DeviceDenied {
		t.Fatalf("it is %s", got.State)
	}
}

// TestWrongCodesAreCounted: by person and not by browser, over every step.
func TestWrongCodesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, second := w.signedIn(t), w.signedIn(t)
	w.request(t, userCode)
	for range wrongCodes.Burst + 5 {
		b.post(t, "/device", url.Values{"user_code": {userCode}}).is(t, 200) // right ones are not counted
	}
	for i := range wrongCodes.Burst {
		decision := url.Values{"user_code": {"BBBB-BBBB"}}
		if i%2 == 1 {
			decision.Set("decision", "allow")
		}
		b.post(t, "/device", decision).is(t, 400).says(t, "not valid, or no longer")
	}
	got := second.post(t, "/device", url.Values{"user_code": {userCode}, "decision": {"allow"}, "scope": {"OPENDOOR"}}).is(t, 429)
	if got.header.Get("Retry-After") != "30" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	w.wait(wrongCodes.Each)
	second.post(t, "/device", url.Values{"user_code": {"BBBB-BBBB"}}).is(t, 400)
}
