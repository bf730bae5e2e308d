package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"lintel"
	"lintel/limit"
	"lintel/secret"
)

// SignedIn is what a sign-in gives to a browser. Both secrets are told once and
// go into cookies; only their hashes are stored.
type SignedIn struct {
	Session lintel.Session
	Person  lintel.Person
	Secret  string // for the session cookie, with the prefix secret.Session; always a new one
	Known   string // for the known-browser cookie, valid for a year; empty when the browser's own stays good
}

// knownFor is how long a browser that a person signed in with is known.
const knownFor = 365 * 24 * time.Hour

// These say the same whether there is such an account or not (OWASP
// Authentication Cheat Sheet, "Authentication and Error Messages").
var (
	errPassword = unauthenticated("the e-mail address or the password is wrong")
	errRecovery = unauthenticated("the e-mail address or the recovery code is wrong")

	errMeanwhile = unauthenticated("the account was changed just now; sign in again")
)

// SignIn signs a person in by e-mail address, without regard to letter case and
// surrounding space, and password. CodeUnauthenticated is the same for an unknown
// account, a wrong password, a disabled account and one without a password, and
// takes the same work. CodeTooMany says in RetryAfter when to try again.
func (s *Service) SignIn(ctx context.Context, b Browser, email, password string) (SignedIn, error) {
	a, err := s.attempt(ctx, b, email, lintel.ByPassword)
	if err != nil {
		return SignedIn{}, err
	}
	hash, ok, err := s.passwordIs(ctx, a, password)
	if err != nil {
		a.giveBack()
		return SignedIn{}, err
	}
	if !ok {
		a.refused("wrong password")
		return SignedIn{}, errPassword
	}
	a.giveBack()
	return s.open(ctx, b, a.person, lintel.ByPassword, hash)
}

// SignInWithRecoveryCode signs a person in with one of NewRecoveryCodes and
// spends it. The code is read without regard to letter case, dashes and spaces.
// Errors are as for SignIn, and attempts count together with those of SignIn.
func (s *Service) SignInWithRecoveryCode(ctx context.Context, b Browser, email, code string) (SignedIn, error) {
	a, err := s.attempt(ctx, b, email, lintel.ByRecovery)
	if err != nil {
		return SignedIn{}, err
	}
	err = s.store.UseRecoveryCode(ctx, a.subject, recoveryHash(code))
	if isNotFound(err) {
		a.refused("wrong recovery code")
		return SignedIn{}, errRecovery
	}
	a.giveBack()
	if err != nil {
		return SignedIn{}, err
	}
	return s.open(ctx, b, a.person, lintel.ByRecovery, "")
}

// attempt is one try to sign in to an account, which may not exist.
type attempt struct {
	s       *Service
	browser Browser
	method  lintel.SignInMethod
	person  lintel.Person // zero where there is no account
	subject lintel.ID     // the person's who may sign in, otherwise of nobody: the same work is done
	uses    []use
}

// attempt finds the account and takes from the limits. The limits go by what was
// typed in, so that they do not tell what exists.
func (s *Service) attempt(ctx context.Context, b Browser, email string, method lintel.SignInMethod) (*attempt, error) {
	email = normalEmail(email)
	p, err := s.personByEmail(ctx, email)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	a := &attempt{s: s, browser: b, method: method, person: p, subject: p.ID}
	if err != nil || !p.DisabledAt.IsZero() {
		a.subject = lintel.NewID()
	}
	known, err := s.knows(ctx, a.subject, b)
	if err != nil {
		return nil, err
	}
	a.uses = s.limits.password(nameOf(email), limit.Network(b.Address), known)
	if after := s.limits.take(s.now(), a.uses); after > 0 {
		s.log.DebugContext(ctx, "attempt refused before it was looked at", "method", method, "source", b.address(), "retry_after", after)
		return nil, tooMany(after)
	}
	return a, nil
}

func (a *attempt) giveBack() { a.s.limits.giveBack(a.uses) }

// refused logs a failure: never what was typed in, which may be a password in
// the wrong field.
func (a *attempt) refused(why string) {
	fields := []any{"method", a.method, "source", a.browser.address(), "reason", why}
	switch {
	case a.person.ID == "":
		fields = append(fields, "account", "unknown")
	case a.person.ID != a.subject:
		fields = append(fields, "account", a.person.ID, "disabled", true)
	default:
		fields = append(fields, "account", a.person.ID)
	}
	a.s.log.Info("sign-in refused", fields...)
}

