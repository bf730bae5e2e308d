package account

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lintel"
	"lintel/secret"
)

const holder = "ltv_of-one-browser"

// keyed is a house with a person who is signed in.
type keyed struct {
	*house
	in  SignedIn
	key *authenticator
}

func newKeyed(t *testing.T) *keyed {
	h := newHouse(t)
	h.cheap()
	h.person(email)
	b := from("192.0.2.1")
	return &keyed{h, h.in(&b, email), newAuthenticator(t)}
}

// newKeyedWith is newKeyed where the passkey is added.
func newKeyedWith(t *testing.T) *keyed {
	h := newKeyed(t)
	must(t, h.add())
	return h
}

func (h *keyed) begin() (ticket string, options []byte) {
	h.t.Helper()
	ticket, options, err := h.BeginAddPasskey(h.t.Context(), h.in.Session, h.in.Person)
	must(h.t, err)
	return ticket, options
}

func (h *keyed) finish(ticket string, response []byte) error {
	return h.FinishAddPasskey(h.t.Context(), h.in.Session, h.in.Person, ticket, "Phone", response)
}

func (h *keyed) add() error {
	ticket, options := h.begin()
	return h.finish(ticket, h.key.create(options))
}

func (h *keyed) ask() (ticket string, options []byte) {
	h.t.Helper()
	ticket, options, err := h.BeginPasskeySignIn(h.t.Context(), from("192.0.2.1"), holder)
	must(h.t, err)
	return ticket, options
}

func (h *keyed) tell(ticket string, response []byte) (SignedIn, error) {
	return h.FinishPasskeySignIn(h.t.Context(), from("192.0.2.1"), holder, ticket, response)
}

func (h *keyed) signIn() (SignedIn, error) {
	ticket, options := h.ask()
	return h.tell(ticket, h.key.get(options))
}

func (h *keyed) passkeys() []lintel.Passkey {
	h.t.Helper()
	all, err := h.Passkeys(h.t.Context(), h.in.Person.ID)
	must(h.t, err)
	return all
}

func TestPasskey(t *testing.T) {
	h := newKeyed(t)
	must(t, h.add())
	added := h.passkeys()[0]
	equal(t, added.Name, "Phone")
	equal(t, added.CredentialID, b64(h.key.id))
	equal(t, added.LastUsedAt.IsZero(), true)
	for range 3 {
		h.key.counter += 2
		h.clock.pass(time.Hour)
		in, err := h.signIn()
		must(t, err)
		equal(t, in.Person, h.in.Person)
		equal(t, in.Session.Method, lintel.ByPasskey)
		equal(t, secret.Is(secret.KnownBrowser, in.Known), true)
		h.session(in.Secret)
		equal(t, h.passkeys()[0].LastUsedAt, h.stamp())
	}
	wantCode(t, h.RemovePasskey(t.Context(), lintel.NewID(), added.ID), lintel.CodeNotFound)
	must(t, h.RemovePasskey(t.Context(), h.in.Person.ID, added.ID))
	h.key.counter++
	_, err := h.signIn()
	wantCode(t, err, lintel.CodeUnauthenticated)
}

// TestPasskeyWithoutACounter: most keep none, and say 0 each time.
func TestPasskeyWithoutACounter(t *testing.T) {
	h := newKeyedWith(t)
	for range 3 {
		_, err := h.signIn()
		must(t, err)
	}
}

func TestOptions(t *testing.T) {
	h := newKeyedWith(t)
	_, text := h.begin()
	o := h.key.read(text).PublicKey
	equal(t, fmt.Sprint(o.RP), "{doors.example Lintel}")
	id, err := base64.RawURLEncoding.DecodeString(o.User.ID)
	must(t, err)
	person, err := personOf(id)
	must(t, err)
	equal(t, len(id), 16)
	equal(t, person, h.in.Person.ID)
	equal(t, o.User.Name+" "+o.User.DisplayName, email+" Ada")
	equal(t, fmt.Sprint(o.PubKeyCredParams), "[{-8} {-7} {-257}]")
	equal(t, fmt.Sprint(o.AuthenticatorSelection), "{required required true}")
	equal(t, o.Attestation, "none")
	equal(t, o.Timeout, 300_000)
	equal(t, o.ExcludeCredentials[0].ID, b64(h.key.id))

	_, text = h.ask()
	o = h.key.read(text).PublicKey
	equal(t, o.RPID, "doors.example")
	equal(t, o.UserVerification, "required")
	equal(t, len(o.AllowCredentials), 0)
	equal(t, len(o.Challenge), 43)
}

