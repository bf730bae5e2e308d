package oauth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lintel"
	"lintel/secret"
)

func basicOf(id, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+password))
}

// TestClientAuthentication shows each endpoint a client in every way (RFC 6749
// §2.3). Whoever is let in asks for something that is not there.
func TestClientAuthentication(t *testing.T) {
	w := newWorld(t)
	good := map[string]func(t *testing.T, what string, kind lintel.ClientKind, answer reply){
		PathToken: func(t *testing.T, what string, _ lintel.ClientKind, answer reply) {
			answer.wantRefused(t, what, 400, InvalidGrant)
		},
		PathRevocation: func(t *testing.T, what string, _ lintel.ClientKind, answer reply) {
			if answer.status != 200 || answer.body != "{}\n" {
				t.Errorf("%s: %d %s", what, answer.status, answer.body)
			}
		},
		PathIntrospection: func(t *testing.T, what string, kind lintel.ClientKind, answer reply) {
			if kind == lintel.Public {
				answer.wantRefused(t, what, 401, InvalidClient)
			} else if answer.status != 200 || answer.body != "{\"active\":false}\n" {
				t.Errorf("%s: %d %s", what, answer.status, answer.body)
			}
		},
		PathDeviceAuthorization: func(t *testing.T, what string, _ lintel.ClientKind, answer reply) {
			if answer.status != 200 || answer.fields(t)["device_code"] == nil {
				t.Errorf("%s: %d %s", what, answer.status, answer.body)
			}
		},
	}

	rotated := w.register(t, lintel.Client{ID: "rotated", Kind: lintel.Confidential, Scopes: lintel.AllScopes})
	before := rotated.secret
	_, rotated.secret = secret.NewClient()
	must(t, w.db.RotateClientSecret(t.Context(), rotated.ID, secret.Hash(rotated.secret), true, epoch.Add(1)))
	disabled := w.register(t, lintel.Client{ID: "disabled", Kind: lintel.Confidential, Scopes: lintel.AllScopes})
	must(t, w.db.DisableClient(t.Context(), disabled.ID, epoch))
	const oddID, oddSecret = "odd id:+%/ü", "p%41ss:w+rd /&=ü€"
	odd := lintel.Client{ID: oddID, Name: "odd", Kind: lintel.Confidential, Scopes: lintel.AllScopes, CreatedAt: epoch}
	must(t, w.db.AddClient(t.Context(), odd, secret.Hash(oddSecret)))
	none := lintel.Client{ID: "none", Name: "none", Kind: lintel.Confidential, Scopes: lintel.AllScopes, CreatedAt: epoch}
	must(t, w.db.AddClient(t.Context(), none, ""))

	c, p := w.confidential, w.public
	cid, pid := c.ID, p.ID
	for _, a := range []struct {
		name       string
		basic      string
		id, secret string // parameters
		want       int    // 200: let in
		kind       lintel.ClientKind
	}{
		{"a secret in a header", basicOf(cid, c.secret), "", "", 200, lintel.Confidential},
		{"and the id again", basicOf(cid, c.secret), cid, "", 200, lintel.Confidential},
		{"the scheme in lower case", "basic" + basicOf(cid, c.secret)[5:], "", "", 200, lintel.Confidential},
		{"more spaces", "Basic  " + basicOf(cid, c.secret)[6:] + " ", "", "", 200, lintel.Confidential},
		{"parameters", "", cid, c.secret, 200, lintel.Confidential},
		{"odd, form-encoded", basicOf(url.QueryEscape(oddID), url.QueryEscape(oddSecret)), "", "", 200, lintel.Confidential},
		{"odd, all escaped", basicOf(escaped(oddID), escaped(oddSecret)), oddID, "", 200, lintel.Confidential},
		{"odd, parameters", "", oddID, oddSecret, 200, lintel.Confidential},
		{"the new secret of two", "", rotated.ID, rotated.secret, 200, lintel.Confidential},
		{"the old secret of two", basicOf(rotated.ID, before), "", "", 200, lintel.Confidential},
		{"public", "", pid, "", 200, lintel.Public},
		{"public, in a header", basicOf(pid, ""), "", "", 200, lintel.Public},
		{"public, in both", basicOf(pid, ""), pid, "", 200, lintel.Public},

		{"nothing", "", "", "", 401, ""},
		{"a secret alone", "", "", c.secret, 401, ""},
		{"no secret", "", cid, "", 401, ""},
		{"no secret in a header", basicOf(cid, ""), "", "", 401, ""},
		{"a wrong secret", "", cid, c.secret + "x", 401, ""},
		{"a wrong secret in a header", basicOf(cid, c.secret[1:]), "", "", 401, ""},
		{"a secret in another case", "", cid, strings.ToLower(c.secret), 401, ""},
		{"another client's secret", "", cid, w.legacy.secret, 401, ""},
		{"its hash", "", cid, secret.Hash(c.secret), 401, ""},
		{"a space after it", "", cid, c.secret + " ", 401, ""},
		{"a client that has no secret yet", "", none.ID, "", 401, ""},
		{"an unknown client", "", "unknown", c.secret, 401, ""},
		{"an unknown client in a header", basicOf("unknown", ""), "", "", 401, ""},
		{"another case", "", strings.ToUpper(cid), c.secret, 401, ""},
		{"a disabled client", "", disabled.ID, disabled.secret, 401, ""},
		{"a disabled client in a header", basicOf(disabled.ID, disabled.secret), "", "", 401, ""},
		{"a public client with a secret", "", pid, "x", 401, ""},
		{"a public client with a secret in a header", basicOf(pid, "x"), "", "", 401, ""},
		{"odd, not encoded", basicOf("odd", "%zz"), "", "", 401, ""},
		{"no id in a header", basicOf("", c.secret), "", "", 401, ""},
		{"no id in a header, but one beside it", basicOf("", c.secret), cid, "", 401, ""},
		{"no colon", "Basic " + base64.StdEncoding.EncodeToString([]byte(cid)), "", "", 401, ""},
		{"no base64", "Basic %%%", "", "", 401, ""},
		{"base64url without padding", "Basic " + base64.RawURLEncoding.EncodeToString([]byte("ab:cd")), "", "", 401, ""},
		{"a control character", basicOf("a%00b", "x"), "", "", 401, ""},
		{"the scheme alone", "Basic", "", "", 401, ""},
		{"another scheme", "Bearer " + c.secret, "", "", 401, ""},
		{"another scheme and parameters", "Bearer " + c.secret, cid, c.secret, 401, ""},
		{"both ways", basicOf(cid, c.secret), cid, c.secret, 400, ""},
		{"both ways, one wrong", basicOf(cid, "x"), cid, c.secret, 400, ""},
		{"two clients", basicOf(cid, c.secret), pid, "", 400, ""},
		{"two clients, one public", basicOf(pid, ""), cid, "", 400, ""},
	} {
		for path, wantGood := range good {
			what := path + " with " + a.name
			r := w.request(t, http.MethodPost, path, form("client_id", a.id, "client_secret", a.secret, "grant_type", "refresh_token",
				"refresh_token", secret.New(secret.RefreshToken), "token", secret.New(secret.AccessToken)))
			if a.basic != "" {
				r.Header.Set("Authorization", a.basic)
			}
			answer := w.call(t, r)
			switch a.want {
			case 200:
				wantGood(t, what, a.kind, answer)
			case 401:
				answer.wantRefused(t, what, 401, InvalidClient)
			default:
				answer.wantRefused(t, what, 400, InvalidRequest)
			}
		}
	}

	r := w.request(t, http.MethodPost, PathToken, form("grant_type", "refresh_token"))
	r.Header["Authorization"] = []string{basicOf(cid, c.secret), basicOf(cid, c.secret)}
	w.call(t, r).wantRefused(t, "two headers", 400, InvalidRequest)

	must(t, w.db.FinishClientSecret(t.Context(), rotated.ID))
	w.post(t, PathToken, form("client_id", rotated.ID, "client_secret", before)).wantRefused(t, "the old secret after a rotation", 401, InvalidClient)
	w.post(t, PathToken, rotated.form()).wantRefused(t, "the new secret after a rotation", 400, InvalidRequest)
}

// escaped escapes every byte, as some clients do.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString("%" + strings.ToUpper(string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])))
	}
	return b.String()
}

func FuzzBasic(f *testing.F) {
	for _, value := range []string{"", "Basic", "Basic YTpi", "basic  YTpi ", "Basic Og==", "Basic YQ==", "Bearer YTpi", basicOf("a%20b", "%zz"), basicOf("a:b", ":")} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := basic(value)
		if !ok {
			return
		}
		if got.id == "" || !isText(got.id) || !strings.EqualFold(value[:5], "Basic") {
			t.Fatalf("%q gave %+v", value, got)
		}
		again, ok := basic(basicOf(url.QueryEscape(got.id), url.QueryEscape(got.secret)))
		if !ok || again != got {
			t.Fatalf("%+v became %+v", got, again)
		}
	})
}
