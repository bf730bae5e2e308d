package oauth

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"lintel"
)

// request is a request of a client whose client is known and authenticated.
type request struct {
	parameters
	client lintel.Client
}

// read reads a client's request: POST with a form in the body (RFC 6749 §3.2).
// At the token endpoint a client that was written for the deployed services may
// also use GET, and the query: inQuery says that this endpoint is it.
func (s *Server) read(r *http.Request, inQuery bool) (request, *Error) {
	if r.Method != http.MethodPost && (r.Method != http.MethodGet || !inQuery) {
		return request{}, errMethod
	}
	body, failure := readForm(r)
	if failure != nil {
		return request{}, failure
	}
	p, err := parseParameters(r.URL.RawQuery, body)
	if err != nil {
		return request{}, fail(InvalidRequest, err.Error())
	}
	old := r.Method == http.MethodGet || r.URL.RawQuery != ""
	if old && !inQuery {
		return request{}, errQuery
	}
	if inQuery {
		p.settleRefresh()
	}
	if failure := p.wrong(known...); failure != nil {
		return request{}, failure
	}
	given, failure := credentialsOf(r.Header, p)
	if failure != nil {
		return request{}, failure
	}
	client, failure := s.identify(r.Context(), given)
	switch {
	case failure != nil:
		return request{}, failure
	case old && !client.Legacy:
		return request{}, refuseOld(r.Method)
	case p.settled && !client.Legacy:
		return request{}, fail(InvalidRequest, "the parameter grant_type is repeated")
	}
	return request{p, client}, authentic(client, given)
}

// refuseOld answers a client that does what only a legacy one may.
func refuseOld(method string) *Error {
	if method == http.MethodGet {
		return errMethod
	}
	return errQuery
}

var (
	errMethod = &Error{Code: InvalidRequest, Description: "use POST", Status: http.StatusMethodNotAllowed}
	errQuery  = fail(InvalidRequest, "parameters belong in the body, not in the address")
)

// readForm returns the body of a request, which is a form or empty.
func readForm(r *http.Request) (string, *Error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxParameters))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return "", &Error{Code: InvalidRequest, Description: "the body is too long", Status: http.StatusRequestEntityTooLarge}
	}
	if err != nil {
		return "", fail(InvalidRequest, "the body did not arrive whole")
	}
	if len(body) == 0 {
		return "", nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return "", fail(InvalidRequest, "the body must be application/x-www-form-urlencoded")
	}
	return string(body), nil
}
