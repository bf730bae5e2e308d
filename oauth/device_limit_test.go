package oauth

import (
	"net/http"
	"net/url"
	"testing"
)

// TestDevicesPerNetwork: strangers who know a public client's name cannot have
// any number of requests stored, and others are not kept waiting by them.
func TestDevicesPerNetwork(t *testing.T) {
	w := newWorld(t)
	now := w.clock.read()
	for range devicesPerNetwork.Burst {
		if wait := w.server.takeDevice("192.0.2.7/32", now); wait != 0 {
			t.Fatalf("wait %s", wait)
		}
	}
	form := url.Values{"client_id": {"lintelcli"}}
	r, err := http.PostForm(w.url+PathDeviceAuthorization, form)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "3" {
		t.Errorf("status %d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
	if wait := w.server.takeDevice("198.51.100.7/32", now); wait != 0 {
		t.Errorf("another network waits %s", wait)
	}
	if wait := w.server.takeDevice("192.0.2.7/32", now.Add(devicesPerNetwork.Each)); wait != 0 {
		t.Errorf("afterwards: wait %s", wait)
	}
}
