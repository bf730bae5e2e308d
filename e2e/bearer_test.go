package e2e

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const (
	challengeAlone = `Bearer realm="lintel"`
	unknownID      = "3f2504e0-4f89-41d3-9a0c-0305e82c3301" // of no door
)

// unauthorised checks a refusal by RFC 6750 §3: with an error code only where
// there was a token to find fault with (§3.1).
func (r response) unauthorised(t *testing.T, tokenGiven bool) {
	t.Helper()
	r.refusedWith(t, http.StatusUnauthorized, "Error communicating with Lintel, authentication error (401)")
	challenge := r.Header.Get("WWW-Authenticate")
	if !tokenGiven && challenge != challengeAlone {
		t.Errorf("WWW-Authenticate is %q, want %q", challenge, challengeAlone)
	}
	if tokenGiven && !strings.HasPrefix(challenge, challengeAlone+`, error="invalid_token"`) {
		t.Errorf("WWW-Authenticate is %q, without invalid_token", challenge)
	}
}

// TestRefusedCredentials: without a good token in the header nothing is told and
// nothing moves.
func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	last := d.Token[len(d.Token)-1:]
	altered := strings.TrimSuffix(d.Token, last) + map[bool]string{true: "B", false: "A"}[last == "A"]
	rows := []struct {
		name          string
		authorization []string
		tokenGiven    bool
	}{
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"another scheme", []string{"Basic ZGVtbzpkZW1v"}, false},
		{"the token alone", []string{d.Token}, false},
		{"a longer scheme", []string{"Bearers " + d.Token}, false},
		{"the scheme alone", []string{"Bearer"}, true},
		{"the scheme and a space", []string{"Bearer "}, true},
		{"garbage", []string{"Bearer ' OR 1=1 --"}, true},
		{"unknown", []string{"Bearer lta_" + strings.Repeat("A", 43)}, true},
		{"altered", []string{"Bearer " + altered}, true},
		{"cut", []string{"Bearer " + d.Token[:len(d.Token)-1]}, true},
		{"in upper case", []string{"Bearer " + strings.ToUpper(d.Token)}, true},
		{"two in one", []string{"Bearer " + d.Token + ", Bearer " + d.Token}, true},
		{"twice", []string{"Bearer " + d.Token, "Bearer " + d.Token}, true},
		{"very long", []string{"Bearer " + strings.Repeat("a", 8000)}, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, path := range []string{togglePath, syncPath} {
				req := request("POST", d.BaseURL+path, "", strings.NewReader(toggleBody(d.door("works").DoorID, "OPEN")))
				req.Header["Authorization"] = row.authorization
				must(t, req).unauthorised(t, row.tokenGiven)
			}
		})
	}
	d.nothingRecorded()
}

// TestTokenInTheHeaderOnly: RFC 6750 §2.2 and §2.3 are not spoken, since queries
// end up in logs.
func TestTokenInTheHeaderOnly(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	door, query := d.door("works").DoorID, "?access_token="+url.QueryEscape(d.Token)
	withToken := strings.Replace(toggleBody(door, "OPEN"), "{", `{"access_token":"`+d.Token+`",`, 1)
	form := url.Values{"access_token": {d.Token}, "door_id": {door}, "door_state": {"OPEN"}}.Encode()
	requests := map[string]*http.Request{
		"toggle, query": request("POST", d.BaseURL+togglePath+query, "", strings.NewReader(toggleBody(door, "OPEN"))),
		"toggle, JSON":  request("POST", d.BaseURL+togglePath, "", strings.NewReader(withToken)),
		"toggle, form":  request("POST", d.BaseURL+togglePath, "", strings.NewReader(form), "Content-Type", "application/x-www-form-urlencoded"),
		"toggle, user":  request("POST", strings.Replace(d.BaseURL, "://", "://"+d.Token+"@", 1)+togglePath, "", strings.NewReader(toggleBody(door, "OPEN"))),
		"sync, query":   request("GET", d.BaseURL+syncPath+query, "", nil),
		"sync, form":    request("POST", d.BaseURL+syncPath, "", strings.NewReader(form), "Content-Type", "application/x-www-form-urlencoded"),
		"sync, cookie":  request("GET", d.BaseURL+syncPath, "", nil, "Cookie", "access_token="+d.Token),
	}
	for name, req := range requests {
		t.Run(name, func(t *testing.T) { must(t, req).unauthorised(t, false) })
	}
	d.nothingRecorded()
}

// TestSchemeInAnyCase: RFC 9110 §11.1 makes the scheme case-insensitive.
func TestSchemeInAnyCase(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER ", "bEaReR  "} {
		for path, body := range map[string]string{togglePath: toggleBody(d.door("works").DoorID, "CLOSED"), syncPath: ""} {
			r := do(t, "POST", d.BaseURL+path, "", body, "Authorization", scheme+d.Token)
			if r.Status != http.StatusOK {
				t.Errorf("%q at %s: got %d %s", scheme, path, r.Status, r.Body)
			}
		}
	}
}

// TestWhoMayNotAskIsToldThatFirst: faults of the body are for those with a token.
func TestWhoMayNotAskIsToldThatFirst(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, contentType := range []string{"application/json", "text/plain"} {
		for _, body := range []string{"{", strings.Repeat("x", maxBody+1)} {
			r := do(t, "POST", d.BaseURL+togglePath, "lta_"+strings.Repeat("A", 43), body, "Content-Type", contentType)
			r.unauthorised(t, true)
		}
	}
}

