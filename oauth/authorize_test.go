package oauth

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"lintel"
	"lintel/secret"
)

// answered reads where a browser is sent: to uri, with the answer's parameters,
// each once.
func answered(t *testing.T, location, uri string) map[string]string {
	t.Helper()
	rest, ok := strings.CutPrefix(location, uri)
	if !ok || strings.Contains(rest, "#") || rest[0] != '?' && rest[0] != '&' {
		t.Fatalf("%q does not lead to %q", location, uri)
	}
	query, err := url.ParseQuery(rest[1:])
	must(t, err)
	answer := map[string]string{}
	for name, values := range query {
		if len(values) != 1 {
			t.Errorf("%q has %d %s", location, len(values), name)
		}
		answer[name] = values[0]
	}
	return answer
}

// wantError holds that a browser is sent back with an error (RFC 6749 §4.1.2.1).
func wantError(t *testing.T, what, location, uri, state string, code ErrorCode) {
	t.Helper()
	answer := answered(t, location, uri)
	if !isDescription(answer["error_description"]) {
		t.Errorf("%s: description %q", what, answer["error_description"])
	}
	delete(answer, "error_description")
	want := map[string]string{"error": string(code), "iss": issuer}
	if state != "" {
		want["state"] = state
	}
	if !maps.Equal(answer, want) {
		t.Errorf("%s: %v instead of %v", what, answer, want)
	}
}

