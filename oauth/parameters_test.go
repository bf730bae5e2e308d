package oauth

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		name     string
		texts    []string
		values   map[string]string
		repeated string
	}{
		{"nothing", nil, nil, ""},
		{"nothing, twice", []string{"", ""}, nil, ""},
		{"one", []string{"code=a"}, map[string]string{"code": "a"}, ""},
		{"of two texts", []string{"code=a", "state=b"}, map[string]string{"code": "a", "state": "b"}, ""},
		{"decoded once", []string{"state=a+b%20c%2Bd%26e%3Df%2525"}, map[string]string{"state": "a b c+d&e=f%25"}, ""},
		{"a name decoded", []string{"%63ode=a"}, map[string]string{"code": "a"}, ""},
		{"beyond ASCII", []string{"state=%C3%BC%F0%9F%98%80é"}, map[string]string{"state": "ü😀é"}, ""},
		{"empty is absent", []string{"code=&state"}, nil, ""},
		{"names have a case", []string{"Code=a&CODE=b"}, nil, ""},
		{"unknown", []string{"x=a&x=b&resource=c&client-id=d"}, nil, ""},
		{"unknown and no text", []string{"x=%00%ff"}, nil, ""},
		{"twice", []string{"code=a&code=b"}, nil, "code"},
		{"twice the same", []string{"code=a&code=a"}, nil, "code"},
		{"twice, one empty", []string{"code=a&code="}, nil, "code"},
		{"twice, both empty", []string{"code=&code"}, nil, "code"},
		{"in both texts", []string{"client_id=a", "client_id=a"}, nil, "client_id"},
		{"twice, spelled in two ways", []string{"code=a&%63ode=b"}, nil, "code"},
	} {
		p, err := parseParameters(c.texts...)
		if err != nil || !maps.Equal(p.values, c.values) {
			t.Errorf("%s: %v, %v", c.name, p.values, err)
		}
		if failure := p.wrong(known...); (failure != nil) != (c.repeated != "") || failure != nil && !strings.Contains(failure.Description, c.repeated) {
			t.Errorf("%s: repeated %v, %v", c.name, p.repeated, failure)
		}
	}
}

func TestParametersRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a broken escape":          "code=%zz",
		"a cut escape":             "code=a%2",
		"a NUL":                    "code=%00",
		"a line feed":              "state=a%0Ab",
		"a carriage return":        "state=a%0D",
		"an escape character":      "state=%1b[2J",
		"DEL":                      "state=%7f",
		"a control of Latin-1":     "state=%c2%85",
		"no UTF-8":                 "state=%ff",
		"no UTF-8, raw":            "state=\xff",
		"a surrogate":              "state=%ed%a0%80",
		"no text in one of a pair": "state=a&state=%00",
	} {
		p, err := parseParameters("client_id=a&" + text)
		failure := p.wrong(known...)
		if err != nil || p.get("code")+p.get("state") != "" || p.get("client_id") != "a" || failure == nil || !isDescription(failure.Description) {
			t.Errorf("%s: %v, %v, %v", name, p.values, err, failure)
		}
	}
	for name, text := range map[string]string{
		"a broken escape in what is unknown": "x=%zz", "an unknown name that is none": "%zz=x", "a control character there": "x=%00",
	} {
		if p, err := parseParameters("state=s&" + text); err != nil || p.wrong(known...) != nil || p.get("state") != "s" {
			t.Errorf("%s: %v, %v", name, p.values, err)
		}
	}
	if p, err := parseParameters("state=" + strings.Repeat("a", maxParameters-5)); err == nil || p.get("state") != "" || !isDescription(err.Error()) {
		t.Errorf("one byte more than the most: %v", err)
	}
	if _, err := parseParameters("state="+strings.Repeat("a", maxParameters-6), "code="+strings.Repeat("a", maxParameters-5)); err != nil {
		t.Errorf("two texts of the greatest length: %v", err)
	}
}

