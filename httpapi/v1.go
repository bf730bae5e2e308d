package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"lintel"
	"lintel/access"
	"lintel/api"
	"lintel/control"
)

// v1 is the deployed services' dialect.
type v1 struct {
	cfg   Config
	doors Doors
	store Store
}

// answer is what a handler returns; write turns it into a response.
type answer struct {
	status  int
	message string            // for the envelope; unused where body is set
	body    any               // instead of the envelope
	headers map[string]string // extra facts
}

// statusOf maps the codes of this service to statuses, for the whole dialect.
var statusOf = map[lintel.Code]int{
	lintel.CodeInvalid:         http.StatusBadRequest,
	lintel.CodeUnauthenticated: http.StatusUnauthorized,
	lintel.CodeForbidden:       http.StatusForbidden,
	lintel.CodeNotFound:        http.StatusNotFound,
	lintel.CodeConflict:        http.StatusConflict,
	lintel.CodeTooMany:         http.StatusTooManyRequests,
	lintel.CodeInternal:        http.StatusInternalServerError,
}

// message returns the text for a status, in the shapes of the interface's section 7.
func message(status int, hardware string) string {
	problem := func(what string) string {
		return fmt.Sprintf("Error communicating with %s, %s (%d)", hardware, what, status)
	}
	switch status {
	case http.StatusOK:
		return strconv.Itoa(status)
	case http.StatusBadRequest:
		return problem("malformed request")
	case http.StatusUnauthorized:
		return problem("authentication error")
	case http.StatusForbidden:
		return problem("permission error")
	case http.StatusNotFound:
		return fmt.Sprintf("Sorry, %s cannot be found. Please unplug it and plug it back in.", hardware)
	case http.StatusPreconditionRequired:
		return fmt.Sprintf("%s requires pairing a door sensor before the request can be processed (%d)", hardware, status)
	case http.StatusNotImplemented:
		return problem("not implemented error")
	}
	return problem(strings.ToLower(http.StatusText(status)))
}

// route wraps a handler: methods, panics, and the one place that writes.
func (v *v1) route(handle func(*http.Request) answer, methods ...string) http.Handler {
	allow := strings.Join(append(methods, http.MethodOptions), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.write(w, r, v.dispatch(r, handle, methods, allow))
	})
}

func (v *v1) dispatch(r *http.Request, handle func(*http.Request) answer, methods []string, allow string) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			v.cfg.Log.Error("panic", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			a = v.fail(http.StatusInternalServerError)
		}
	}()
	switch {
	case len(methods) == 0 || slices.Contains(methods, r.Method):
		return handle(r)
	case r.Method == http.MethodOptions:
		return answer{status: http.StatusNoContent, headers: map[string]string{"Allow": allow}}
	}
	a = v.fail(http.StatusMethodNotAllowed)
	a.headers = map[string]string{"Allow": allow}
	return a
}

func (v *v1) write(w http.ResponseWriter, r *http.Request, a answer) {
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	if a.status == http.StatusNoContent {
		w.WriteHeader(a.status)
		return
	}
	if a.body == nil {
		a.body = api.V1Answer{Success: true, Timestamp: v.cfg.Now().UnixMilli(), Message: a.message}
	}
	body, err := json.Marshal(a.body)
	if err != nil {
		panic("httpapi: " + err.Error()) // the wire types always encode
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", jsonType)
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(body, '\n')) // the client may be gone
	}
}

// fail answers a status without a controller: the configured name stands for it.
func (v *v1) fail(status int) answer {
	return answer{status: status, message: message(status, v.cfg.HardwareName)}
}

// failed answers an error. Nothing internal of it leaves this function.
func (v *v1) failed(r *http.Request, err error) answer {
	code := lintel.CodeOf(err)
	if code == lintel.CodeInternal && r.Context().Err() == nil {
		v.cfg.Log.Error("request failed", "path", r.URL.Path, "error", err)
	}
	a := v.fail(statusOf[code])
	if code == lintel.CodeTooMany {
		a.headers = map[string]string{"Retry-After": "1"}
	}
	return a
}

func (v *v1) unknown(*http.Request) answer { return v.fail(http.StatusNotFound) }

