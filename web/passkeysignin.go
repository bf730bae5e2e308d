package web

import (
	"encoding/json"
	"net/http"

	"lintel"
	"lintel/account"
)

// ceremony is what the script begins with a passkey.
type ceremony struct {
	Ticket  string          `json:"ticket"`
	Options json.RawMessage `json:"options"`
}

func (p *Pages) beginPasskeySignIn(v *visit) answer {
	ticket, options, err := p.accounts.BeginPasskeySignIn(v.Context(), p.browser(v), v.holder())
	if err != nil {
		return p.scriptFailed(v, err)
	}
	return answer{status: http.StatusOK, json: ceremony{ticket, options}}
}

func (p *Pages) finishPasskeySignIn(v *visit) answer {
	in, err := p.accounts.FinishPasskeySignIn(v.Context(), p.browser(v), v.holder(), v.field("ticket"), []byte(v.field("response")))
	if err != nil {
		return p.scriptFailed(v, err)
	}
	a := p.enter(v, in, "")
	return answer{status: http.StatusOK, json: gone{Location: target(v.field("return"))}, cookies: a.cookies}
}

// scriptFailed answers an error to the script.
func (p *Pages) scriptFailed(v *visit, err error) answer {
	code := lintel.CodeOf(err)
	if code == lintel.CodeInternal {
		return p.failed(v, err)
	}
	a := refuse(statusOf[code], sentence(err))
	if code == lintel.CodeTooMany {
		a.headers = retryAfter(account.RetryAfter(err))
	}
	return a
}
