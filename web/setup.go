package web

import (
	"net/http"
	"strings"

	"lintel"
	"lintel/account"
)

// setupData is what the page for the first account shows: everything as typed,
// but never a password.
type setupData struct {
	Ticket        string // from the link
	Email         string
	Given, Family string
	MinPassword   int
	Error         string
}

const setupPath = "/setup"

// setupPage asks for the first account, by a link that only who runs the
// service was given.
func (p *Pages) setupPage(v *visit) answer {
	return p.whileNeeded(v, func() answer {
		return setupForm(setupData{Ticket: v.URL.Query().Get("ticket")})
	})
}

// whileNeeded does what is possible only until there is an account.
func (p *Pages) whileNeeded(v *visit, do func() answer) answer {
	needed, err := p.accounts.NeedsSetup(v.Context())
	switch {
	case err != nil:
		return p.failed(v, err)
	case !needed:
		return goTo("/")
	}
	return do()
}

func setupForm(d setupData) answer {
	d.MinPassword = account.MinPassword
	return show("setup", d)
}

func (p *Pages) setUp(v *visit) answer {
	return p.whileNeeded(v, func() answer {
		d := setupData{
			Ticket: v.field("ticket"), Email: strings.TrimSpace(v.field("email")),
			Given: strings.TrimSpace(v.field("given")), Family: strings.TrimSpace(v.field("family")),
		}
		in, err := p.accounts.SetUp(v.Context(), p.browser(v), d.Ticket, d.Email, d.Given, d.Family, v.field("password"))
		switch code := lintel.CodeOf(err); code {
		case "":
			return p.enter(v, in, home+"?done=set-up")
		case lintel.CodeInternal:
			return p.failed(v, err)
		case lintel.CodeNotFound, lintel.CodeUnauthenticated:
			d.Error = sentence(err)
			return setupForm(d).as(http.StatusUnauthorized)
		default:
			d.Error = sentence(err)
			return setupForm(d).as(statusOf[code])
		}
	})
}