// lies are what an authenticator, or a site between it and us, can say wrong.
var lies = map[string]func(a *authenticator){
	"another origin":            func(a *authenticator) { a.origin = "https://doors.example.evil" },
	"another port":              func(a *authenticator) { a.origin = "https://doors.example:8443" },
	"another scheme":            func(a *authenticator) { a.origin = "http://doors.example" },
	"a subdomain":               func(a *authenticator) { a.origin = "https://www.doors.example" },
	"another challenge":         func(a *authenticator) { a.challenge = b64([]byte("0123456789abcdef0123456789abcdef")) },
	"another relying party":     func(a *authenticator) { a.rpID = "doors.example.evil" },
	"the user was not verified": func(a *authenticator) { a.flags &^= userVerified },
	"the user was not there":    func(a *authenticator) { a.flags &^= userPresent },
	"another ceremony":          func(a *authenticator) { a.kind = "payment.get" },
}

func TestAddingIsRefused(t *testing.T) {
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			h := newKeyed(t)
			lie(h.key)
			wantCode(t, h.add(), lintel.CodeInvalid)
			equal(t, len(h.passkeys()), 0)
		})
	}
}

// signInLies are what only an answer to signing in can say wrong.
var signInLies = map[string]func(a *authenticator){
	"another key":             func(a *authenticator) { a.key = newAuthenticator(a.t).key },
	"another credential":      func(a *authenticator) { a.id = newAuthenticator(a.t).id },
	"an unknown person":       func(a *authenticator) { a.handle = userHandle(lintel.NewID()) },
	"a handle of no person":   func(a *authenticator) { a.handle = []byte("short") },
	"no handle":               func(a *authenticator) { a.handle = nil },
	"the counter went back":   func(a *authenticator) { a.counter = 6 },
	"the counter stood still": func(a *authenticator) { a.counter = 7 },
	"the counter is lost":     func(a *authenticator) { a.counter = 0 },
	"a create instead":        func(a *authenticator) { a.kind = "webauthn.create" },
}

func TestSigningInIsRefused(t *testing.T) {
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) { refusesToSignIn(t, lie) })
	}
	for name, lie := range signInLies {
		t.Run(name, func(t *testing.T) { refusesToSignIn(t, lie) })
	}
}

func refusesToSignIn(t *testing.T, lie func(a *authenticator)) {
	h := newKeyed(t)
	h.key.counter = 7
	must(t, h.add())
	h.key.counter++
	truth := *h.key
	lie(h.key)
	in, err := h.signIn()
	equal(t, err, errPasskey)
	equal(t, in, SignedIn{})
	*h.key = truth // and the refusal has changed nothing
	_, err = h.signIn()
	must(t, err)
}

func TestACopyIsLogged(t *testing.T) {
	h := newKeyed(t)
	h.key.counter = 7
	must(t, h.add())
	_, err := h.signIn()
	wantCode(t, err, lintel.CodeUnauthenticated)
	if !strings.Contains(h.log.String(), `"level":"WARN"`) || !strings.Contains(h.log.String(), string(h.passkeys()[0].ID)) {
		t.Errorf("log: %s", h.log)
	}
}

// TestAnAnswerIsGoodOnce: whether it was taken or not.
func TestAnAnswerIsGoodOnce(t *testing.T) {
	h := newKeyed(t)
	ticket, options := h.begin()
	response := h.key.create(options)
	wantCode(t, h.finish(ticket, []byte("{}")), lintel.CodeInvalid)
	wantCode(t, h.finish(ticket, response), lintel.CodeUnauthenticated)
	ticket, options = h.begin()
	response = h.key.create(options)
	must(t, h.finish(ticket, response))
	wantCode(t, h.finish(ticket, response), lintel.CodeUnauthenticated)

	ticket, options = h.ask()
	response = h.key.get(options)
	_, err := h.tell(ticket, response)
	must(t, err)
	_, err = h.tell(ticket, response)
	wantCode(t, err, lintel.CodeUnauthenticated)
	fresh, _ := h.ask()
	_, err = h.tell(fresh, response)
	wantCode(t, err, lintel.CodeUnauthenticated)
}

