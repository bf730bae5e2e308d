package web

import (
	"net/http"
	"time"

	"lintel/account"
	"lintel/secret"
)

// cookies names and makes the three cookies.
type cookies struct{ secure bool }

// The cookies. __Host- keeps other hosts of the domain from setting them, and
// browsers take it over https only.
const (
	sessionCookie = "session" // the secret of a session
	visitorCookie = "visitor" // ties forms to a browser before anybody signs in
	knownCookie   = "known"   // tells a browser that signed in before, also after signing out
)

// knownLifetime is how long a browser is remembered.
const knownLifetime = 365 * 24 * time.Hour

func (c cookies) name(cookie string) string {
	if c.secure {
		return "__Host-lintel-" + cookie
	}
	return "lintel-" + cookie
}

// read returns the value of a cookie that is a secret with the prefix, else "".
func (c cookies) read(r *http.Request, cookie, prefix string) string {
	found, err := r.Cookie(c.name(cookie))
	if err != nil || !secret.Is(prefix, found.Value) {
		return ""
	}
	return found.Value
}

// set makes a cookie that lasts for so long; for 0 until the browser is closed.
func (c cookies) set(cookie, value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: c.name(cookie), Value: value, Path: "/", MaxAge: int(lasts / time.Second),
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

func (c cookies) clear(cookie string) *http.Cookie {
	made := c.set(cookie, "", 0)
	made.MaxAge = -1
	return made
}

// signedIn are the cookies after a sign-in.
func (c cookies) signedIn(s account.SignedIn, now time.Time) []*http.Cookie {
	made := []*http.Cookie{c.set(sessionCookie, s.Secret, s.Session.ExpiresAt.Sub(now)), c.clear(visitorCookie)}
	if s.Known != "" {
		made = append(made, c.set(knownCookie, s.Known, knownLifetime))
	}
	return made
}