// TestAuthorizationRequests holds who learns of an error: the app's redirect URI
// only when the app and it belong together, and else the person alone.
func TestAuthorizationRequests(t *testing.T) {
	w := newWorld(t)
	reader := w.register(t, lintel.Client{ID: "reader", Kind: lintel.Confidential, Scopes: lintel.ScopeRead, RedirectURIs: []string{"https://reader.example/cb"}})
	opener := w.register(t, lintel.Client{ID: "opener", Kind: lintel.Confidential, Scopes: lintel.ScopeOpen, RedirectURIs: []string{"https://opener.example/cb"}})
	device := w.register(t, lintel.Client{ID: "device", Kind: lintel.Public, Scopes: lintel.AllScopes})
	gone := w.register(t, lintel.Client{ID: "gone", Kind: lintel.Public, Scopes: lintel.AllScopes, RedirectURIs: []string{"https://gone.example/cb"}})
	must(t, w.db.DisableClient(t.Context(), gone.ID, epoch))
	const person, program = "", "s" // who is told, and with which state
	for _, c := range []struct {
		name  string
		app   app
		pairs []string
		raw   string // added as it is
		told  string // program, person, or "-": the program, without a state
		code  ErrorCode
	}{
		{"good", w.confidential, nil, "", program, ""},
		{"good, public", w.public, nil, "", program, ""},
		{"good, legacy", w.legacy, nil, "", program, ""},
		{"legacy with PKCE", w.legacy, []string{"code_challenge", challenge, "code_challenge_method", "S256"}, "", program, ""},
		{"unknown parameters", w.confidential, []string{"prompt", "none", "resource", "x"}, "&prompt=x", program, ""},
		{"the query mode", w.confidential, []string{"response_mode", "query"}, "", program, ""},
		{"without a state", w.confidential, []string{"state", ""}, "", "-", ""},
		{"another of its redirect URIs", w.confidential, []string{"redirect_uri", "https://server.example/other"}, "", program, ""},
		{"another port", w.public, []string{"redirect_uri", "http://127.0.0.1:8123/cb"}, "", program, ""},
		{"the only redirect URI left out", w.public, []string{"redirect_uri", ""}, "", program, ""},

		{"no client", w.confidential, []string{"client_id", ""}, "", person, InvalidRequest},
		{"two clients", w.confidential, nil, "&client_id=server", person, InvalidRequest},
		{"an unknown client", w.confidential, []string{"client_id", "other"}, "", person, InvalidClient},
		{"a client in another case", w.confidential, []string{"client_id", "SERVER"}, "", person, InvalidClient},
		{"a disabled client", gone, []string{"redirect_uri", "https://gone.example/cb"}, "", person, InvalidClient},
		{"no redirect URI of two", w.confidential, []string{"redirect_uri", ""}, "", person, InvalidRequest},
		{"two redirect URIs", w.confidential, nil, "&redirect_uri=https://server.example/cb", person, InvalidRequest},
		{"two where there is one", w.public, nil, "&redirect_uri=http://127.0.0.1/cb", person, InvalidRequest},
		{"an empty one beside it", w.confidential, nil, "&redirect_uri=", person, InvalidRequest},
		{"another's redirect URI", w.confidential, []string{"redirect_uri", "https://hub.example/cb?a=b%20c"}, "", person, InvalidRequest},
		{"a redirect URI that is longer", w.confidential, []string{"redirect_uri", "https://server.example/cb/"}, "", person, InvalidRequest},
		{"a redirect URI encoded twice", w.legacy, []string{"redirect_uri", "https://hub.example/cb?a=b%2520c"}, "", person, InvalidRequest},
		{"a redirect URI decoded twice", w.legacy, []string{"redirect_uri", "https://hub.example/cb?a=b c"}, "", person, InvalidRequest},
		{"another port of a confidential client", w.confidential, []string{"redirect_uri", "https://server.example:1/cb"}, "", person, InvalidRequest},
		{"a client without redirect URIs", device, []string{"redirect_uri", "http://127.0.0.1/cb"}, "", person, InvalidRequest},
		{"none, of none", device, []string{"redirect_uri", ""}, "", person, InvalidRequest},
		{"a broken escape", w.confidential, nil, "&scope=%zz", program, InvalidRequest},
		{"a control character", w.confidential, []string{"state", "a\nb"}, "", "-", InvalidRequest},
		{"no UTF-8", w.confidential, []string{"state", "\xff"}, "", "-", InvalidRequest},
		{"a broken escape in the redirect URI", w.confidential, []string{"redirect_uri", ""}, "&redirect_uri=%zz", person, InvalidRequest},
		{"too long", w.confidential, []string{"state", strings.Repeat("a", maxParameters)}, "", person, InvalidRequest},

		{"no response type", w.confidential, []string{"response_type", ""}, "", program, InvalidRequest},
		{"an implicit grant", w.confidential, []string{"response_type", "token"}, "", program, UnsupportedResponseType},
		{"two response types in one", w.confidential, []string{"response_type", "code token"}, "", program, UnsupportedResponseType},
		{"a response type in another case", w.confidential, []string{"response_type", "Code"}, "", program, UnsupportedResponseType},
		{"two response types", w.confidential, nil, "&response_type=code", program, InvalidRequest},
		{"two states", w.confidential, nil, "&state=s", "-", InvalidRequest},
		{"two scopes", w.confidential, nil, "&scope=READ", program, InvalidRequest},
		{"two challenges", w.confidential, nil, "&code_challenge=" + challenge, program, InvalidRequest},
		{"two methods", w.confidential, nil, "&code_challenge_method=S256", program, InvalidRequest},
		{"two of a parameter that belongs elsewhere", w.confidential, nil, "&token=a&token=b", program, InvalidRequest},
		{"the fragment mode", w.confidential, []string{"response_mode", "fragment"}, "", program, InvalidRequest},
		{"the form mode", w.confidential, []string{"response_mode", "form_post"}, "", program, InvalidRequest},
		{"without PKCE", w.confidential, []string{"code_challenge", "", "code_challenge_method", ""}, "", program, InvalidRequest},
		{"without PKCE, public", w.public, []string{"code_challenge", "", "code_challenge_method", ""}, "", program, InvalidRequest},
		{"a method alone", w.public, []string{"code_challenge", ""}, "", program, InvalidRequest},
		{"a method alone, legacy", w.legacy, []string{"code_challenge_method", "S256"}, "", program, InvalidRequest},
		{"a challenge alone", w.public, []string{"code_challenge_method", ""}, "", program, InvalidRequest},
		{"a challenge alone, legacy", w.legacy, []string{"code_challenge", challenge}, "", program, InvalidRequest},
		{"the plain method", w.public, []string{"code_challenge_method", "plain"}, "", program, InvalidRequest},
		{"the method in another case", w.public, []string{"code_challenge_method", "s256"}, "", program, InvalidRequest},
		{"a challenge that is none", w.public, []string{"code_challenge", "x"}, "", program, InvalidRequest},
		{"a padded challenge", w.public, []string{"code_challenge", challenge + "="}, "", program, InvalidRequest},
		{"an unknown scope", w.confidential, []string{"scope", "READ EVERYTHING"}, "", program, InvalidScope},
		{"a scope of separators", w.confidential, []string{"scope", ", "}, "", program, InvalidScope},
		{"a scope beyond the client's", reader, []string{"scope", "READ OPENDOOR"}, "", program, InvalidScope},
		{"the usual scope where the client has another", opener, []string{"scope", ""}, "", program, InvalidScope},
	} {
		if len(c.app.RedirectURIs) == 0 {
			c.app.RedirectURIs = []string{"https://none.example"}
		}
		query := c.app.query(c.pairs...)
		request, client, refusal := w.server.Authorize(t.Context(), query.Encode()+c.raw)
		uri := query.Get("redirect_uri")
		if uri == "" {
			uri = c.app.RedirectURIs[0]
		}
		state := strings.Trim(c.told, "-")
		switch {
		case c.code == "" && refusal != nil:
			t.Errorf("%s: %v", c.name, refusal.Err)
		case c.code == "":
			want := AuthorizationRequest{ClientID: c.app.ID, RedirectURI: uri, Named: query.Has("redirect_uri"), State: state,
				Scopes: lintel.ScopeOpen | lintel.ScopeClose, CodeChallenge: query.Get("code_challenge")}
			if request != want || client.ID != c.app.ID {
				t.Errorf("%s: %+v instead of %+v", c.name, request, want)
			}
		case refusal == nil || refusal.Err.Code != c.code || !isDescription(refusal.Err.Description):
			t.Errorf("%s: %+v", c.name, refusal)
		case c.told == person && refusal.RedirectTo != "":
			t.Errorf("%s: sent to %s", c.name, refusal.RedirectTo)
		case c.told != person:
			wantError(t, c.name, refusal.RedirectTo, uri, state, c.code)
		}
	}
}

