package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"lintel"
)

var (
	errNotFresh      = forbidden("sign in again first: this needs a sign-in of the last 15 minutes")
	errNotAdded      = invalid("this passkey could not be added; try again, or use another one")
	errTooManyOfThem = invalid(fmt.Sprintf("an account has at most %d passkeys; remove one first", maxPasskeys))
)

// BeginAddPasskey returns a challenge: the options for
// navigator.credentials.create as JSON {"publicKey": ...}, and the ticket that
// FinishAddPasskey takes within 5 minutes in the same session. They ask for a
// discoverable credential that verifies its user, for no attestation, and not for
// one that the person has here already (WebAuthn Level 3 §5.4). A session that is
// not Fresh is CodeForbidden.
func (s *Service) BeginAddPasskey(ctx context.Context, session lintel.Session, person lintel.Person) (ticket string, options []byte, err error) {
	if err := s.mayAddPasskey(session, person); err != nil {
		return "", nil, err
	}
	if !s.Fresh(session) {
		return "", nil, errNotFresh
	}
	u, err := s.user(ctx, person)
	if err != nil {
		return "", nil, err
	}
	if len(u.credentials) >= maxPasskeys {
		return "", nil, errTooManyOfThem
	}
	creation, data, err := s.relying.BeginRegistration(u,
		webauthn.WithExclusions(u.credentials.CredentialDescriptors()),
		webauthn.WithCredentialParameters(webauthn.CredentialParametersRecommendedL3()))
	if err != nil {
		return "", nil, internal("begin passkey", err)
	}
	return s.challenge(ctx, passkeyAdd, string(session.ID), data, creation)
}

// FinishAddPasskey stores the passkey that has answered the challenge, under a
// name that lintel.CheckName allows: response is the PublicKeyCredential as JSON
// (WebAuthn Level 3 §7.1, and §5.1 for toJSON). The ticket is used up whatever the
// answer is, except where the name is wrong. An answer that is not good is
// CodeInvalid, a passkey that somebody has here already CodeConflict, and a ticket
// that is over CodeUnauthenticated.
func (s *Service) FinishAddPasskey(ctx context.Context, session lintel.Session, person lintel.Person, ticket, name string, response []byte) error {
	if err := s.mayAddPasskey(session, person); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	if err := lintel.CheckName("name of the passkey", name); err != nil {
		return err
	}
	data, err := s.answered(ctx, passkeyAdd, string(session.ID), ticket)
	if err != nil {
		return err
	}
	u, err := s.user(ctx, person)
	if err != nil {
		return err
	}
	credential, err := s.register(u, data, response)
	if err != nil {
		s.log.InfoContext(ctx, "passkey refused", "account", person.ID, "reason", reason(err))
		return errNotAdded
	}
	return s.addPasskey(ctx, person, name, credential)
}

func (s *Service) mayAddPasskey(session lintel.Session, person lintel.Person) error {
	if s.relying == nil {
		return errNoPasskeys
	}
	if session.PersonID != person.ID {
		return forbidden("this session is somebody else's; sign in again")
	}
	return nil
}

// user is a person with all passkeys.
func (s *Service) user(ctx context.Context, person lintel.Person) (user, error) {
	passkeys, err := s.store.Passkeys(ctx, person.ID)
	if err != nil {
		return user{}, err
	}
	return newUser(person, passkeys)
}

// register checks an answer and returns the credential that it brings.
func (s *Service) register(u user, data webauthn.SessionData, response []byte) (*webauthn.Credential, error) {
	if len(response) > maxResponse {
		return nil, errors.New("the response is too long")
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return nil, err
	}
	return s.relying.CreateCredential(u, data, parsed)
}

func (s *Service) addPasskey(ctx context.Context, person lintel.Person, name string, c *webauthn.Credential) error {
	text, err := json.Marshal(c)
	if err != nil {
		return internal("passkey", err)
	}
	p := lintel.Passkey{
		ID: lintel.NewID(), PersonID: person.ID, CredentialID: credentialID(c), Credential: string(text),
		Name: name, CreatedAt: s.stamp(),
	}
	if err := s.store.AddPasskey(ctx, p); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "passkey added", "account", person.ID, "passkey", p.ID)
	return nil
}
