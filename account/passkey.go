package account

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"lintel"
	"lintel/secret"
)

const (
	passkeyAdd    = "passkey-add"
	passkeySignIn = "passkey-sign-in"

	challengeFor = 5 * time.Minute // WebAuthn Level 3 §15.1 recommends 5 to 10

	maxResponse = 64 << 10 // bytes of an authenticator's response
	maxPasskeys = 20       // of a person
)

var (
	errNoPasskeys = invalid("passkeys need the service to be reached by https and a name, not by an address")
	errChallenge  = unauthenticated("this took longer than 5 minutes or was done already; try again")
)

// PasskeysPossible reports whether browsers take part in passkeys here: the
// host of Config.Origin is a name, not an IP address, and is reached by https or
// is localhost. Where it is false, what begins or finishes one is CodeInvalid.
func (s *Service) PasskeysPossible() bool { return s.relying != nil }

// Passkeys lists a person's passkeys, the oldest first.
func (s *Service) Passkeys(ctx context.Context, person lintel.ID) ([]lintel.Passkey, error) {
	return s.store.Passkeys(ctx, person)
}

// RemovePasskey removes one of a person's passkeys: it signs nobody in any more.
// An unknown one, and somebody else's, is CodeNotFound.
func (s *Service) RemovePasskey(ctx context.Context, person, id lintel.ID) error {
	if err := s.store.RemovePasskey(ctx, person, id); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "passkey removed", "account", person, "passkey", id)
	return nil
}

// challenge stores what a ceremony was begun with, and returns the ticket that
// names it and the options for the browser.
func (s *Service) challenge(ctx context.Context, kind, holder string, data *webauthn.SessionData, options any) (ticket string, text []byte, err error) {
	content, err := json.Marshal(data)
	if err != nil {
		return "", nil, internal("challenge", err)
	}
	text, err = json.Marshal(options)
	if err != nil {
		return "", nil, internal("options", err)
	}
	ticket = secret.New(secret.Ticket)
	err = s.store.AddTicket(ctx, lintel.Ticket{
		Hash: secret.Hash(ticket), Kind: kind, Holder: holder, Content: string(content), ExpiresAt: s.stamp().Add(challengeFor),
	})
	if err != nil {
		return "", nil, err
	}
	return ticket, text, nil
}

// answered uses the ticket of a challenge up, whatever the answer is worth.
func (s *Service) answered(ctx context.Context, kind, holder, ticket string) (webauthn.SessionData, error) {
	var data webauthn.SessionData
	content, err := s.store.UseTicket(ctx, secret.Hash(ticket), kind, holder, s.stamp())
	if err != nil {
		return data, ticketError(err, errChallenge)
	}
	if err := json.Unmarshal([]byte(content), &data); err != nil {
		return data, internal("challenge", err)
	}
	return data, nil
}

// credentialID is a credential's ID as it is stored.
func credentialID(c *webauthn.Credential) string { return base64.RawURLEncoding.EncodeToString(c.ID) }

// userHandle is the 16 bytes of a person's ID.
func userHandle(id lintel.ID) []byte {
	b, _ := hex.DecodeString(strings.ReplaceAll(string(id), "-", "")) // an ID is canonical
	return b
}

// personOf is the person that a user handle names. Any 16 bytes name one, who
// need not exist.
func personOf(handle []byte) (lintel.ID, error) { return lintel.ParseID(hex.EncodeToString(handle)) }
