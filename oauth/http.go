package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Routes adds the endpoints that clients call. Those that people see are
// package web's.
func (s *Server) Routes(mux *http.ServeMux) {
	for path, handle := range map[string]func(*http.Request) (any, *Error){
		PathToken: s.token, PathRevocation: s.revoke, PathIntrospection: s.introspect, PathDeviceAuthorization: s.authorizeDevice,
	} {
		mux.Handle(path+"{$}", s.endpoint(handle, "POST")) // GET is for legacy clients, who know
		mux.Handle(strings.TrimSuffix(path, "/"), s.endpoint(handle, "POST"))
	}
	mux.Handle(PathMetadata, s.endpoint(s.metadata, "GET, HEAD"))
}

// endpoint writes what a handler returns. allow is what it says of methods that
// it refuses.
func (s *Server) endpoint(handle func(*http.Request) (any, *Error), allow string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, failure := s.safely(r, handle)
		status := http.StatusOK
		if failure != nil {
			status, answer = failure.status(), errorAnswer{failure.Code, failure.Description}
		}
		body, err := json.Marshal(answer)
		if err != nil {
			panic("oauth: " + err.Error()) // the wire types always encode
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store") // RFC 6749 §5.1
		h.Set("Pragma", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		switch status {
		case http.StatusUnauthorized:
			h.Set("WWW-Authenticate", `Basic realm="lintel", charset="UTF-8"`) // RFC 6749 §5.2
		case http.StatusMethodNotAllowed:
			h.Set("Allow", allow)
		case http.StatusTooManyRequests:
			h.Set("Retry-After", strconv.Itoa(int(failure.After/time.Second)+1))
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(append(body, '\n')) // the client may be gone
		}
	})
}

// errorAnswer is a refusal (RFC 6749 §5.2).
type errorAnswer struct {
	Error       ErrorCode `json:"error"`
	Description string    `json:"error_description"`
}

// safely turns a panic into an answer. Of the request only the path is logged:
// the rest may hold secrets.
func (s *Server) safely(r *http.Request, handle func(*http.Request) (any, *Error)) (answer any, failure *Error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.Error("panic", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			answer, failure = nil, errInternal
		}
	}()
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	return handle(r.WithContext(ctx))
}
