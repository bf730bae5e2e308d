package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// visitor is a browser without scripts: it keeps cookies, follows redirects
// within the site, and fills in forms.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
	header http.Header // sent with every request
}

func newVisitor(t *testing.T, base string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, base: base, header: http.Header{"Accept": {"text/html"}}}
	v.client = &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), base+"/") {
			return http.ErrUseLastResponse
		}
		r.Header = v.header.Clone()
		return nil
	}}
	return v
}

// page is what a visitor sees.
type page struct {
	v        *visitor
	URL      *url.URL
	Status   int
	Header   http.Header
	Text     string
	Location string // where it was sent that is another site; empty for nowhere
	forms    []form
}

// form is one form of a page.
type form struct {
	action  string
	fields  url.Values // as they stand, without what is not ticked
	inputs  map[string]bool
	buttons map[string]string // values by the button's name
}

func (v *visitor) open(address string) page {
	v.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = v.base + address
	}
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.send(r)
}

func (v *visitor) send(r *http.Request) page {
	v.t.Helper()
	for name, values := range v.header {
		r.Header[name] = values
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	p := page{v: v, URL: res.Request.URL, Status: res.StatusCode, Header: res.Header, Text: string(text), Location: res.Header.Get("Location")}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		v.t.Fatal(err)
	}
	p.collect(root, nil)
	return p
}

// collect finds the forms below a node.
func (p *page) collect(n *html.Node, in *form) {
	if n.Type == html.ElementNode {
		name, value := attribute(n, "name"), attribute(n, "value")
		switch {
		case n.Data == "form":
			p.forms = append(p.forms, form{action: attribute(n, "action"), fields: url.Values{}, inputs: map[string]bool{}, buttons: map[string]string{}})
			in = &p.forms[len(p.forms)-1]
		case in == nil:
		case n.Data == "button":
			in.buttons[name+"="+value] = value
		case n.Data == "input" && name != "":
			in.inputs[name] = true
			kind := attribute(n, "type")
			if kind != "checkbox" && kind != "radio" || has(n, "checked") {
				in.fields.Add(name, value)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.collect(c, in)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// form returns the page's form that has an input or a button with the name.
func (p page) form(name string) form {
	p.v.t.Helper()
	for _, f := range p.forms {
		if f.inputs[name] {
			return f
		}
		for button := range f.buttons {
			if strings.HasPrefix(button, name+"=") {
				return f
			}
		}
	}
	p.v.t.Fatalf("%s (%d) has no form with %s:\n%s", p.URL, p.Status, name, p.Text)
	panic("unreachable")
}

// submit sends a form with some of its fields changed: pairs of names and
// values, where an empty value takes the field away.
func (p page) submit(f form, pairs ...string) page {
	p.v.t.Helper()
	fields := url.Values{}
	for name, values := range f.fields {
		fields[name] = values
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			fields.Del(pairs[i])
		}
	}
	action, err := p.URL.Parse(f.action)
	if err != nil {
		p.v.t.Fatal(err)
	}
	if f.action == "" {
		action = p.URL
	}
	r, err := http.NewRequest(http.MethodPost, action.String(), strings.NewReader(fields.Encode()))
	if err != nil {
		p.v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", p.v.base)
	return p.v.send(r)
}

// signIn signs in by password from a page that asks for it.
func (p page) signIn(email, password string) page {
	p.v.t.Helper()
	return p.submit(p.form("password"), "email", email, "password", password)
}
