package oauth

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// known are the parameters that mean something here. Others are ignored (RFC
// 6749 §3.1), repeated or not.
var known = []string{
	"client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "device_code",
	"grant_type", "redirect_uri", "refresh_token", "response_mode", "response_type", "scope", "state", "token", "token_type_hint",
}

// parameters are the known parameters of one request. One that was sent without
// a value counts as not sent (RFC 6749 §3.1).
type parameters struct {
	values   map[string]string
	repeated map[string][]string // what was sent more than once (RFC 6749 §3.1 forbids it), with all its values
	damaged  map[string]bool     // what is not form-encoded, or no text
	settled  bool                // settleRefresh made one of two values
}

// parseParameters reads parameters in the form application/x-www-form-urlencoded
// from any number of texts, as from a query and a body. What is wrong with one of
// them is kept, so that it can be told to whom it concerns.
func parseParameters(texts ...string) (parameters, error) {
	p := parameters{values: map[string]string{}, repeated: map[string][]string{}, damaged: map[string]bool{}}
	all := map[string][]string{}
	for _, text := range texts {
		if len(text) > maxParameters {
			return p, fmt.Errorf("the parameters are longer than %d bytes", maxParameters)
		}
		for _, pair := range strings.Split(text, "&") {
			encoded, value, _ := strings.Cut(pair, "=")
			name, err := url.QueryUnescape(encoded)
			if err != nil || !slices.Contains(known, name) {
				continue
			}
			value, err = url.QueryUnescape(value)
			p.damaged[name] = p.damaged[name] || err != nil || !isText(value)
			all[name] = append(all[name], value)
		}
	}
	for name, list := range all {
		switch {
		case len(list) > 1:
			p.repeated[name] = list
		case list[0] != "" && !p.damaged[name]:
			p.values[name] = list[0]
		}
	}
	return p, nil
}

// isText reports whether a value can be stored and shown anywhere.
func isText(v string) bool {
	return utf8.ValidString(v) && !strings.ContainsFunc(v, unicode.IsControl)
}

func (p parameters) get(name string) string { return p.values[name] }

// wrong returns an error when one of the parameters was sent more than once, or
// is damaged.
func (p parameters) wrong(names ...string) *Error {
	for _, name := range names {
		switch {
		case len(p.repeated[name]) > 0:
			return fail(InvalidRequest, "the parameter "+name+" is repeated")
		case p.damaged[name]:
			return fail(InvalidRequest, "the parameter "+name+" is not form-encoded text")
		}
	}
	return nil
}

// settleRefresh makes one value of the two that the deployed services' example
// of a refresh gives grant_type. Whether the client may send it is for the
// caller to decide.
func (p *parameters) settleRefresh() {
	const refresh = "refresh_token"
	both := p.repeated["grant_type"]
	if len(both) == 2 && slices.Contains(both, refresh) && slices.Contains(both, "authorization_code") &&
		p.get(refresh) != "" && p.get("code") == "" {
		delete(p.repeated, "grant_type")
		p.values["grant_type"], p.settled = refresh, true
	}
}
