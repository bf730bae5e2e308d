package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"lintel"
	"lintel/oauth"
	"lintel/secret"
)

// A question to a person is a ticket: it is answered once, in the session that
// it was put to, and its answer is about what was shown.
const (
	consentKind = "consent"
	consentFor  = 10 * time.Minute
)

// consentData is what the page that asks for consent shows.
type consentData struct {
	Action string // where the answer is sent
	Ticket string
	Client lintel.Client
	SentTo string
	Scopes []scopeChoice
	Most   string // that the app stays connected
	Error  string
}

// scopeChoice is a scope that a person may leave out.
type scopeChoice struct {
	scopeWord
	Ticked bool
}

// choices are the scopes that were asked for, with some of them ticked.
func choices(asked, ticked lintel.Scope) []scopeChoice {
	var list []scopeChoice
	names := strings.Fields(ticked.String())
	for _, word := range inWords(asked) {
		choice := scopeChoice{scopeWord: word}
		for _, name := range names {
			choice.Ticked = choice.Ticked || name == word.Name
		}
		list = append(list, choice)
	}
	return list
}

// consentPage asks whether an app may act for the person. It always asks: there
// is no consent by having consented before. A request that is wrong is refused
// before anybody signs in for it: clients are registered by whoever runs the
// service, so that no stranger can have browsers sent on from here.
func (p *Pages) consentPage(v *visit) answer {
	request, client, refusal := p.authorization.Authorize(v.Context(), v.URL.RawQuery)
	switch {
	case refusal != nil && refusal.RedirectTo != "":
		return goTo(refusal.RedirectTo)
	case refusal != nil:
		return wrongRequest(refusal.Err)
	case !v.signedIn:
		return p.signInForm(v, signInData{Return: v.address()})
	}
	return p.ask(v, request, client, consentData{Scopes: choices(request.Scopes, request.Scopes)})
}

// wrongRequest tells the person what is wrong with an app's request, and sends
// nobody anywhere: it may be a stranger's (RFC 6749 §4.1.2.1).
func wrongRequest(err *oauth.Error) answer {
	if err.Code == oauth.ServerError {
		return broken()
	}
	return trouble(http.StatusBadRequest, problem{Heading: "This app’s request is not right",
		Text: "The app that sent you here made a mistake: " + strings.TrimSuffix(err.Description, ".") +
			". You have not been connected. Please tell whoever made the app."})
}

// ask shows a request for consent under a new ticket.
func (p *Pages) ask(v *visit, request oauth.AuthorizationRequest, client lintel.Client, d consentData) answer {
	ticket, err := p.question(v, request)
	if err != nil {
		return p.failed(v, err)
	}
	d.Action, d.Ticket, d.Client = v.address(), ticket, client
	d.SentTo, d.Most = sentTo(request.RedirectURI), atMost()
	a := show("consent", d)
	a.policy.leads, a.policy.once = request.RedirectURI, true
	return a
}

func (p *Pages) question(v *visit, request oauth.AuthorizationRequest) (ticket string, err error) {
	content, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	ticket = secret.New(secret.Ticket)
	return ticket, p.store.AddTicket(v.Context(), lintel.Ticket{
		Hash: secret.Hash(ticket), Kind: consentKind, Holder: string(v.session.ID), Content: string(content),
		ExpiresAt: p.cfg.Now().Add(consentFor),
	})
}

// asked uses a question up and returns what it was about.
func (p *Pages) asked(v *visit) (oauth.AuthorizationRequest, error) {
	var request oauth.AuthorizationRequest
	content, err := p.store.UseTicket(v.Context(), secret.Hash(v.field("ticket")), consentKind, string(v.session.ID), p.cfg.Now())
	if err != nil {
		return request, err
	}
	return request, json.Unmarshal([]byte(content), &request)
}

// over is said of a question that was answered already, or waited too long.
func over() answer {
	return trouble(http.StatusBadRequest, problem{Heading: "This question is no longer open",
		Text: "It was answered already, or more than ten minutes ago. To connect the app, start again from the app."})
}

// consent takes the person's answer.
func (p *Pages) consent(v *visit) answer {
	request, err := p.asked(v)
	switch lintel.CodeOf(err) {
	case "":
	case lintel.CodeNotFound:
		return over()
	default:
		return p.failed(v, err)
	}
	switch v.field("decision") {
	case "deny":
		return goTo(p.authorization.Deny(request))
	case "allow":
		return p.allow(v, request)
	}
	return p.askAgain(v, request, "Choose whether to allow this or not.")
}

func (p *Pages) allow(v *visit, request oauth.AuthorizationRequest) answer {
	scopes, err := ticked(v)
	if err == nil && scopes == 0 {
		return p.askAgain(v, request, "Nothing is ticked. Leave at least one, or choose “Deny”.")
	}
	var location string
	if err == nil {
		location, err = p.authorization.Approve(v.Context(), request, v.person.ID, scopes)
	}
	switch lintel.CodeOf(err) {
	case "":
		return goTo(location)
	case lintel.CodeInvalid:
		return p.askAgain(v, request, sentence(err))
	case lintel.CodeNotFound:
		return over()
	}
	return p.failed(v, err)
}

// askAgain puts the same question once more, if it is still what the address is
// about and the app may still ask it.
func (p *Pages) askAgain(v *visit, request oauth.AuthorizationRequest, why string) answer {
	now, client, refusal := p.authorization.Authorize(v.Context(), v.URL.RawQuery)
	if refusal != nil || now != request {
		return over()
	}
	d := consentData{Scopes: choices(request.Scopes, request.Scopes), Error: why}
	return p.ask(v, request, client, d).as(http.StatusBadRequest)
}

// ticked are the scopes that a person left ticked; none is 0.
func ticked(v *visit) (lintel.Scope, error) {
	sent := v.PostForm["scope"]
	if len(sent) == 0 {
		return 0, nil
	}
	return lintel.ParseScope(strings.Join(sent, " "))
}
