package web

import (
	"strings"

	"lintel"
	"lintel/account"
)

// signInData is what the pages for signing in show.
type signInData struct {
	Return  string // where to go afterwards
	Reason  string // why, where that is not plain
	Email   string // as typed
	Error   string
	Passkey bool // signing in with a passkey is possible
}

// signInPage asks to sign in, unless there is no need.
func (p *Pages) signInPage(v *visit) answer {
	return p.unlessNeedless(v, p.signInForm)
}

func (p *Pages) recoveryPage(v *visit) answer {
	return p.unlessNeedless(v, p.recoveryForm)
}

func (p *Pages) unlessNeedless(v *visit, form func(*visit, signInData) answer) answer {
	asked := target(v.URL.Query().Get("return"))
	if v.signedIn && (p.accounts.Fresh(v.session) || !p.needsFresh(asked)) {
		return goTo(asked)
	}
	return form(v, signInData{Return: asked})
}

// needsFresh reports whether a page is only for who signed in just now.
func (p *Pages) needsFresh(page string) bool {
	path, _, _ := strings.Cut(page, "?")
	for _, r := range p.routes() {
		if r.path == path {
			return r.access == fresh
		}
	}
	return false
}

func (p *Pages) signInForm(v *visit, d signInData) answer {
	d.Passkey = p.accounts.PasskeysPossible()
	a := p.withReason(v, "sign-in", d)
	a.policy.script = d.Passkey
	return a
}

func (p *Pages) recoveryForm(v *visit, d signInData) answer {
	return p.withReason(v, "recovery", d)
}

// withReason shows a page for signing in that says why it is needed.
func (p *Pages) withReason(v *visit, page string, d signInData) answer {
	switch path, _, _ := strings.Cut(d.Return, "?"); {
	case v.signedIn:
		d.Reason = "This page can change how your account is reached. To be sure that it is you, please sign in again."
		d.Email = firstOf(d.Email, v.person.Email)
	case strings.HasPrefix(path, authorizationPath):
		d.Reason = "An app asks for access to your doors. Sign in to decide."
	case path == devicePath:
		d.Reason = "Sign in to connect a device."
	}
	return show(page, d)
}

func (p *Pages) signIn(v *visit) answer {
	email := strings.TrimSpace(v.field("email"))
	in, err := p.accounts.SignIn(v.Context(), p.browser(v), email, v.field("password"))
	if err != nil {
		d := signInData{Return: target(v.field("return")), Email: address(email)}
		return p.signInFailed(v, err, d, "The e-mail address or the password is not right.", p.signInForm)
	}
	return p.enter(v, in, target(v.field("return")))
}

func (p *Pages) signInWithRecoveryCode(v *visit) answer {
	email := strings.TrimSpace(v.field("email"))
	in, err := p.accounts.SignInWithRecoveryCode(v.Context(), p.browser(v), email, v.field("code"))
	if err != nil {
		d := signInData{Return: target(v.field("return")), Email: address(email)}
		return p.signInFailed(v, err, d, "The e-mail address or the recovery code is not right.", p.recoveryForm)
	}
	next := target(v.field("return"))
	if next == home {
		next = passwordPath // who needs a recovery code mostly needs a password, too
	}
	return p.enter(v, in, next)
}

// address is what was typed for an e-mail address, if it can be one: people type
// passwords there, too, and those are not shown again.
func address(typed string) string {
	if !strings.Contains(typed, "@") {
		return ""
	}
	return typed
}

// signInFailed shows the form again. wrong is all it says of what was typed.
func (p *Pages) signInFailed(v *visit, err error, d signInData, wrong string, form func(*visit, signInData) answer) answer {
	code := lintel.CodeOf(err)
	switch code {
	case lintel.CodeInternal:
		return p.failed(v, err)
	case lintel.CodeUnauthenticated:
		d.Error = wrong
	default:
		d.Error = sentence(err)
	}
	a := form(v, d).as(statusOf[code])
	if code == lintel.CodeTooMany {
		a.headers = retryAfter(account.RetryAfter(err))
	}
	return a
}

// enter gives the browser its new session and ends the one it had.
func (p *Pages) enter(v *visit, in account.SignedIn, next string) answer {
	p.leave(v)
	return goTo(next, p.cookies.signedIn(in, p.cfg.Now())...)
}

// leave ends the session of a browser that gets another or none. It does not
// stop a sign-in: the browser forgets its secret either way.
func (p *Pages) leave(v *visit) {
	if !v.signedIn {
		return
	}
	err := p.accounts.EndSession(v.Context(), v.person.ID, v.session.ID)
	if code := lintel.CodeOf(err); code != "" && code != lintel.CodeNotFound {
		p.report(v.Request, err)
	}
}

// signOut ends the session. The browser stays known, which helps only who knows
// the password. An app's request for consent may go on with another account.
func (p *Pages) signOut(v *visit) answer {
	next := "/sign-in"
	if asked := v.field("return"); isTarget(asked) {
		next = asked
	}
	if !v.signedIn {
		return goTo(next)
	}
	err := p.accounts.EndSession(v.Context(), v.person.ID, v.session.ID)
	if code := lintel.CodeOf(err); code != "" && code != lintel.CodeNotFound {
		return p.failed(v, err) // a session that did not end must not look ended
	}
	return goTo(next, p.cookies.clear(sessionCookie))
}
