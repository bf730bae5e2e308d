package oauth

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
)

// golden is the metadata word for word (RFC 8414 §2). Clients compare the issuer
// with where they found it, byte for byte.
const golden = `{
	"issuer": "https://door.example",
	"authorization_endpoint": "https://door.example/oauth/v2/endpoints/authorization/",
	"token_endpoint": "https://door.example/oauth/v2/endpoints/token/",
	"revocation_endpoint": "https://door.example/oauth/v2/endpoints/revocation/",
	"introspection_endpoint": "https://door.example/oauth/v2/endpoints/introspection/",
	"device_authorization_endpoint": "https://door.example/oauth/v2/endpoints/device_authorization/",
	"scopes_supported": ["OPENDOOR", "CLOSEDOOR", "READ", "SETTINGS", "SHARE"],
	"response_types_supported": ["code"],
	"response_modes_supported": ["query"],
	"grant_types_supported": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
	"token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
	"revocation_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
	"introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
	"code_challenge_methods_supported": ["S256"],
	"authorization_response_iss_parameter_supported": true,
	"ui_locales_supported": ["en"]
}`

func TestMetadata(t *testing.T) {
	w := newWorld(t)
	var want bytes.Buffer
	must(t, json.Compact(&want, []byte(golden)))
	for _, query := range []string{"", "?", "?issuer=https://evil.example"} {
		r := w.request(t, http.MethodGet, PathMetadata+query, nil)
		r.Host = "evil.example" // nothing of the answer comes of the request
		r.Header.Set("X-Forwarded-Host", "evil.example")
		r.Header.Set("Forwarded", "host=evil.example;proto=http")
		w.call(t, r).wantBody(t, query, want.String())
	}
	head := w.call(t, w.request(t, http.MethodHead, PathMetadata, nil))
	if head.status != 200 || head.body != "" {
		t.Errorf("HEAD: %d %q", head.status, head.body)
	}
	post := w.post(t, PathMetadata, form("x", "y"))
	if post.status != 405 || post.header.Get("Allow") != "GET, HEAD" || post.fields(t)["error"] != "invalid_request" {
		t.Errorf("POST: %d %s, Allow %q", post.status, post.body, post.header.Get("Allow"))
	}
	for _, path := range []string{PathMetadata + "/", PathMetadata + "/oauth", "/.well-known/openid-configuration"} {
		answer, err := w.send(w.request(t, http.MethodGet, path, nil))
		if must(t, err); answer.status != 404 {
			t.Errorf("%s: %d", path, answer.status)
		}
	}
}
