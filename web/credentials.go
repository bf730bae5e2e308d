package web

import (
	"net/http"
	"strings"

	"lintel"
	"lintel/account"
)

// passwordData is what the page for a new password shows.
type passwordData struct {
	Email       string // so that password managers know whose it is
	NeedCurrent bool
	MinPassword int
	Error       string
}

func (p *Pages) passwordPage(v *visit) answer {
	return show("password", passwordData{
		Email: v.person.Email, MinPassword: account.MinPassword,
		NeedCurrent: v.session.Method != lintel.ByRecovery || !p.accounts.Fresh(v.session),
	})
}

func (p *Pages) changePassword(v *visit) answer {
	renewed, err := p.accounts.ChangePassword(v.Context(), p.browser(v), v.session, v.field("current"), v.field("next"))
	code := lintel.CodeOf(err)
	switch code {
	case "":
		in := account.SignedIn{Session: v.session, Person: v.person, Secret: renewed}
		return goTo(home+"?done=password", p.cookies.signedIn(in, p.cfg.Now())...)
	case lintel.CodeInternal:
		return p.failed(v, err)
	}
	a := p.passwordPage(v).as(statusOf[code])
	d := a.data.(passwordData)
	d.Error = sentence(err)
	a.data = d
	if code == lintel.CodeTooMany {
		a.headers = retryAfter(account.RetryAfter(err))
	}
	return a
}

// passkeysData is what the page about passkeys shows.
type passkeysData struct {
	Possible bool
	Name     string // proposed for a new one
	Passkeys []passkeyRow
}

type passkeyRow struct {
	ID    lintel.ID
	Name  string
	Since moment
	Used  moment
}

func (p *Pages) passkeys(v *visit) answer {
	passkeys, err := p.accounts.Passkeys(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	d := passkeysData{Possible: p.accounts.PasskeysPossible(), Name: browserWords(v.UserAgent())}
	now := p.cfg.Now()
	for _, k := range passkeys {
		d.Passkeys = append(d.Passkeys, passkeyRow{ID: k.ID, Name: k.Name, Since: momentOf(k.CreatedAt, now), Used: momentOf(k.LastUsedAt, now)})
	}
	a := show("passkeys", d)
	a.policy.script = d.Possible
	return a
}

func (p *Pages) beginAddPasskey(v *visit) answer {
	// Before the authenticator makes a key that could not be kept.
	if err := lintel.CheckName("passkey's name", strings.TrimSpace(v.field("name"))); err != nil {
		return p.scriptFailed(v, err)
	}
	ticket, options, err := p.accounts.BeginAddPasskey(v.Context(), v.session, v.person)
	if err != nil {
		return p.scriptFailed(v, err)
	}
	return answer{status: http.StatusOK, json: ceremony{ticket, options}}
}

func (p *Pages) finishAddPasskey(v *visit) answer {
	err := p.accounts.FinishAddPasskey(v.Context(), v.session, v.person, v.field("ticket"), v.field("name"), []byte(v.field("response")))
	if err != nil {
		return p.scriptFailed(v, err)
	}
	return answer{status: http.StatusOK, json: gone{Location: "/account/passkeys?done=passkey-added"}}
}

func (p *Pages) removePasskey(v *visit) answer {
	id, err := lintel.ParseID(v.PathValue("id"))
	if err != nil {
		return missing()
	}
	if err := p.accounts.RemovePasskey(v.Context(), v.person.ID, id); err != nil {
		return p.failed(v, err)
	}
	return goTo("/account/passkeys?done=passkey-removed")
}

// recoveryData is what the page about recovery codes shows.
type recoveryData struct {
	Left  int
	Codes []string // only right after they were made
}

func (p *Pages) recoveryCodesPage(v *visit) answer {
	left, err := p.accounts.RecoveryCodesLeft(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	return show("recovery-codes", recoveryData{Left: left})
}

// newRecoveryCodes shows new codes in the answer itself, not after a redirect:
// they are kept nowhere to be shown from later.
func (p *Pages) newRecoveryCodes(v *visit) answer {
	codes, err := p.accounts.NewRecoveryCodes(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	return show("recovery-codes", recoveryData{Left: len(codes), Codes: codes})
}
