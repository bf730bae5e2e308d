package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
)

// slowServer answers what a refresh asks for just before its limit, and the rest at
// once.
type slowServer struct{ asked func(path string) }

func (s slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked(r.URL.Path)
	body := `{"devices":[]}`
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		body = `{"issuer":"http://127.0.0.1","token_endpoint":"http://127.0.0.1/t","revocation_endpoint":"http://127.0.0.1/r","device_authorization_endpoint":"http://127.0.0.1/d"}`
	case "/t":
		body = `{"access_token":"new","refresh_token":"next","token_type":"Bearer","expires_in":3600}`
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		select {
		case <-time.After(exchangeLimit - time.Second):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestASlowRefreshIsWaitedFor: a command waits for another's refresh as long as that
// may take, and then has its tokens.
func TestASlowRefreshIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		exchanges := 0
		server := slowServer{func(path string) {
			mu.Lock()
			defer mu.Unlock()
			if path == "/t" {
				exchanges++
			}
		}}
		file := tokenFile{t.TempDir()}
		err := file.update(t.Context(), func(saved *tokens) (bool, error) {
			saved.Servers["http://127.0.0.1"] = savedGrant{AccessToken: "old", RefreshToken: "first"}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				r := &remote{origin: "http://127.0.0.1", http: &http.Client{Transport: server}, file: file}
				if _, err := r.list(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if exchanges != 1 {
			t.Errorf("%d refreshes", exchanges)
		}
	})
}

// TestOnlyAHeldLockIsAnothers: every other failure is called what it is.
func TestOnlyAHeldLockIsAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := tokenFile{t.TempDir()}
		path := filepath.Join(file.dir, "credentials.lock")
		holder := flock.New(path)
		if held, err := holder.TryLock(); !held {
			t.Fatal(err)
		}
		change := func(*tokens) (bool, error) { return false, nil }
		began := time.Now()
		err := file.update(t.Context(), change)
		if err == nil || !strings.Contains(err.Error(), "another lintel command holds "+path) || time.Since(began) != lockLimit {
			t.Errorf("held: %v after %s", err, time.Since(began))
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := file.update(ended, change); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "another lintel command holds ") {
			t.Errorf("held, and ended: %v", err)
		}
		if err := errors.Join(holder.Unlock(), file.update(t.Context(), change), os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := file.update(t.Context(), change); err == nil || strings.Contains(err.Error(), "another") {
			t.Errorf("a lock that cannot be made: %v", err)
		}
	})
}
