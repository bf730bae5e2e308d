package web

import (
	"net/http"
	"time"

	"lintel"
	"lintel/oauth"
)

// deviceData is what the pages for connecting a device show.
type deviceData struct {
	Code   string // as typed, or as the device shows it
	Device oauth.DeviceRequest
	Scopes []scopeChoice
	Most   string // that the app stays connected
	Error  string
	Denied bool
}

// devicePage asks for the code. A code in the link is only written into the
// field: whoever made the link may be somebody else (RFC 8628 §3.3.1, §5.4).
func (p *Pages) devicePage(v *visit) answer {
	return show("device", deviceData{Code: oauth.NormalUserCode(v.URL.Query().Get("user_code"))})
}

// device takes the code, shows what it is for, and takes the answer to that.
func (p *Pages) device(v *visit) answer {
	typed := v.field("user_code")
	request, refused, ok := p.deviceOf(v, typed)
	if !ok {
		return refused
	}
	switch v.field("decision") {
	case "allow":
		return p.allowDevice(v, request)
	case "deny":
		if err := p.authorization.DenyDevice(v.Context(), request.UserCode); err != nil {
			return p.deviceFailed(v, err, request)
		}
		return show("device-done", deviceData{Device: request, Denied: true})
	}
	return confirm(request, request.Scopes, "")
}

// deviceOf finds a device's request by its code. Wrong codes are counted, so
// that nobody finds one by trying.
func (p *Pages) deviceOf(v *visit, typed string) (request oauth.DeviceRequest, refused answer, ok bool) {
	if wait := p.wrongCodes.take(v.person.ID, p.cfg.Now()); wait > 0 {
		return request, tooManyCodes(typed, wait), false
	}
	request, err := p.authorization.Device(v.Context(), typed)
	switch lintel.CodeOf(err) {
	case "":
		p.wrongCodes.giveBack(v.person.ID)
		return request, answer{}, true
	case lintel.CodeNotFound:
		return request, wrongCode(typed), false
	}
	p.wrongCodes.giveBack(v.person.ID)
	return request, p.failed(v, err), false
}

func wrongCode(typed string) answer {
	return show("device", deviceData{Code: short(typed),
		Error: "This code is not valid, or no longer. Look at the device for the present one."}).as(http.StatusBadRequest)
}

func tooManyCodes(typed string, wait time.Duration) answer {
	a := show("device", deviceData{Code: short(typed),
		Error: "Too many wrong codes. Try again in " + plural(max(1, int((wait+time.Second-1)/time.Second)), "second") + "."})
	a.headers = retryAfter(wait)
	return a.as(http.StatusTooManyRequests)
}

// short is what is shown again of a code as typed.
func short(typed string) string { return typed[:min(len(typed), 20)] }

// confirm shows what a code is for, and asks. The code is shown once more: it
// must be the one on the device.
func confirm(request oauth.DeviceRequest, ticked lintel.Scope, why string) answer {
	a := show("device-confirm", deviceData{
		Code: request.UserCode, Device: request, Scopes: choices(request.Scopes, ticked), Most: atMost(), Error: why,
	})
	a.policy.once = true
	return a
}

func (p *Pages) allowDevice(v *visit, request oauth.DeviceRequest) answer {
	scopes, err := ticked(v)
	if err == nil && scopes == 0 {
		return confirm(request, request.Scopes, "Nothing is ticked. Leave at least one, or choose “Deny”.").as(http.StatusBadRequest)
	}
	if err == nil {
		err = p.authorization.ApproveDevice(v.Context(), request.UserCode, v.person.ID, scopes)
	}
	if err != nil {
		return p.deviceFailed(v, err, request)
	}
	return show("device-done", deviceData{Device: request})
}

func (p *Pages) deviceFailed(v *visit, err error, request oauth.DeviceRequest) answer {
	switch lintel.CodeOf(err) {
	case lintel.CodeInvalid:
		return confirm(request, request.Scopes, sentence(err)).as(http.StatusBadRequest)
	case lintel.CodeNotFound:
		return wrongCode(request.UserCode) // decided meanwhile
	}
	return p.failed(v, err)
}
