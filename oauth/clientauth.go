package oauth

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"lintel"
	"lintel/secret"
)

// credentials are how a client names itself, and maybe proves it.
type credentials struct {
	id, secret string
}

// credentialsOf reads what a client sent: HTTP Basic, or parameters, and not
// both (RFC 6749 §2.3).
func credentialsOf(header http.Header, p parameters) (credentials, *Error) {
	values := header.Values("Authorization")
	if len(values) == 0 {
		if p.get("client_id") == "" {
			return credentials{}, fail(InvalidClient, "the client did not say who it is")
		}
		return credentials{p.get("client_id"), p.get("client_secret")}, nil
	}
	if len(values) > 1 {
		return credentials{}, fail(InvalidRequest, "more than one Authorization header")
	}
	given, ok := basic(values[0])
	switch {
	case !ok:
		return credentials{}, fail(InvalidClient, "the Authorization header is not HTTP Basic with form-encoded parts")
	case p.get("client_secret") != "":
		return credentials{}, fail(InvalidRequest, "the client authenticated in more than one way")
	case p.get("client_id") != "" && p.get("client_id") != given.id:
		return credentials{}, fail(InvalidRequest, "client_id differs from the Authorization header")
	}
	return given, nil
}

// basic reads HTTP Basic credentials, whose parts are form-encoded before they
// are joined (RFC 6749 §2.3.1).
func basic(value string) (credentials, bool) {
	scheme, encoded, _ := strings.Cut(value, " ")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if !strings.EqualFold(scheme, "Basic") || err != nil {
		return credentials{}, false
	}
	id, password, ok := strings.Cut(string(text), ":")
	if !ok {
		return credentials{}, false
	}
	decodedID, err1 := url.QueryUnescape(id)
	decodedPassword, err2 := url.QueryUnescape(password)
	return credentials{decodedID, decodedPassword}, err1 == nil && err2 == nil && decodedID != "" && isText(decodedID)
}

// identify finds the client that credentials name, without looking at the secret.
func (s *Server) identify(ctx context.Context, given credentials) (lintel.Client, *Error) {
	client, err := s.store.Client(ctx, given.id)
	switch {
	case lintel.CodeOf(err) == lintel.CodeNotFound, err == nil && !client.DisabledAt.IsZero():
		return lintel.Client{}, errUnknownClient
	case err != nil:
		return lintel.Client{}, s.internal(ctx, err)
	}
	return client, nil
}

var errUnknownClient = fail(InvalidClient, "the client is unknown or its secret is not right")

// authentic checks a client's secret. A public client has none, and must not
// claim one.
func authentic(c lintel.Client, given credentials) *Error {
	if c.Kind == lintel.Public {
		if given.secret != "" {
			return errUnknownClient
		}
		return nil
	}
	hash := []byte(secret.Hash(given.secret))
	matches := 0
	for _, known := range c.SecretHashes {
		matches += subtle.ConstantTimeCompare(hash, []byte(known))
	}
	if matches == 0 {
		return errUnknownClient
	}
	return nil
}