// TestSomebodyElsesDoorDoesNotExist: the two answers do not differ in a byte, but
// for the time, so that nobody can find out whose door an id is.
func TestSomebodyElsesDoorDoesNotExist(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	absent := d.toggleAs(d.Other, unknownID, "OPEN")
	absent.refusedWith(t, http.StatusNotFound, "Sorry, Lintel cannot be found. Please unplug it and plug it back in.")
	if own := d.toggle(unknownID, "OPEN"); untimed(own) != untimed(absent) {
		t.Errorf("the absent door is %s to one and %s to the other", untimed(own), untimed(absent))
	}
	for _, door := range d.Doors {
		for _, state := range []string{"OPEN", "CLOSED"} {
			if r := d.toggleAs(d.Other, door.DoorID, state); untimed(r) != untimed(absent) {
				t.Errorf("%s: %s\ndiffers from an absent door: %s", door.Behaviour, untimed(r), untimed(absent))
			}
		}
	}
	d.nothingRecorded()
	if r := do(t, "GET", d.BaseURL+syncPath, d.Other, ""); r.Status != http.StatusOK || string(r.Body) != "{\"devices\":[]}\n" {
		t.Errorf("who owns nothing is listed %d %s", r.Status, r.Body)
	}
}

var timestamp = regexp.MustCompile(`"timestamp":\d+`)

// untimed is the whole answer without what only tells the time.
func untimed(r response) string {
	header := r.Header.Clone()
	header.Del("Date")
	var out strings.Builder
	_ = header.Write(&out) // sorted; a Builder takes everything
	return http.StatusText(r.Status) + "\n" + out.String() + timestamp.ReplaceAllString(string(r.Body), `"timestamp":0`)
}

// TestScopes: a token may do what it was made for and no more.
func TestScopes(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	doors := map[string]string{"OPEN": d.doors("works")[1].DoorID, "CLOSED": d.doors("works")[0].DoorID} // already there
	needs := map[string]string{"OPEN": "OPENDOOR", "CLOSED": "CLOSEDOOR"}
	for _, scope := range []string{"OPENDOOR", "CLOSEDOOR", "READ", "opendoor,closedoor"} {
		token := d.createToken(d.User.Email, scope).AccessToken
		if r := do(t, "GET", d.BaseURL+syncPath, token, ""); scope != "READ" {
			r.insufficient(t, "READ")
		} else if r.Status != http.StatusOK {
			t.Errorf("%s: sync answers %d", scope, r.Status)
		}
		for state, door := range doors {
			t.Run(scope+" "+state, func(t *testing.T) {
				r := d.toggleAs(token, door, state)
				if strings.Contains(strings.ToUpper(scope), needs[state]) {
					if r.Status != http.StatusOK {
						t.Errorf("got %d %s", r.Status, r.Body)
					}
					return
				}
				r.insufficient(t, needs[state])
				// The token alone decides: an absent door is not told from one that is there.
				if absent := d.toggleAs(token, unknownID, state); untimed(absent) != untimed(r) {
					t.Errorf("an absent door gives %s, not %s", untimed(absent), untimed(r))
				}
			})
		}
	}
	if taken := len(d.history()); taken != 4 {
		t.Errorf("%d commands are recorded, want 4", taken)
	}
}

func (r response) insufficient(t *testing.T, scope string) {
	t.Helper()
	r.refusedWith(t, http.StatusForbidden, "Error communicating with Lintel, permission error (403)")
	want := challengeAlone + `, error="insufficient_scope", scope="` + scope + `"`
	if got := r.Header.Get("WWW-Authenticate"); got != want {
		t.Errorf("WWW-Authenticate is %q, want %q", got, want)
	}
}

// TestRevocationActsAtOnce: the very next request is refused, and no other token is.
func TestRevocationActsAtOnce(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	door := d.door("works").DoorID
	rows := map[string]func(madeToken) invocation{
		"by id":               func(m madeToken) invocation { return invocation{args: []string{m.ID}} },
		"by token":            func(m madeToken) invocation { return invocation{args: []string{m.AccessToken}} },
		"from standard input": func(m madeToken) invocation { return invocation{args: []string{"-"}, stdin: m.AccessToken + "\n"} },
	}
	for name, revocation := range rows {
		t.Run(name, func(t *testing.T) {
			made := d.createToken(d.User.Email, "OPENDOOR,CLOSEDOOR,READ")
			if r := d.toggleAs(made.AccessToken, door, "CLOSED"); r.Status != http.StatusOK {
				t.Fatalf("before: got %d %s", r.Status, r.Body)
			}
			revoke := revocation(made)
			revoke.args = append([]string{"token", "revoke", "--data", d.Data, "--"}, revoke.args...)
			if out, stderr, err := revoke.run(); err != nil {
				t.Fatalf("%v\n%s%s", err, out, stderr)
			}
			d.toggleAs(made.AccessToken, door, "CLOSED").unauthorised(t, true)
			do(t, "GET", d.BaseURL+syncPath, made.AccessToken, "").unauthorised(t, true)
		})
	}
	if r := d.toggle(door, "CLOSED"); r.Status != http.StatusOK {
		t.Errorf("another token: got %d %s", r.Status, r.Body)
	}
	if taken := len(d.history()); taken != len(rows)+1 {
		t.Errorf("%d commands are recorded, want %d", taken, len(rows)+1)
	}
	for _, unknown := range []string{unknownID, "lta_" + strings.Repeat("A", 43), "nonsense"} {
		refused(t, invocation{args: []string{"token", "revoke", "--data", d.Data, unknown}})
	}
}

// TestExpiredTokens are as good as none.
func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	made := d.createToken(d.User.Email, "OPENDOOR,CLOSEDOOR,READ", "--lifetime", "1ms")
	d.toggleAs(made.AccessToken, d.door("works").DoorID, "OPEN").unauthorised(t, true)
	do(t, "GET", d.BaseURL+syncPath, made.AccessToken, "").unauthorised(t, true)
	d.nothingRecorded()
}
