package main

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// sourceOf returns what finds out where a request came from: the peer, or where
// that is a trusted proxy, what it says. Of X-Forwarded-For only the part that
// trusted proxies wrote is believed: the last address that is none of them.
func sourceOf(trusted []netip.Prefix) func(*http.Request) netip.Addr {
	isTrusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	return func(r *http.Request) netip.Addr {
		source := addressOf(r.RemoteAddr)
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for _, hop := range slices.Backward(hops) {
			if !isTrusted(source) {
				break
			}
			before := addressOf(strings.TrimSpace(hop))
			if !before.IsValid() {
				break
			}
			source = before
		}
		return source
	}
}

// addressOf reads an address with or without a port.
func addressOf(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}
