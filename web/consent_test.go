package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"lintel"
)

// decide is the answer that a person gives on the page for consent.
func (b *browser) decide(t *testing.T, decision string, scopes ...string) reply {
	t.Helper()
	return b.post(t, ask, url.Values{"ticket": {b.ticket}, "decision": {decision}, "scope": scopes})
}

func TestConsentSaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	b := newWorld(t).signedIn(t)
	b.get(t, ask).is(t, 200).says(t, "Hall Panel").says(t, "A service on the web").says(t, "app.example").says(t, email).
		says(t, "Open your doors").says(t, "Close your doors").says(t, "See your doors").silent(t, "Share your doors").
		says(t, "at most a year").says(t, `value="OPENDOOR" checked`)
	b.get(t, authorizationPath+"?response_type=code&client_id=legacy1&scope=OPENDOOR").is(t, 200).
		says(t, "Old Panel").silent(t, `value="READ"`)
}

func TestConsentIsForWhatWasLeftTicked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	b.get(t, ask).is(t, 200)
	location, err := url.Parse(b.decide(t, "allow", "CLOSEDOOR").is(t, 303).header.Get("Location"))
	must(t, err)
	query := location.Query()
	if !strings.HasPrefix(location.String(), callback+"?") || query.Get("state") != "s1" || query.Get("iss") != origin || query.Get("code") == "" {
		t.Errorf("leads to %s", location)
	}
	// The code has the one scope only.
	_, grant, err := w.Code(t.Context(), hashOf(query.Get("code")))
	must(t, err)
	if grant.Scopes != lintel.ScopeClose || grant.PersonID != w.ada.ID || grant.ClientID != "app1" {
		t.Errorf("granted %+v", grant)
	}
}

func TestConsentNeedsADecisionAndAScope(t *testing.T) {
	t.Parallel()
	b := newWorld(t).signedIn(t)
	b.get(t, ask)
	first := b.ticket
	b.decide(t, "allow").is(t, 400).says(t, "Nothing is ticked")
	if b.ticket == first {
		t.Error("the same ticket again")
	}
	b.decide(t, "", "OPENDOOR").is(t, 400).says(t, "Choose whether")
	b.decide(t, "allow", "SHARE").is(t, 400).says(t, "Choose at least one of the things")
	b.decide(t, "allow", "EVERYTHING").is(t, 400).says(t, "Unknown scope")
	b.decide(t, "allow", "OPENDOOR").is(t, 303)
}

// TestConsentIsGivenOnce: in the session that was asked, once, and in time.
func TestConsentIsGivenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t)
	b.get(t, ask).is(t, 200)
	used := b.ticket
	b.decide(t, "allow", "OPENDOOR").is(t, 303)
	b.decide(t, "allow", "OPENDOOR").is(t, 400).says(t, "no longer open")
	b.decide(t, "deny").is(t, 400).says(t, "no longer open")

	other := w.signedIn(t)
	other.get(t, ask)
	theirs := other.ticket
	b.ticket = theirs
	b.decide(t, "allow", "OPENDOOR").is(t, 400).says(t, "no longer open")
	other.decide(t, "allow", "OPENDOOR").is(t, 303)

	b.get(t, ask)
	w.wait(consentFor)
	b.decide(t, "allow", "OPENDOOR").is(t, 400).says(t, "no longer open")
	for _, ticket := range []string{"", "x", used} {
		b.ticket = ticket
		b.decide(t, "allow", "OPENDOOR").is(t, 400)
	}
}

func TestConsentIsNeverRemembered(t *testing.T) {
	t.Parallel()
	b := newWorld(t).signedIn(t)
	for range 2 {
		b.get(t, ask).is(t, 200).says(t, "Allow Hall Panel")
		b.decide(t, "allow", "OPENDOOR", "CLOSEDOOR", "READ").is(t, 303)
	}
}

// TestConsentIsAboutTheQuestion: the answer goes by the ticket. Another query in
// the address of the form changes nothing, and cannot be asked about either.
func TestConsentIsAboutTheQuestion(t *testing.T) {
	t.Parallel()
	b := newWorld(t).signedIn(t)
	other := authorizationPath + "?response_type=code&client_id=legacy1&scope=OPENDOOR"
	b.get(t, ask)
	location := b.post(t, other, url.Values{"ticket": {b.ticket}, "decision": {"allow"}, "scope": {"READ"}}).is(t, 303).header.Get("Location")
	if !strings.HasPrefix(location, callback) {
		t.Errorf("leads to %s", location)
	}
	b.get(t, ask)
	b.post(t, other, url.Values{"ticket": {b.ticket}, "decision": {"allow"}}).is(t, 400).says(t, "no longer open")
}

func TestWrongRequestsForConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, b := range []*browser{w.signedIn(t), w.browser()} {
		wrongRequests(t, b)
	}
}

func wrongRequests(t *testing.T, b *browser) {
	t.Helper()
	for query, says := range map[string]string{
		"":                          "client_id is missing",
		"client_id=nobody":          "no app is registered",
		"client_id=app1&client_id=": "client_id is repeated",
		"client_id=app1&redirect_uri=https%3A%2F%2Fevil.example": "redirect_uri is not registered",
		"client_id=%zz": "not form-encoded",
	} {
		r := b.get(t, authorizationPath+"?"+query).is(t, 400).says(t, says).says(t, "You have not been connected")
		if r.header.Get("Location") != "" {
			t.Errorf("%s leads to %s", query, r.header.Get("Location"))
		}
	}
	// What is wrong but for the redirect URI is told to the app.
	got := b.get(t, authorizationPath+"?client_id=app1&state=x&response_type=code").is(t, 303).header.Get("Location")
	if !strings.HasPrefix(got, callback+"?error=invalid_request") || !strings.Contains(got, "state=x") {
		t.Errorf("leads to %s", got)
	}
}

func TestSigningInOnTheWayToConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.get(t, ask).is(t, 200).says(t, "An app asks for access").says(t, `name="return" value="`+ask+`"`)
	b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}, "return": {ask}}).leads(t, ask)
	b.get(t, ask).is(t, 200).says(t, "Allow Hall Panel")
	// As somebody else: sign out, and come back here.
	b.post(t, "/sign-out", url.Values{"return": {ask}}).leads(t, ask)
	b.get(t, ask).is(t, 200).says(t, "An app asks for access")
	// A page that waited until its session was over asks to sign in again.
	b.post(t, "/sign-in", url.Values{"email": {email}, "password": {password}, "return": {ask}}).leads(t, ask)
	b.get(t, ask)
	w.wait(31 * 24 * time.Hour)
	b.decide(t, "allow", "OPENDOOR").leads(t, ask)
}