// TestSettleRefresh holds what becomes of two values of grant_type: the example
// of the deployed services has both, and only that is understood.
func TestSettleRefresh(t *testing.T) {
	for text, want := range map[string]bool{
		"grant_type=refresh_token&grant_type=authorization_code&refresh_token=r":                               true,
		"grant_type=authorization_code&grant_type=refresh_token&refresh_token=r":                               true,
		"grant_type=authorization_code&grant_type=refresh_token&refresh_token=r&code=":                         true,
		"grant_type=authorization_code&grant_type=refresh_token":                                               false,
		"grant_type=authorization_code&grant_type=refresh_token&refresh_token=":                                false,
		"grant_type=authorization_code&grant_type=refresh_token&refresh_token=r&refresh_token=r":               false,
		"grant_type=authorization_code&grant_type=refresh_token&refresh_token=r&code=c":                        false,
		"grant_type=authorization_code&grant_type=refresh_token&code=c":                                        false,
		"grant_type=refresh_token&grant_type=refresh_token&refresh_token=r":                                    false,
		"grant_type=authorization_code&grant_type=authorization_code&refresh_token=r":                          false,
		"grant_type=refresh_token&grant_type=&refresh_token=r":                                                 false,
		"grant_type=refresh_token&grant_type=password&refresh_token=r":                                         false,
		"grant_type=refresh_token&grant_type=authorization_code&grant_type=authorization_code&refresh_token=r": false,
	} {
		p, err := parseParameters(text)
		must(t, err)
		p.settleRefresh()
		if settled := p.wrong(known...) == nil; settled != want || p.settled != want || want && p.get("grant_type") != "refresh_token" {
			t.Errorf("%s: settled %v, grant_type %q", text, settled, p.get("grant_type"))
		}
	}
	p, err := parseParameters("grant_type=refresh_token&refresh_token=r")
	must(t, err)
	if p.settleRefresh(); p.settled || p.get("grant_type") != "refresh_token" {
		t.Errorf("one value: %+v", p)
	}
	p, err = parseParameters("grant_type=authorization_code&grant_type=refresh_token&refresh_token=r&code=c&code=c")
	must(t, err)
	if p.settleRefresh(); p.wrong(known...) == nil {
		t.Errorf("a repeated code: %+v", p)
	}
}

func FuzzParameters(f *testing.F) {
	f.Add("", "")
	f.Add("code=a&state=b+c%20", "client_id=x&client_id=y")
	f.Add("grant_type=refresh_token", "grant_type=authorization_code&refresh_token=r")
	f.Add("state=%ff", "a;b")
	f.Fuzz(func(t *testing.T, first, second string) {
		p, err := parseParameters(first, second)
		if err != nil {
			if !isDescription(err.Error()) || len(p.values)+len(p.repeated) > 0 {
				t.Fatalf("%v with %v", err, p)
			}
			return
		}
		// What the standard library reads of it without complaint is read the same.
		one, err1 := url.ParseQuery(first)
		two, err2 := url.ParseQuery(second)
		for _, name := range known {
			sent := append(one[name], two[name]...)
			value, kept := p.values[name]
			if kept && (value == "" || !isText(value) || len(p.repeated[name]) > 0 || p.damaged[name]) {
				t.Fatalf("%s: kept %q", name, value)
			}
			if err1 == nil && err2 == nil && kept != (len(sent) == 1 && sent[0] != "" && isText(sent[0])) {
				t.Fatalf("%s: sent %q, kept %q", name, sent, value)
			}
			if err1 == nil && err2 == nil && kept && value != sent[0] {
				t.Fatalf("%s: sent %q, kept %q", name, sent, value)
			}
		}
		again := url.Values{}
		for name, value := range p.values {
			if !slices.Contains(known, name) {
				t.Fatalf("kept %s", name)
			}
			again.Set(name, value)
		}
		if text := again.Encode(); len(text) <= maxParameters {
			q, err := parseParameters(text)
			if err != nil || !maps.Equal(p.values, q.values) || len(q.repeated) > 0 {
				t.Fatalf("%v, %v became %v", err, p.values, q.values)
			}
		}
		two2 := len(p.repeated["grant_type"]) == 2
		if p.settleRefresh(); p.settled != (len(p.repeated["grant_type"]) == 0 && two2) {
			t.Fatalf("settled %v", p)
		}
	})
}
