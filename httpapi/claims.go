package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"lintel"
	"lintel/api"
	"lintel/enrol"
)

// Claims redeems claim codes. enrol.Service implements it.
type Claims interface {
	// Claim is CodeNotFound for a code that is not good, CodeTooMany after too many.
	Claim(ctx context.Context, typed string, from netip.Addr) (enrol.Claimed, error)
}

// claims answers hardware that redeems a code. The code is all that it shows.
func (v *v1) claims(r *http.Request) answer {
	if r.Method != http.MethodPost {
		a := problem(http.StatusMethodNotAllowed, lintel.CodeInvalid, "claim with POST")
		a.headers["Allow"] = http.MethodPost
		return a
	}
	code, status := readClaim(r)
	if status != 0 {
		return problem(status, lintel.CodeInvalid, `the body must be JSON like {"code":"BCDF-GHJK-LMNP"}, announced as application/json`)
	}
	claimed, err := v.cfg.Claims.Claim(r.Context(), code, v.cfg.Source(r))
	if err != nil {
		return v.refuseClaim(r, err)
	}
	body := api.V2Claimed{
		ControllerID: string(claimed.ID), Name: claimed.Name, Secret: claimed.Secret, MQTT: v.cfg.MQTT, Doors: []api.V2ClaimedDoor{},
	}
	for _, d := range claimed.Doors {
		body.Doors = append(body.Doors, api.V2ClaimedDoor{DoorID: string(d.ID), Number: d.Number, Name: d.Name})
	}
	return answer{status: http.StatusCreated, body: body}
}

// readClaim reads the code strictly; status is 0, or says what is wrong.
func readClaim(r *http.Request) (code string, status int) {
	body, status := readJSON(r)
	if status != 0 {
		return "", status
	}
	var fields struct {
		Code *string `json:"code"`
	}
	if json.Unmarshal(body, &fields) != nil || fields.Code == nil {
		return "", http.StatusBadRequest
	}
	return *fields.Code, 0
}

func (v *v1) refuseClaim(r *http.Request, err error) answer {
	code := lintel.CodeOf(err)
	if code == lintel.CodeInternal && r.Context().Err() == nil {
		v.cfg.Log.Error("request failed", "path", r.URL.Path, "error", err)
	}
	a := problem(statusOf[code], code, lintel.MessageOf(err))
	if code == lintel.CodeTooMany {
		seconds := (enrol.RetryAfter(err) + time.Second - 1) / time.Second
		a.headers["Retry-After"] = strconv.Itoa(max(1, int(seconds)))
	}
	return a
}

// problem answers an error of dialect v2 (RFC 9457).
func problem(status int, code lintel.Code, detail string) answer {
	return answer{status: status, headers: map[string]string{"Content-Type": api.ProblemType}, body: api.V2Problem{
		Title: http.StatusText(status), Status: status, Code: string(code), Detail: strings.ToUpper(detail[:1]) + detail[1:] + ".",
	}}
}
