package oauth

import (
	"net/http"

	"lintel"
)

// Paths of the authorization server. The deployed services' addresses end in a
// slash; each is also served without it, since clients do not follow redirects
// of a POST.
const (
	PathAuthorization       = "/oauth/v2/endpoints/authorization/"
	PathToken               = "/oauth/v2/endpoints/token/"
	PathRevocation          = "/oauth/v2/endpoints/revocation/"
	PathIntrospection       = "/oauth/v2/endpoints/introspection/"
	PathDeviceAuthorization = "/oauth/v2/endpoints/device_authorization/"
	PathDevice              = "/device"
	PathMetadata            = "/.well-known/oauth-authorization-server" // RFC 8414 §3
)

// metadata describes the server (RFC 8414 §2).
type metadata struct {
	Issuer                   string   `json:"issuer"`
	AuthorizationEndpoint    string   `json:"authorization_endpoint"`
	TokenEndpoint            string   `json:"token_endpoint"`
	RevocationEndpoint       string   `json:"revocation_endpoint"`
	IntrospectionEndpoint    string   `json:"introspection_endpoint"`
	DeviceEndpoint           string   `json:"device_authorization_endpoint"` // RFC 8628 §4
	Scopes                   []string `json:"scopes_supported"`
	ResponseTypes            []string `json:"response_types_supported"`
	ResponseModes            []string `json:"response_modes_supported"`
	GrantTypes               []string `json:"grant_types_supported"`
	TokenAuthMethods         []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods    []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionAuthMethods []string `json:"introspection_endpoint_auth_methods_supported"`
	ChallengeMethods         []string `json:"code_challenge_methods_supported"`
	IssuerInEveryAnswer      bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207 §3
	InterfaceLanguages       []string `json:"ui_locales_supported"`
}

func (s *Server) metadata(r *http.Request) (any, *Error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, &Error{Code: InvalidRequest, Description: "use GET", Status: http.StatusMethodNotAllowed}
	}
	at := func(path string) string { return s.cfg.Issuer + path }
	withSecret := []string{"client_secret_basic", "client_secret_post"}
	orNone := append([]string{"none"}, withSecret...)
	return metadata{
		Issuer:                s.cfg.Issuer,
		AuthorizationEndpoint: at(PathAuthorization), TokenEndpoint: at(PathToken), RevocationEndpoint: at(PathRevocation),
		IntrospectionEndpoint: at(PathIntrospection), DeviceEndpoint: at(PathDeviceAuthorization),
		Scopes:        lintel.AllScopes.Names(),
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		GrantTypes:       []string{grantCode, grantRefresh, grantDevice},
		TokenAuthMethods: orNone, RevocationAuthMethods: orNone, IntrospectionAuthMethods: withSecret,
		ChallengeMethods: []string{"S256"}, IssuerInEveryAnswer: true, InterfaceLanguages: []string{"en"},
	}, nil
}