// TestATicketIsItsHolders: and of its kind, for five minutes.
func TestATicketIsItsHolders(t *testing.T) {
	h := newKeyedWith(t)
	b := from("192.0.2.2")
	again := h.house.in(&b, email)
	h.person("eve@house.example")
	eve := h.house.in(&b, "eve@house.example")

	ticket, options := h.begin()
	second := newAuthenticator(t)
	response := second.create(options)
	finish := func(in SignedIn) error {
		return h.FinishAddPasskey(t.Context(), in.Session, in.Person, ticket, "Phone", response)
	}
	wantCode(t, finish(eve), lintel.CodeUnauthenticated)
	wantCode(t, finish(again), lintel.CodeUnauthenticated)
	wantCode(t, finish(SignedIn{Session: h.in.Session, Person: eve.Person}), lintel.CodeForbidden)
	wantCode(t, finish(SignedIn{Session: eve.Session, Person: h.in.Person}), lintel.CodeForbidden)
	wantCode(t, h.FinishAddPasskey(t.Context(), h.in.Session, h.in.Person, ticket, " \n ", response), lintel.CodeInvalid)
	_, err := h.FinishPasskeySignIn(t.Context(), b, string(h.in.Session.ID), ticket, response)
	wantCode(t, err, lintel.CodeUnauthenticated)
	must(t, finish(h.in)) // none of these has used it up

	ticket, options = h.ask()
	response = h.key.get(options)
	for _, other := range []string{"", "ltv_of-another", secret.Hash(holder)} {
		_, err := h.FinishPasskeySignIn(t.Context(), b, other, ticket, response)
		wantCode(t, err, lintel.CodeUnauthenticated)
	}
	h.clock.pass(challengeFor)
	_, err = h.tell(ticket, response)
	wantCode(t, err, lintel.CodeUnauthenticated)
	_, _, err = h.BeginPasskeySignIn(t.Context(), from("192.0.2.1"), "")
	wantCode(t, err, lintel.CodeInvalid)
}

// TestSomebodyElsesChallenge: a ticket that got another person's content, as no
// store should let happen, adds nothing.
func TestSomebodyElsesChallenge(t *testing.T) {
	h := newKeyed(t)
	h.person("eve@house.example")
	b := from("192.0.2.2")
	eve := h.house.in(&b, "eve@house.example")
	ticket, options := h.begin()
	content, err := h.db.UseTicket(t.Context(), secret.Hash(ticket), passkeyAdd, string(h.in.Session.ID), h.stamp())
	must(t, err)
	must(t, h.db.AddTicket(t.Context(), lintel.Ticket{
		Hash: secret.Hash(ticket), Kind: passkeyAdd, Holder: string(eve.Session.ID), Content: content, ExpiresAt: h.stamp().Add(time.Minute),
	}))
	err = h.FinishAddPasskey(t.Context(), eve.Session, eve.Person, ticket, "Phone", h.key.create(options))
	wantCode(t, err, lintel.CodeInvalid)
}

// TestSomebodyElsesPasskey: one key signs in one person, and naming another
// person does not help.
func TestSomebodyElsesPasskey(t *testing.T) {
	h := newKeyedWith(t)
	h.person("eve@house.example")
	b := from("192.0.2.2")
	eve := &keyed{h.house, h.house.in(&b, "eve@house.example"), newAuthenticator(t)}
	id := eve.key.id
	eve.key.id = h.key.id
	wantCode(t, eve.add(), lintel.CodeConflict)
	eve.key.id = id
	must(t, eve.add())
	eve.key.handle = h.key.handle
	_, err := eve.signIn()
	wantCode(t, err, lintel.CodeUnauthenticated)
}

func TestADisabledPersonsPasskey(t *testing.T) {
	h := newKeyedWith(t)
	must(t, h.db.DisablePerson(t.Context(), h.in.Person.ID, h.stamp()))
	_, err := h.signIn()
	equal(t, err, errPasskey)
	equal(t, h.passkeys()[0].LastUsedAt.IsZero(), true)
}

func TestAddingNeedsAFreshSession(t *testing.T) {
	h := newKeyed(t)
	ticket, options := h.begin()
	h.clock.pass(freshFor + time.Second)
	_, _, err := h.BeginAddPasskey(t.Context(), h.in.Session, h.in.Person)
	wantCode(t, err, lintel.CodeForbidden)
	wantCode(t, h.finish(ticket, h.key.create(options)), lintel.CodeUnauthenticated) // five minutes are over too
}

func TestPasskeysAreBounded(t *testing.T) {
	h := newKeyed(t)
	for range maxPasskeys {
		h.key = newAuthenticator(t)
		must(t, h.add())
	}
	_, _, err := h.BeginAddPasskey(t.Context(), h.in.Session, h.in.Person)
	wantCode(t, err, lintel.CodeInvalid)
}