// TestStates sends states there and back, in each sort of answer.
func TestStates(t *testing.T) {
	w := newWorld(t)
	for _, state := range []string{
		"s", "", "a b", " ", "a+b", "a%20b", "%", "%00", "a&code=x", "a=b", "a;b", "#f", "?", `"'<>\^{}|`, "ü€😀", "e\u0301", "\u202e", "\u00a0",
		"eyJhIjoiYiJ9.e30=", strings.Repeat("é", 2000),
	} {
		for _, a := range w.apps() {
			query := a.query("state", state)
			request := w.asked(t, query)
			location, err := w.server.Approve(t.Context(), request, w.person, request.Scopes)
			must(t, err)
			answer := answered(t, location, a.RedirectURIs[0])
			if !secret.Is(secret.AuthorizationCode, answer["code"]) || answer["iss"] != issuer || answer["state"] != state {
				t.Errorf("%q came back as %q of %v", state, answer["state"], answer)
			}
			if _, sent := answer["state"]; sent != (state != "") || len(answer) > 3 {
				t.Errorf("%q: %v", state, answer)
			}
			wantError(t, "refused by the person", w.server.Deny(request), a.RedirectURIs[0], state, AccessDenied)
			_, _, refusal := w.server.Authorize(t.Context(), change(query, "scope", "x").Encode())
			wantError(t, "refused by the service", refusal.RedirectTo, a.RedirectURIs[0], state, InvalidScope)
		}
	}
}

func TestScopesAsked(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]lintel.Scope{
		"":                              lintel.ScopeRead,
		"OPENDOOR":                      lintel.ScopeOpen,
		"OPENDOOR CLOSEDOOR":            lintel.ScopeOpen | lintel.ScopeClose,
		"OPENDOOR,CLOSEDOOR":            lintel.ScopeOpen | lintel.ScopeClose,
		"opendoor, closeDoor":           lintel.ScopeOpen | lintel.ScopeClose,
		" Read  read,,READ ":            lintel.ScopeRead,
		"SHARE settings,read closedoor": lintel.AllScopes &^ lintel.ScopeOpen,
	} {
		if got := w.asked(t, w.public.query("scope", text)).Scopes; got != want {
			t.Errorf("%q: %v instead of %v", text, got, want)
		}
	}
}

// TestConsent holds what a person can leave, and what comes of it.
func TestConsent(t *testing.T) {
	w := newWorld(t)
	request := w.asked(t, w.public.query("scope", "OPENDOOR CLOSEDOOR READ"))
	for _, scopes := range []lintel.Scope{0, lintel.AllScopes, lintel.ScopeShare, lintel.ScopeOpen | lintel.ScopeShare} {
		if location, err := w.server.Approve(t.Context(), request, w.person, scopes); lintel.CodeOf(err) != lintel.CodeInvalid || location != "" {
			t.Errorf("%v: %q, %v", scopes, location, err)
		}
	}
	location, err := w.server.Approve(t.Context(), request, w.person, lintel.ScopeClose)
	must(t, err)
	got := w.post(t, PathToken, w.public.redemption(parsed(t, location).Query().Get("code"))).tokens(t)
	subject := w.subject(t, got.AccessToken)
	if got.Scope != "CLOSEDOOR" || subject.Scopes != lintel.ScopeClose || subject.PersonID != w.person || subject.ClientID != w.public.ID {
		t.Errorf("%s, %+v", got.Scope, subject)
	}
}

