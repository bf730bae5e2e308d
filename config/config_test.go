package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"lintel/config"
)

// values has, for each option, three values that differ from its default: for
// the file, the environment and the flag. A bool has only two.
var values = map[string][3]string{
	"http":                   {"127.0.0.1:1", "[::1]:2", "localhost:3"},
	"mqtt":                   {"127.0.0.1:4", "[::1]:5", "localhost:6"},
	"mqtt-plain":             {"127.0.0.1:7", "[::1]:8", "localhost:9"},
	"mqtt-upstream":          {"mqtt://localhost", "tls://environment.example:1", "tls://user@flag.example"},
	"mqtt-upstream-password": {"of the file", "of the environment", "of the flag"},
	"mqtt-upstream-ca":       {"file.pem", "environment.pem", "flag.pem"},
	"public-url":             {"https://file.example", "https://environment.example:8443", "http://localhost:8080"},
	"trusted-proxies":        {"10.0.0.0/8", "192.0.2.0/24,::1/128", "127.0.0.1/32"},
	"data":                   {"from file", "from environment", "from flag"},
	"database":               {"postgres://file/db", "postgresql://environment/db", "postgres://flag/db"},
	"tls-cert":               {"file.pem", "environment.pem", "flag.pem"},
	"tls-key":                {"file.key", "environment.key", "flag.key"},
	"allow-plaintext":        {"true", "false", "true"},
	"deadline":               {"1s", "2s", "3s"},
	"hardware-name":          {"File", "Environment", "Flag"},
	"log-level":              {"debug", "warn", "error"},
}

// company is what an option cannot be given without.
var company = map[string]map[string]string{
	"tls-cert": {"tls-key": "any.key"},
	"tls-key":  {"tls-cert": "any.pem"},

	"mqtt-upstream-password": {"mqtt-upstream": "tls://any.example"},
	"mqtt-upstream-ca":       {"mqtt-upstream": "tls://any.example"},
}