func TestMalformedAnswers(t *testing.T) {
	h := newKeyedWith(t)
	for _, junk := range []string{"", "{}", "null", "[]", "\x00", strings.Repeat("[", 100_000), `{"id":"AA","rawId":"AA","type":"public-key"}`} {
		ticket, _ := h.begin()
		wantCode(t, h.finish(ticket, []byte(junk)), lintel.CodeInvalid)
		ticket, _ = h.ask()
		_, err := h.tell(ticket, []byte(junk))
		equal(t, err, errPasskey)
	}
	if strings.Contains(h.log.String(), "[[[[") {
		t.Error("the log has what was sent")
	}
}

// TestPasskeysAreLimitedBySource: together with passwords, and a failure of the
// storage is nobody's fault.
func TestPasskeysAreLimitedBySource(t *testing.T) {
	h := newKeyedWith(t)
	h.db.failPasskeys = &lintel.Error{Code: lintel.CodeInternal, Message: "broken", Err: errors.New("disk")}
	for range 40 {
		_, err := h.signIn()
		equal(t, err, h.db.failPasskeys)
	}
	h.db.failPasskeys = nil
	for range 40 {
		_, err := h.signIn()
		must(t, err)
	}
	for range perPasskey.Burst {
		_, err := h.tell("junk", nil)
		wantCode(t, err, lintel.CodeUnauthenticated)
	}
	_, err := h.tell("junk", nil)
	equal(t, RetryAfter(err), perPasskey.Each)
	wantCode(t, h.wrong(from("192.0.2.1"), email), lintel.CodeUnauthenticated) // passwords are counted for themselves
	h.clock.pass(time.Second)
	_, err = h.signIn()
	must(t, err)
}

// TestChallengesAreLimited: for who asks for very many, and for nobody else.
func TestChallengesAreLimited(t *testing.T) {
	h := newKeyed(t)
	for range perPasskey.Burst {
		h.limits.take(h.now(), h.limits.challenge("192.0.2.1/32"))
	}
	_, _, err := h.BeginPasskeySignIn(t.Context(), from("192.0.2.1"), holder)
	equal(t, RetryAfter(err), perPasskey.Each)
	_, _, err = h.BeginPasskeySignIn(t.Context(), from("198.51.100.7"), holder)
	must(t, err)
	h.begin() // who is signed in is not held up
}

// TestARemovedPasskeyIsOver: also where it was removed after it had answered.
func TestARemovedPasskeyIsOver(t *testing.T) {
	h := newKeyedWith(t)
	u, err := h.user(t.Context(), h.in.Person)
	must(t, err)
	id := h.passkeys()[0].ID
	must(t, h.RemovePasskey(t.Context(), h.in.Person.ID, id))
	equal(t, h.usePasskey(t.Context(), id, &u.credentials[0]), errPasskey)
}

func TestWherePasskeysArePossible(t *testing.T) {
	for _, c := range []struct {
		url, origin string // empty: not possible
	}{
		{"https://doors.example", "https://doors.example"},
		{"https://Doors.Example/", "https://doors.example"},
		{"https://doors.example:443", "https://doors.example"},
		{"https://doors.example:8443/path", "https://doors.example:8443"},
		{"http://localhost:8080", "http://localhost:8080"},
		{"http://localhost:80", "http://localhost"},
		{"http://doors.localhost", "http://doors.localhost"},
		{"http://doors.example", ""},
		{"https://192.0.2.1", ""},
		{"https://[2001:db8::1]:443", ""},
		{"http://127.0.0.1:8080", ""},
	} {
		h := newHouseAt(t, c.url)
		equal(t, h.PasskeysPossible(), c.origin != "")
		if c.origin != "" {
			equal(t, h.relying.Config.RPOrigins[0], c.origin)
			continue
		}
		b, in := from("192.0.2.1"), SignedIn{}
		_, _, err := h.BeginPasskeySignIn(t.Context(), from("192.0.2.1"), holder)
		wantCode(t, err, lintel.CodeInvalid)
		_, err = h.FinishPasskeySignIn(t.Context(), b, holder, "", nil)
		wantCode(t, err, lintel.CodeInvalid)
		_, _, err = h.BeginAddPasskey(t.Context(), in.Session, in.Person)
		wantCode(t, err, lintel.CodeInvalid)
		wantCode(t, h.FinishAddPasskey(t.Context(), in.Session, in.Person, "", "", nil), lintel.CodeInvalid)
	}
	for _, url := range []string{"", "doors.example", "ftp://doors.example", "https://", "https:doors.example", "://", "https://:443"} {
		_, err := New(Config{Origin: url, Now: time.Now}, nil)
		wantCode(t, err, lintel.CodeInvalid)
	}
}