// TestWithRead: what lists doors and knows no scope for it asks for READ too, and
// the person may leave that out.
func TestWithRead(t *testing.T) {
	c := lintel.Client{Kind: lintel.Confidential, Legacy: true, WithRead: true, Scopes: lintel.AllScopes}
	p, err := parseParameters("scope=opendoor,closedoor")
	must(t, err)
	scopes, failure := requestedScopes(c, p)
	if want := lintel.ScopeOpen | lintel.ScopeClose | lintel.ScopeRead; failure != nil || scopes != want {
		t.Errorf("%v, %v", scopes, failure)
	}
}

// TestConsentTooLate changes what a request was checked against before the
// person agrees.
func TestConsentTooLate(t *testing.T) {
	for name, happens := range map[string]func(w *world, r *AuthorizationRequest) error{
		"nothing": func(*world, *AuthorizationRequest) error { return nil },
		"the client was disabled": func(w *world, _ *AuthorizationRequest) error {
			return w.db.DisableClient(t.Context(), w.public.ID, epoch)
		},
		"the client was removed":      func(w *world, _ *AuthorizationRequest) error { return w.db.RemoveClient(t.Context(), w.public.ID) },
		"the person was disabled":     func(w *world, _ *AuthorizationRequest) error { return w.db.DisablePerson(t.Context(), w.person, epoch) },
		"the redirect URI is no more": func(_ *world, r *AuthorizationRequest) error { r.RedirectURI = "https://a.example/cb"; return nil },
	} {
		w := newWorld(t)
		request := w.asked(t, w.public.query())
		must(t, happens(w, &request))
		location, err := w.server.Approve(t.Context(), request, w.person, request.Scopes)
		var want lintel.Code
		if name != "nothing" {
			want = lintel.CodeNotFound
		}
		if lintel.CodeOf(err) != want || (location == "") != (err != nil) {
			t.Errorf("%s: %q, %v", name, location, err)
		}
	}
}

// TestConsentWithoutStore holds that a fault of the service goes to nobody's
// redirect URI, and is logged.
func TestConsentWithoutStore(t *testing.T) {
	w := newWorld(t)
	request := w.asked(t, w.public.query())
	w.hook.before = func(string) error { return errors.New("disk on fire") }
	if _, _, refusal := w.server.Authorize(t.Context(), w.public.query().Encode()); refusal == nil || refusal.RedirectTo != "" || refusal.Err.Code != ServerError {
		t.Errorf("%+v", refusal)
	}
	if !strings.Contains(w.log.String(), "disk on fire") {
		t.Error("the fault was not logged")
	}
	w.hook.before = func(method string) error {
		if method == "AddCode" {
			return &lintel.Error{Code: lintel.CodeInternal, Message: "x"}
		}
		return nil
	}
	if location, err := w.server.Approve(t.Context(), request, w.person, request.Scopes); lintel.CodeOf(err) != lintel.CodeInternal || location != "" {
		t.Errorf("%q, %v", location, err)
	}
}

// TestCodesAreKeptAsHashes reads the store for what an answer showed.
func TestCodesAreKeptAsHashes(t *testing.T) {
	w := newWorld(t)
	code := w.code(t, w.public)
	if _, _, err := w.db.Code(t.Context(), code); lintel.CodeOf(err) != lintel.CodeNotFound {
		t.Errorf("the code itself is stored: %v", err)
	}
	stored, grant, err := w.db.Code(t.Context(), secret.Hash(code))
	must(t, err)
	if !stored.ExpiresAt.Equal(epoch.Add(codeLifetime)) || stored.RedirectURI != w.public.RedirectURIs[0] || stored.CodeChallenge != challenge ||
		!grant.ExpiresAt.Equal(epoch.Add(grantLifetime)) || grant.PersonID != w.person {
		t.Errorf("%+v of %+v", stored, grant)
	}
	if slices.Contains([]string{code, w.code(t, w.public)}, w.code(t, w.public)) {
		t.Error("a code came twice")
	}
}
