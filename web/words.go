package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lintel"
	"lintel/oauth"
)

// scopeWord is a scope as a person reads it.
type scopeWord struct {
	Name   string // of the scope
	Words  string
	Detail string
}

var scopeWords = []scopeWord{
	{"OPENDOOR", "Open your doors", ""},
	{"CLOSEDOOR", "Close your doors", ""},
	{"READ", "See your doors", "Which there are, whether they are open, and what happened to them"},
	{"SETTINGS", "Change your settings", ""},
	{"SHARE", "Share your doors with other people", ""},
}

// inWords lists scopes for people.
func inWords(scopes lintel.Scope) []scopeWord {
	var words []scopeWord
	names := scopes.Names()
	for _, word := range scopeWords {
		for _, name := range names {
			if name == word.Name {
				words = append(words, word)
			}
		}
	}
	return words
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// sentence is what an error says, as a sentence.
func sentence(err error) string {
	text := lintel.MessageOf(err)
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// ago says when something was.
func ago(t, now time.Time) string {
	switch passed := now.Sub(t); {
	case t.IsZero():
		return "never"
	case passed < time.Minute:
		return "just now"
	case passed < time.Hour:
		return plural(int(passed/time.Minute), "minute") + " ago"
	case passed < 24*time.Hour:
		return plural(int(passed/time.Hour), "hour") + " ago"
	case passed < 7*24*time.Hour:
		return plural(int(passed/(24*time.Hour)), "day") + " ago"
	}
	return day(t)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// atMost says how long an app stays connected at the most.
func atMost() string {
	days := int(oauth.GrantLifetime / (24 * time.Hour))
	if days == 365 {
		return "a year"
	}
	return plural(days, "day")
}

// browsers are what tells browsers apart in what they say of themselves. The
// order matters: most also claim to be one that comes later.
var browsers = [][2]string{
	{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS", "Firefox"},
	{"CriOS", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
}

var systems = [][2]string{
	{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
	{"Mac OS X", "Mac"}, {"Linux", "Linux"},
}

// browserWords says in short what a browser is, by its own words.
func browserWords(userAgent string) string {
	find := func(table [][2]string) string {
		for _, row := range table {
			if strings.Contains(userAgent, row[0]) {
				return row[1]
			}
		}
		return ""
	}
	browser, system := find(browsers), find(systems)
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "" || system != "":
		return browser + system
	}
	return "Unknown browser"
}

// sentTo says where a redirect URI leads.
func sentTo(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
		return redirectURI
	case u.Scheme == "https":
		return u.Host
	case u.Scheme == "http":
		return "a program on this computer (" + u.Host + ")"
	}
	return "an app on this device (" + u.Scheme + ")"
}
