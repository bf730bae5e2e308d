package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"lintel"
	"lintel/limit"
	"lintel/secret"
)

var errPasskey = unauthenticated("this passkey is not known here; use another, or sign in with your password")

// BeginPasskeySignIn returns a challenge: the options for
// navigator.credentials.get as JSON {"publicKey": ...}, and the ticket that
// FinishPasskeySignIn takes within 5 minutes from the same holder. holder names
// the browser by what only it knows, such as a cookie's value; it must not be
// empty and is stored as a hash. Any passkey of this service answers, after it
// has verified its user (WebAuthn Level 3 §5.5, §6.2). CodeTooMany with
// RetryAfter when very many are asked for from one network.
func (s *Service) BeginPasskeySignIn(ctx context.Context, b Browser, holder string) (ticket string, options []byte, err error) {
	if s.relying == nil {
		return "", nil, errNoPasskeys
	}
	if holder == "" {
		return "", nil, invalid("this browser keeps no cookies; allow them and try again")
	}
	if after := s.limits.take(s.now(), s.limits.challenge(limit.Network(b.Address))); after > 0 {
		return "", nil, tooMany(after)
	}
	assertion, data, err := s.relying.BeginDiscoverableLogin()
	if err != nil {
		return "", nil, internal("begin passkey sign-in", err)
	}
	return s.challenge(ctx, passkeySignIn, secret.Hash(holder), data, assertion)
}

// FinishPasskeySignIn signs in whose passkey has answered the challenge: response
// is the PublicKeyCredential as JSON (WebAuthn Level 3 §7.2, and §5.1 for toJSON).
// The ticket is used up whatever the answer is. A passkey whose signature counter
// went back may be a copy and is refused (§6.1.1). CodeUnauthenticated when nobody
// is signed in, CodeTooMany with RetryAfter when the source has failed too often.
func (s *Service) FinishPasskeySignIn(ctx context.Context, b Browser, holder, ticket string, response []byte) (SignedIn, error) {
	if s.relying == nil {
		return SignedIn{}, errNoPasskeys
	}
	uses := s.limits.passkey(limit.Network(b.Address))
	if after := s.limits.take(s.now(), uses); after > 0 {
		return SignedIn{}, tooMany(after)
	}
	p, err := s.passkeyAnswered(ctx, b, holder, ticket, response)
	if lintel.CodeOf(err) != lintel.CodeUnauthenticated {
		s.limits.giveBack(uses) // it succeeded, or the service failed
	}
	if err != nil {
		return SignedIn{}, err
	}
	return s.open(ctx, b, p, lintel.ByPasskey, "")
}

// passkeyAnswered returns the person whose passkey has answered.
func (s *Service) passkeyAnswered(ctx context.Context, b Browser, holder, ticket string, response []byte) (lintel.Person, error) {
	data, err := s.answered(ctx, passkeySignIn, secret.Hash(holder), ticket)
	if err != nil {
		return lintel.Person{}, err
	}
	owner := finder{ctx: ctx, store: s.store}
	credential, err := s.verify(&owner, data, response)
	if owner.failed != nil {
		return lintel.Person{}, owner.failed
	}
	if err != nil {
		s.refusedPasskey(ctx, b, owner.person.ID, err)
		return lintel.Person{}, errPasskey
	}
	if credential.Authenticator.CloneWarning {
		s.log.WarnContext(ctx, "a passkey's counter went back: there may be a copy of it", "account", owner.person.ID,
			"passkey", owner.passkey(credential), "source", b.address())
		return lintel.Person{}, errPasskey
	}
	return owner.person, s.usePasskey(ctx, owner.passkey(credential), credential)
}

// verify checks an answer and says which credential gave it.
func (s *Service) verify(owner *finder, data webauthn.SessionData, response []byte) (*webauthn.Credential, error) {
	if len(response) > maxResponse {
		return nil, errors.New("the response is too long")
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return nil, err
	}
	_, credential, err := s.relying.ValidatePasskeyLogin(owner.find, data, parsed)
	return credential, err
}

// usePasskey notes the use of a passkey, unless it was removed meanwhile.
func (s *Service) usePasskey(ctx context.Context, id lintel.ID, c *webauthn.Credential) error {
	text, err := json.Marshal(c)
	if err != nil {
		return internal("passkey", err)
	}
	err = s.store.UsePasskey(ctx, id, string(text), s.stamp())
	if isNotFound(err) {
		return errPasskey
	}
	return err
}

func (s *Service) refusedPasskey(ctx context.Context, b Browser, account lintel.ID, why error) {
	s.log.InfoContext(ctx, "sign-in refused", "method", lintel.ByPasskey, "source", b.address(),
		"reason", reason(why), "account", cmp.Or(account, "unknown"))
}

// reason is why an answer of an authenticator was refused, without what it said.
func reason(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Type
	}
	return "malformed"
}

// finder finds the person that an authenticator names.
type finder struct {
	ctx      context.Context
	store    Store
	person   lintel.Person // zero until found
	passkeys []lintel.Passkey
	failed   error // the store's failure: not the authenticator's
}

var errNobody = errors.New("nobody's user handle")

func (f *finder) find(_, handle []byte) (webauthn.User, error) {
	id, err := personOf(handle)
	if err != nil {
		return nil, errNobody
	}
	p, err := f.store.Person(f.ctx, id)
	if err != nil {
		return nil, f.fail(err)
	}
	f.person = p
	if !p.DisabledAt.IsZero() {
		return nil, errors.New("the account is disabled")
	}
	f.passkeys, err = f.store.Passkeys(f.ctx, id)
	if err != nil {
		return nil, f.fail(err)
	}
	u, err := newUser(p, f.passkeys)
	if err != nil {
		return nil, f.fail(err)
	}
	return u, nil
}

func (f *finder) fail(err error) error {
	if isNotFound(err) {
		return errNobody
	}
	f.failed = err
	return err
}

// passkey is the ID of the passkey with a credential.
func (f *finder) passkey(c *webauthn.Credential) lintel.ID {
	i := slices.IndexFunc(f.passkeys, func(p lintel.Passkey) bool { return p.CredentialID == credentialID(c) })
	if i < 0 {
		return ""
	}
	return f.passkeys[i].ID
}