// toggle asks for a door to open or close.
func (v *v1) toggle(r *http.Request) answer {
	token, challenge := bearer(r)
	if challenge != "" {
		return v.challenge(http.StatusUnauthorized, challenge)
	}
	request, status := readToggle(r)
	if status != 0 {
		return v.refuseBody(r, token, status)
	}
	request.TokenHash = token
	receipt, err := v.doors.Move(r.Context(), request)
	switch lintel.CodeOf(err) {
	case "":
	case lintel.CodeUnauthenticated:
		return v.challenge(http.StatusUnauthorized, invalidToken)
	case lintel.CodeForbidden:
		return v.challenge(http.StatusForbidden, insufficientScope(access.ScopeFor(request.Action)))
	default:
		return v.failedMove(r, err, receipt)
	}
	v.cfg.Log.Info("door command", "command", receipt.CommandID, "door", request.Door, "action", request.Action,
		"status", receipt.Outcome.Status, "code", receipt.Outcome.Code, "reason", receipt.Outcome.Reason)
	return moved(receipt)
}

// failedMove answers an error with what is known of the controller and the command.
func (v *v1) failedMove(r *http.Request, err error, receipt control.Receipt) answer {
	a := v.failed(r, err)
	if receipt.HardwareName != "" {
		a.message = message(a.status, receipt.HardwareName)
	}
	if receipt.CommandID != "" {
		a.headers = map[string]string{api.HeaderCommandID: string(receipt.CommandID)}
	}
	return a
}

// refuseBody answers a request whose body is wrong. Who may not ask at all is
// told that first.
func (v *v1) refuseBody(r *http.Request, token string, status int) answer {
	subject, err := v.store.Subject(r.Context(), token)
	if err != nil {
		return v.failed(r, err)
	}
	if access.Token(subject, v.cfg.Now()) != nil {
		return v.challenge(http.StatusUnauthorized, invalidToken)
	}
	return v.fail(status)
}

// moved answers a toggle whose outcome is on disk.
func moved(receipt control.Receipt) answer {
	status := http.StatusNotFound // not connected, or silent until the deadline
	if receipt.Outcome.Code != 0 {
		status = receipt.Outcome.Code
	}
	a := answer{
		status: status, message: message(status, receipt.HardwareName),
		headers: map[string]string{api.HeaderCommandID: string(receipt.CommandID)},
	}
	if receipt.Outcome.Reason != "" {
		a.headers[api.HeaderReason] = receipt.Outcome.Reason
	}
	if status == http.StatusUnauthorized {
		a.headers["WWW-Authenticate"] = challengeRealm // the token is fine: no error code
	}
	return a
}

// challenge answers 401 or 403 with WWW-Authenticate (RFC 6750 §3).
func (v *v1) challenge(status int, challenge string) answer {
	a := v.fail(status)
	a.headers = map[string]string{"WWW-Authenticate": challenge}
	return a
}

// reader finds the bearer of a token that may read, or the answer for any other.
func (v *v1) reader(r *http.Request) (*access.Subject, *answer) {
	refuse := func(a answer) (*access.Subject, *answer) { return nil, &a }
	token, challenge := bearer(r)
	if challenge != "" {
		return refuse(v.challenge(http.StatusUnauthorized, challenge))
	}
	subject, err := v.store.Subject(r.Context(), token)
	if err != nil {
		return refuse(v.failed(r, err))
	}
	switch lintel.CodeOf(access.List(subject, v.cfg.Now())) {
	case "":
		return subject, nil
	case lintel.CodeForbidden:
		return refuse(v.challenge(http.StatusForbidden, insufficientScope(lintel.ScopeRead)))
	}
	return refuse(v.challenge(http.StatusUnauthorized, invalidToken))
}

// sync lists the bearer's controllers and doors.
func (v *v1) sync(r *http.Request) answer {
	subject, refusal := v.reader(r)
	if refusal != nil {
		return *refusal
	}
	devices, err := v.store.Devices(r.Context(), subject.PersonID)
	if err != nil {
		return v.failed(r, err)
	}
	list := api.V1SyncAnswer{Devices: []api.V1Device{}}
	for _, d := range devices {
		list.Devices = append(list.Devices, v.device(d))
	}
	return answer{status: http.StatusOK, body: list}
}
