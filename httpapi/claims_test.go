package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"lintel"
	"lintel/api"
	"lintel/enrol"
	"lintel/store"
)

// fakeClaims knows one code.
type fakeClaims struct{ from []netip.Addr }

func (c *fakeClaims) Claim(_ context.Context, typed string, from netip.Addr) (enrol.Claimed, error) {
	c.from = append(c.from, from)
	switch typed {
	case "good":
		return enrol.Claimed{Secret: "the secret", Device: store.Device{
			Controller: lintel.Controller{ID: "c", Name: "Garage"}, Doors: []lintel.Door{{ID: doorID, Number: 3, Name: "Left"}},
		}}, nil
	case "often":
		return enrol.Claimed{}, &lintel.Error{Code: lintel.CodeTooMany, Message: "too many codes were tried"}
	case "broken":
		return enrol.Claimed{}, errors.New("sql: no such table")
	}
	return enrol.Claimed{}, &lintel.Error{Code: lintel.CodeNotFound, Message: "this code is not valid"}
}

func TestClaims(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct {
		method, body string
		status       int
		code         lintel.Code
	}{
		{"POST", `{"code":"bad"}`, 404, lintel.CodeNotFound},
		{"POST", `{"code":"often"}`, 429, lintel.CodeTooMany},
		{"POST", `{"code":"broken"}`, 500, lintel.CodeInternal},
		{"POST", `{"code":7}`, 400, lintel.CodeInvalid},
		{"POST", `{}`, 400, lintel.CodeInvalid},
		{"POST", `{"code":"good","code":"good"}`, 400, lintel.CodeInvalid},
		{"POST", ``, 415, lintel.CodeInvalid},
		{"POST", strings.Repeat(" ", maxBody+1), 413, lintel.CodeInvalid},
		{"GET", ``, 405, lintel.CodeInvalid},
	} {
		r := w.send(t, w.request(t, row.method, api.V2Claims, row.body))
		var p api.V2Problem
		if err := json.Unmarshal([]byte(r.body), &p); err != nil {
			t.Fatalf("%q: %v", r.body, err)
		}
		if r.status != row.status || p.Status != row.status || p.Code != string(row.code) || r.header.Get("Content-Type") != api.ProblemType ||
			p.Detail == "" || strings.Contains(r.body, "sql") || (row.status == 429) != (r.header.Get("Retry-After") != "") {
			t.Errorf("%s %.20q: %d %s %q", row.method, row.body, r.status, r.body, r.header)
		}
	}
	r := w.send(t, w.request(t, "POST", api.V2Claims, `{"code":"good"}`))
	const want = `{"controller_id":"c","name":"Garage","secret":"the secret","mqtt":{"port":8883,"tls":true},` +
		`"doors":[{"door_id":"0f8fad5b-d9cb-469f-a165-70867728950e","number":3,"name":"Left"}]}` + "\n"
	if r.status != http.StatusCreated || r.body != want || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s %q", r.status, r.body, r.header)
	}
	if strings.Contains(w.log.String(), "the secret") {
		t.Error("the secret is in the log")
	}
}