func load(t *testing.T, s config.Sources) config.Config {
	t.Helper()
	c, unknown, err := config.Load(s)
	if err != nil || len(unknown) > 0 {
		t.Fatalf("unknown %q, error %v", unknown, err)
	}
	return c
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lintel.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEverySourceOfEveryOption gives each option in every set of sources: the
// highest wins, and what is left out changes nothing.
func TestEverySourceOfEveryOption(t *testing.T) {
	if len(values) != len(config.Options()) {
		t.Fatalf("values for %d of %d options", len(values), len(config.Options()))
	}
	for _, o := range config.Options() {
		for set := range 1 << 3 {
			if set == 0 && company[o.Name] != nil {
				continue // its company could not be without it
			}
			t.Run(o.Name, func(t *testing.T) {
				got := load(t, sources(t, o, set))
				if want := expected(t, o, set); !reflect.DeepEqual(got, want) {
					t.Errorf("sources %03b:\ngot  %+v\nwant %+v", set, got, want)
				}
			})
		}
	}
}

// sources gives an option in those of file, environment and flag that are in set.
func sources(t *testing.T, o config.Option, set int) config.Sources {
	t.Helper()
	s := config.Sources{Env: []string{"PATH=/bin", "LINTELX=1"}, Flags: map[string]string{}}
	for name, value := range company[o.Name] {
		s.Flags[name] = value
	}
	given := values[o.Name]
	if set&1 != 0 {
		s.File = file(t, o.Key()+" = '"+given[0]+"'\n")
	}
	if set&2 != 0 {
		s.Env = append(s.Env, o.Env()+"="+given[1])
	}
	if set&4 != 0 {
		s.Flags[o.Name] = given[2]
	}
	return s
}

// expected puts the winner into the one field that differs.
func expected(t *testing.T, o config.Option, set int) config.Config {
	t.Helper()
	flags := map[string]string{}
	for name, value := range company[o.Name] {
		flags[name] = value
	}
	for i, value := range values[o.Name] {
		if set&(1<<i) != 0 {
			flags[o.Name] = value
		}
	}
	return load(t, config.Sources{Flags: flags})
}

// TestTheTableIsComplete changes one option at a time and sees which fields
// follow: each field has one option, and each option one field.
func TestTheTableIsComplete(t *testing.T) {
	defaults := reflect.ValueOf(load(t, config.Sources{}))
	setBy := map[string][]string{}
	for _, o := range config.Options() {
		flags := map[string]string{o.Name: values[o.Name][0]}
		for name, value := range company[o.Name] {
			flags[name] = value
		}
		changed := reflect.ValueOf(load(t, config.Sources{Flags: flags}))
		for i := range changed.NumField() {
			field := changed.Type().Field(i).Name
			alone := company[o.Name] == nil || strings.EqualFold(field, strings.ReplaceAll(o.Name, "-", ""))
			if alone && !reflect.DeepEqual(changed.Field(i).Interface(), defaults.Field(i).Interface()) {
				setBy[field] = append(setBy[field], o.Name)
			}
		}
	}
	for i := range defaults.NumField() {
		field := defaults.Type().Field(i).Name
		if len(setBy[field]) != 1 {
			t.Errorf("%s is set by the options %q instead of one", field, setBy[field])
		}
	}
	if len(setBy) != len(config.Options()) {
		t.Errorf("%d options set %d fields", len(config.Options()), len(setBy))
	}
}

func TestNames(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, o := range config.Options() {
		if !form.MatchString(o.Name) {
			t.Errorf("option %q", o.Name)
		}
		if !strings.HasSuffix(o.Usage, ".") {
			t.Errorf("%s: the usage is no sentence: %q", o.Name, o.Usage)
		}
		if o.Key() != strings.ReplaceAll(o.Name, "-", "_") || o.Env() != "LINTEL_"+strings.ToUpper(o.Key()) {
			t.Errorf("%s: key %q, variable %q", o.Name, o.Key(), o.Env())
		}
	}
}

func TestDefaults(t *testing.T) {
	want := config.Config{
		HTTP: "127.0.0.1:8080", MQTT: "127.0.0.1:1883", Data: "lintel-data", Deadline: 5 * time.Second, HardwareName: "Lintel",
	}
	if got := load(t, config.Sources{}); !reflect.DeepEqual(got, want) {
		t.Errorf("\ngot  %+v\nwant %+v", got, want)
	}
}

// TestUnknownVariablesAreNamed holds that a misspelt variable is no error, since
// others may share the prefix, and is not lost either.
func TestUnknownVariablesAreNamed(t *testing.T) {
	env := []string{"LINTEL_HTTPS=x", "LINTEL_CONFIG=/nowhere", "LINTEL_=y", "lintel_http=:1", "LINTEL_DATA"}
	_, unknown, err := config.Load(config.Sources{Env: env})
	if !reflect.DeepEqual(unknown, []string{"LINTEL_HTTPS", "LINTEL_"}) {
		t.Errorf("unknown %q", unknown)
	}
	if err == nil || !strings.Contains(err.Error(), "LINTEL_DATA: \"\" is empty") {
		t.Errorf("an empty variable: %v", err)
	}
}

func TestTheSampleLoads(t *testing.T) {
	defaults := load(t, config.Sources{})
	if got := load(t, config.Sources{File: file(t, config.Sample())}); !reflect.DeepEqual(got, defaults) {
		t.Errorf("as it is: %+v", got)
	}
	settings := regexp.MustCompile(`(?m)^# ([a-z_]+ = )`).ReplaceAllString(config.Sample(), "$1")
	for _, o := range config.Options() {
		if !strings.Contains(settings, "\n"+o.Key()+" = ") {
			t.Errorf("%s is not in the sample", o.Key())
		}
	}
	if got := load(t, config.Sources{File: file(t, settings)}); !reflect.DeepEqual(got, defaults) {
		t.Errorf("with every line in force: %+v", got)
	}
}
