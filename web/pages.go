package web

import (
	"embed"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"
)

//go:embed templates
var templateFiles embed.FS

// pageSet are the templates of all pages, by their names.
type pageSet map[string]*template.Template

// shared are the templates that every page is made with.
var shared = []string{"templates/layout.html", "templates/parts.html"}

func loadPages(a assets) (pageSet, error) {
	base, err := template.New("layout.html").Funcs(template.FuncMap{"asset": a.url, "plural": plural}).
		Option("missingkey=error").ParseFS(templateFiles, shared...)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(templateFiles, "templates/pages/*.html")
	if err != nil {
		return nil, err
	}
	set := pageSet{}
	for _, name := range names {
		page, err := base.Clone()
		if err == nil {
			page, err = page.ParseFS(templateFiles, name)
		}
		if err != nil {
			return nil, err
		}
		set[strings.TrimSuffix(path.Base(name), ".html")] = page
	}
	return set, nil
}

func (s pageSet) render(w io.Writer, page string, v view) error {
	return s[page].ExecuteTemplate(w, "layout.html", v)
}

// view is what the layout shows, with the data of its page.
type view struct {
	Path    string // for the navigation
	Here    string // with the query, for forms that come back here
	Account bool   // it is a page of the account, and has its navigation
	Email   string // of who is signed in; empty for nobody
	CSRF    string // what forms carry
	Script  bool
	Once    bool
	Done    string // what was done just before
	Data    any
}

func (p *Pages) view(v *visit, a answer) view {
	made := view{Path: v.URL.Path, Here: v.address(), Script: a.policy.script, Once: a.policy.once, Data: a.data}
	if v.key != "" {
		made.CSRF = v.token()
	}
	if v.signedIn {
		made.Email, made.Account = v.person.Email, strings.HasPrefix(v.URL.Path, home)
	}
	if v.URL.RawQuery != "" {
		made.Done = done[v.URL.Query().Get("done")]
	}
	return made
}
