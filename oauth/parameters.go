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
	settled  bool                // settleRefresh made one of two values
}

// parseParameters reads parameters in the form application/x-www-form-urlencoded
// from any number of texts, as from a query and a body. The error says what is
// malformed.
func parseParameters(texts ...string) (parameters, error) {
	all := map[string][]string{}
	for _, text := range texts {
		if len(text) > maxParameters {
			return parameters{}, fmt.Errorf("the parameters are longer than %d bytes", maxParameters)
		}
		values, err := url.ParseQuery(text)
		if err != nil {
			return parameters{}, fmt.Errorf("the parameters are not form-encoded")
		}
		for name, list := range values {
			all[name] = append(all[name], list...)
		}
	}
	p := parameters{values: map[string]string{}, repeated: map[string][]string{}}
	for name, list := range all {
		if !slices.Contains(known, name) {
			continue
		}
		if slices.ContainsFunc(list, func(v string) bool { return !isText(v) }) {
			return parameters{}, fmt.Errorf("the parameter %s holds bytes that are no text", name)
		}
		if len(list) > 1 {
			p.repeated[name] = list
			continue
		}
		if list[0] != "" {
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

// unrepeated returns an error when any known parameter was sent more than once.
func (p parameters) unrepeated() *Error {
	for _, name := range known {
		if len(p.repeated[name]) > 0 {
			return fail(InvalidRequest, "the parameter "+name+" is repeated")
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
