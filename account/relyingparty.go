package account

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"lintel"
)

// relyingParty is this service to authenticators (WebAuthn Level 3 §4).
type relyingParty struct{ *webauthn.WebAuthn }

// newRelyingParty returns nil where no browser would take part: where the host
// is an IP address (WebAuthn Level 3 §5.1.3, "valid domain string"), and where the
// origin is not a secure context (Secure Contexts §3.1).
func newRelyingParty(cfg Config) (*relyingParty, error) {
	origin, host, err := parseOrigin(cfg.Origin)
	if err != nil {
		return nil, err
	}
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if protocol.ValidateRPID(host) != nil || strings.HasPrefix(origin, "http://") && !local {
		return nil, nil
	}
	timeout := webauthn.TimeoutConfig{Timeout: challengeFor, TimeoutUVD: challengeFor} // enforced by the ticket
	w, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: cfg.Name, RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Password managers answer extensions that nobody asked for. Nothing here goes by any.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, internal("passkeys", err)
	}
	return &relyingParty{w}, nil
}

// parseOrigin returns the origin of a URL as browsers write it (RFC 6454 §6.2),
// and its host.
func parseOrigin(text string) (origin, host string, err error) {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", "", invalid(fmt.Sprintf("%q is not the URL of a website, such as https://doors.example", text))
	}
	usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"+usual), u.Hostname(), nil
}

// user is a person to go-webauthn.
type user struct {
	lintel.Person
	credentials webauthn.Credentials
}

// newUser returns a person with the credentials of all passkeys.
func newUser(p lintel.Person, passkeys []lintel.Passkey) (user, error) {
	u := user{Person: p}
	for _, k := range passkeys {
		var c webauthn.Credential
		if err := json.Unmarshal([]byte(k.Credential), &c); err != nil {
			return user{}, internal("passkey "+string(k.ID), err)
		}
		u.credentials = append(u.credentials, c)
	}
	return u, nil
}

// WebAuthnID returns the user handle: the 16 bytes of the person's UUID. It is
// random and says nothing about the person (WebAuthn Level 3 §14.6.1).
func (u user) WebAuthnID() []byte { return userHandle(u.ID) }

// WebAuthnName returns the e-mail address, by which a person tells accounts apart.
func (u user) WebAuthnName() string { return u.Email }

// WebAuthnDisplayName returns the person's name, or else the e-mail address.
func (u user) WebAuthnDisplayName() string {
	if name := strings.TrimSpace(u.GivenName + " " + u.FamilyName); name != "" {
		return name
	}
	return u.Email
}

// WebAuthnCredentials returns the credentials of the person's passkeys.
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.credentials }