// passwordIs checks a password, or does the same work where there is none. It
// returns the hash that the password matches.
func (s *Service) passwordIs(ctx context.Context, a *attempt, password string) (hash string, ok bool, err error) {
	hash, err = s.store.PasswordHash(ctx, a.subject)
	if err != nil && !isNotFound(err) {
		return "", false, err
	}
	against := hash
	if hash == "" {
		against = s.nobody
	}
	done, err := s.hashing.take(ctx)
	if err != nil {
		return "", false, err
	}
	defer done()
	return hash, s.check(against, password) && hash != "", nil
}

// normalEmail is an e-mail address as accounts are compared by.
func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// nameOf names an account in the limits, in little memory however long it is.
func nameOf(email string) string {
	sum := sha256.Sum256([]byte(email))
	return hex.EncodeToString(sum[:])
}

// personByEmail is the store's, which some addresses are not fit for.
func (s *Service) personByEmail(ctx context.Context, email string) (lintel.Person, error) {
	if checkEmail(email) != nil {
		email = "" // nobody's
	}
	return s.store.PersonByEmail(ctx, email)
}

// knows returns the hash of a browser's secret if the person has signed in with
// the browser before, and "" otherwise.
func (s *Service) knows(ctx context.Context, person lintel.ID, b Browser) (hash string, err error) {
	hash = b.knownHash()
	if hash == "" {
		return "", nil
	}
	known, err := s.store.KnownBrowser(ctx, person, hash, s.stamp())
	if err != nil || !known {
		return "", err
	}
	return hash, nil
}

// open begins a session of a person who has proved to be it; hash is the
// password's that proved it, if one did. The session's secret is always new, so
// that a cookie set before says nothing (OWASP Session Management Cheat Sheet,
// "Renew the Session ID After Any Privilege Level Change").
func (s *Service) open(ctx context.Context, b Browser, p lintel.Person, method lintel.SignInMethod, hash string) (SignedIn, error) {
	now := s.stamp()
	in := SignedIn{Person: p, Secret: secret.New(secret.Session), Session: lintel.Session{
		ID: lintel.NewID(), PersonID: p.ID, Method: method, UserAgent: b.userAgent(), Address: b.address(),
		CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(sessionFor),
	}}
	if err := s.store.AddSession(ctx, in.Session, secret.Hash(in.Secret)); isNotFound(err) {
		return SignedIn{}, errMeanwhile
	} else if err != nil {
		return SignedIn{}, err
	}
	known, err := s.confirm(ctx, b, p, hash)
	if err == nil && known == "" {
		in.Known = secret.New(secret.KnownBrowser)
		err = s.store.AddKnownBrowser(ctx, p.ID, secret.Hash(in.Known), now.Add(knownFor))
	}
	if err != nil {
		s.withdraw(ctx, in)
		return SignedIn{}, err
	}
	s.log.InfoContext(ctx, "signed in", "account", p.ID, "method", method, "source", b.address(), "session", in.Session.ID)
	return in, nil
}

// confirm looks once more at what a new session rests on. Disabling an account
// and changing its password end the sessions that there are, and this one may
// have come just after. It returns what knows returns.
func (s *Service) confirm(ctx context.Context, b Browser, p lintel.Person, hash string) (known string, err error) {
	now, err := s.store.Person(ctx, p.ID)
	if isNotFound(err) || err == nil && !now.DisabledAt.IsZero() {
		return "", errMeanwhile
	}
	if err != nil {
		return "", err
	}
	if hash != "" {
		if current, err := s.store.PasswordHash(ctx, p.ID); err != nil || current != hash {
			return "", cmp.Or(err, errMeanwhile)
		}
	}
	return s.knows(ctx, p.ID, b)
}

// withdraw ends a session whose secret nobody was told, also when the caller
// has gone.
func (s *Service) withdraw(ctx context.Context, in SignedIn) {
	ctx = context.WithoutCancel(ctx)
	if err := s.store.SignOut(ctx, in.Person.ID, in.Session.ID); err != nil && !isNotFound(err) {
		s.log.WarnContext(ctx, "a session that nobody has could not be ended", "session", in.Session.ID, "error", err)
	}
}
