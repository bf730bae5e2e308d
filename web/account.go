package web

import (
	"time"

	"lintel"
)

const passwordPath = "/account/password"

// done are the things that a page can say were done, by the name in its URL.
var done = map[string]string{
	"set-up":          "Your account is ready. Make recovery codes now, so that a forgotten password does not lock you out.",
	"password":        "Your password is changed. All other browsers were signed out, and all apps disconnected.",
	"disconnected":    "The app is disconnected. It can no longer reach your doors.",
	"token-ended":     "The token has ended. It can no longer reach your doors.",
	"session-ended":   "That browser is signed out.",
	"sessions-ended":  "All other browsers are signed out.",
	"passkey-added":   "Your passkey is added. You can sign in with it from now on.",
	"passkey-removed": "The passkey is removed. Nobody can sign in with it any more.",
}

// overviewData is what the account's first page shows.
type overviewData struct {
	Person      lintel.Person
	Controllers int
	Apps        int
	Browsers    int
	Passkeys    int
	Possible    bool // passkeys are
	Codes       int
}

func (p *Pages) overview(v *visit) answer {
	d := overviewData{Person: v.person, Possible: p.accounts.PasskeysPossible()}
	devices, err := p.store.Devices(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	apps, err := p.connected(v)
	if err != nil {
		return p.failed(v, err)
	}
	sessions, err := p.accounts.Sessions(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	passkeys, err := p.accounts.Passkeys(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	if d.Codes, err = p.accounts.RecoveryCodesLeft(v.Context(), v.person.ID); err != nil {
		return p.failed(v, err)
	}
	d.Controllers, d.Apps, d.Browsers, d.Passkeys = len(devices), len(apps), len(sessions), len(passkeys)
	return show("overview", d)
}

// moment is a time as pages show it.
type moment struct {
	Words string
	Full  string // for people who want to know exactly
	ISO   string // for programs
}

func momentOf(t, now time.Time) moment {
	if t.IsZero() {
		return moment{Words: "never"}
	}
	return moment{Words: ago(t, now), Full: t.UTC().Format("2 January 2006, 15:04 UTC"), ISO: t.UTC().Format(time.RFC3339)}
}

// sessionRow is a session in the list.
type sessionRow struct {
	ID      lintel.ID
	Browser string
	Address string
	Since   moment
	Seen    moment
	This    bool
}

func (p *Pages) sessions(v *visit) answer {
	sessions, err := p.accounts.Sessions(v.Context(), v.person.ID)
	if err != nil {
		return p.failed(v, err)
	}
	var rows []sessionRow
	now := p.cfg.Now()
	for _, s := range sessions {
		rows = append(rows, sessionRow{
			ID: s.ID, Browser: browserWords(s.UserAgent), Address: s.Address,
			Since: momentOf(s.CreatedAt, now), Seen: momentOf(s.LastSeenAt, now), This: s.ID == v.session.ID,
		})
	}
	return show("sessions", rows)
}

func (p *Pages) endSession(v *visit) answer {
	id, err := lintel.ParseID(v.PathValue("id"))
	if err != nil {
		return missing()
	}
	if id == v.session.ID {
		return p.signOut(v)
	}
	if err := p.accounts.EndSession(v.Context(), v.person.ID, id); err != nil {
		return p.failed(v, err)
	}
	return goTo("/account/sessions?done=session-ended")
}

func (p *Pages) endOtherSessions(v *visit) answer {
	if _, err := p.accounts.EndOtherSessions(v.Context(), v.session); err != nil {
		return p.failed(v, err)
	}
	return goTo("/account/sessions?done=sessions-ended")
}
