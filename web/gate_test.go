package web

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"testing"

	"lintel/account"
)

// TestGate: until there is an account nothing is served but making it.
func TestGate(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, origin)
	b := w.browser()
	for _, path := range []string{"/", "/account", "/sign-in", "/remotes/api/v1/sync", "/setup/x", ask} {
		b.get(t, path).is(t, 503).says(t, `{"error":"not set up"}`)
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("Accept", "text/html,*/*")
		held(t, b.send(t, r).is(t, 503).says(t, "Not set up yet"))
	}
	b.get(t, w.pages.assets.url("style.css")).is(t, 200)
	b.get(t, "/setup").is(t, 200).says(t, "open the link").silent(t, "<form")

	ticket, err := w.accounts.NewSetupTicket(t.Context())
	must(t, err)
	b.get(t, "/setup?ticket="+ticket).is(t, 200)
	fields := url.Values{"ticket": {ticket}, "email": {email}, "given": {"Ada"}, "family": {"King"}, "password": {"short"}}
	b.post(t, "/setup", fields).is(t, 400).says(t, "at least 12 characters").says(t, `value="`+email+`"`).says(t, `value="Ada"`).silent(t, "short")
	fields.Set("password", password)
	fields.Set("ticket", "wrong")
	b.post(t, "/setup", fields).is(t, 401).silent(t, password)
	fields.Set("ticket", ticket)
	b.post(t, "/setup", fields).leads(t, home+"?done=set-up")
	b.get(t, home).is(t, 200).says(t, "Hello, Ada")
	b.get(t, "/setup?ticket="+ticket).leads(t, "/")
	b.get(t, "/api").is(t, 418)
}

// unsure is accounts that cannot tell whether there are any.
type unsure struct{ *account.Service }

func (unsure) NeedsSetup(context.Context) (bool, error) { return false, errors.New("no disk") }

func TestGateWithoutAStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(t, unsure{w.accounts}, origin)
	w.browser().get(t, "/account").is(t, 503).says(t, "unavailable").silent(t, "no disk")
}
