package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"lintel"
)

// crowd is how many do the same thing at once.
const crowd = 20

// together sends a request to the token endpoint many times at once, and
// returns the tokens that were given. Everybody else must be refused with code.
func (w *world) together(t *testing.T, body url.Values, code ErrorCode) []tokens {
	t.Helper()
	answers, errs := make([]reply, crowd), make([]error, crowd)
	requests := make([]*http.Request, crowd)
	for i := range requests {
		requests[i] = w.request(t, http.MethodPost, PathToken, body)
	}
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			<-start
			answers[i], errs[i] = w.send(requests[i])
		})
	}
	close(start)
	all.Wait()
	var given []tokens
	for i, answer := range answers {
		must(t, errs[i])
		if answer.status == 200 {
			given = append(given, answer.tokens(t))
			continue
		}
		if code == SlowDown && strings.Contains(answer.body, string(InvalidGrant)) {
			answer.wantRefused(t, "a poll after the tokens", 400, InvalidGrant)
			continue
		}
		answer.wantRefused(t, "one of a crowd", 400, code)
	}
	return given
}

// TestAtOnce: what may be used once is used once, however many come together;
// and since the others are replays, what it gave is ended.
func TestAtOnce(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		given := w.together(t, w.public.redemption(w.code(t, w.public)), InvalidGrant)
		if len(given) != 1 {
			t.Errorf("a code gave tokens %d times", len(given))
		}
		w.wantRevoked(t, given...)

		first := w.connect(t, w.public)
		given = w.together(t, w.public.renewal(first.RefreshToken), InvalidGrant)
		if len(given) != 1 {
			t.Errorf("a refresh token gave tokens %d times", len(given))
		}
		w.wantRevoked(t, append(given, first)...)

		code, user := w.device(t, w.public, "")
		must(t, w.server.ApproveDevice(t.Context(), user, w.person, lintel.ScopeRead))
		given = w.together(t, w.public.polling(code), SlowDown)
		if len(given) != 1 || !w.alive(t, given[0].AccessToken) {
			t.Errorf("a device code gave tokens %d times, or none that live", len(given))
		}
	}
}

// TestLazyAtOnce: a client with a secret that asks twice at once, as from two
// processes, gets tokens each time, and all of them work.
func TestLazyAtOnce(t *testing.T) {
	w := newWorld(t)
	first := w.connect(t, w.confidential)
	given := w.together(t, w.confidential.renewal(first.RefreshToken), "")
	if len(given) != crowd {
		t.Fatalf("%d of %d", len(given), crowd)
	}
	seen := map[string]bool{}
	for _, each := range append(given, first) {
		if !w.alive(t, each.AccessToken) || seen[each.AccessToken] || seen[each.RefreshToken] {
			t.Error("a token is dead, or was given twice")
		}
		seen[each.AccessToken], seen[each.RefreshToken] = true, true
	}
}
