package main

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestSourceBelievesTrustedProxiesOnly(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.7:1234", nil, "192.0.2.7"},
		{"192.0.2.7:1234", []string{"198.51.100.1"}, "192.0.2.7"},
		{"10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"203.0.113.9", "198.51.100.1, 10.2.3.4"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"10.2.3.4"}, "10.2.3.4"},
		{"10.0.0.1:1234", []string{"198.51.100.1, nonsense"}, "10.0.0.1"},
		{"10.0.0.1:1234", nil, "10.0.0.1"},
		{"[::1]:9", []string{"2001:db8::5"}, "2001:db8::5"},
		{"[::1]:9", []string{"[2001:db8::5]:44"}, "2001:db8::5"},
		{"[::ffff:10.0.0.1]:9", []string{"198.51.100.1"}, "198.51.100.1"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		for _, value := range c.forwarded {
			r.Header.Add("X-Forwarded-For", value)
		}
		if got := sourceOf(trusted)(r).String(); got != c.want {
			t.Errorf("peer %s, forwarded %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}
