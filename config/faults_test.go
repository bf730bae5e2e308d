package config_test

import (
	"strings"
	"testing"

	"lintel/config"
)

// faults loads what must be refused, and returns the error's text.
func faults(t *testing.T, s config.Sources) string {
	t.Helper()
	_, _, err := config.Load(s)
	if err == nil {
		t.Fatal("accepted")
	}
	return err.Error()
}

func TestFileFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":     {"htpt = '127.0.0.1:1'", `unknown key "htpt"`},
		"flag as a key":   {"tls-cert = 'x'", `unknown key "tls-cert"`},
		"another case":    {"HTTP = '127.0.0.1:1'", `unknown key "HTTP"`},
		"unknown table":   {"[http]\naddress = 'x'", "http is not a string"},
		"a number":        {"deadline = 5", "deadline is not a string in quotes"},
		"a list":          {"http = ['127.0.0.1:1']", "http is not a string in quotes"},
		"a time":          {"deadline = 07:32:00", "deadline is not a string in quotes"},
		"twice":           {"data = 'a'\ndata = 'b'", "data"},
		"not TOML":        {"http", "lintel.toml"},
		"not UTF-8":       {"data = '\xff'", "lintel.toml"},
		"a value's fault": {"deadline = '1h'", `deadline: "1h" is not a duration`},
	} {
		if got := faults(t, config.Sources{File: file(t, c.text)}); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q does not say %q", name, got, c.want)
		}
	}
	if got := faults(t, config.Sources{File: "/no/such/file"}); !strings.Contains(got, "configuration file: open /no/such/file") {
		t.Errorf("missing file: %q", got)
	}
}

func TestBoolsInTheFile(t *testing.T) {
	for text, want := range map[string]bool{
		"allow_plaintext = true": true, "allow_plaintext = false": false, "allow_plaintext = 'true'": true,
	} {
		if got := load(t, config.Sources{File: file(t, text)}).AllowPlaintext; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestValueFaults gives each option what it must refuse. The name of the flag
// is in the error, and so is the value.
func TestValueFaults(t *testing.T) {
	for name, refused := range map[string][]string{
		"http":       {"", "127.0.0.1", ":", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:65536", "::1:80", "127.0.0.1:80:80"},
		"mqtt":       {"", "127.0.0.1", "127.0.0.1:99999"},
		"mqtt-plain": {"127.0.0.1", "127.0.0.1:99999"},
		"data":       {"", " ", "\t\n"},
		"mqtt-upstream": {"broker", "broker:1883", "mqtt://", "mqtt://:1883", "ssl://broker", "http://broker", "tls://broker/topic", "tls://broker?x", "tls://broker:0",
			"tls://broker:65536", "tls://broker:x", "tls://user:secret@broker", "TLS://"},
		"database":        {"mysql://x", "postgres", "/var/lib/x", "Postgres://x"},
		"allow-plaintext": {"", "yes", "2"},
		"deadline":        {"", "5", "99ms", "31s", "-1s", "5 s", "1e3s", "NaN"},
		"hardware-name":   {"", "  "},
		"log-level":       {"", "loud", "infos"},
	} {
		for _, value := range refused {
			got := faults(t, config.Sources{Flags: map[string]string{name: value}})
			if !strings.HasPrefix(got, "--"+name+": ") || strings.Contains(got, "\n") {
				t.Errorf("%s=%q: %q", name, value, got)
			}
		}
	}
}

func TestLimitsAreAllowed(t *testing.T) {
	for name, allowed := range map[string][]string{
		"http":     {"127.0.0.1:0", "127.0.0.1:65535"},
		"deadline": {"100ms", "30s", "0.5s", "1500ms"},
		"database": {"", "postgres://", "postgresql://u:p@h/d?sslmode=require"},
	} {
		for _, value := range allowed {
			load(t, config.Sources{Flags: map[string]string{name: value}})
		}
	}
}

// TestAllFaultsAtOnce has one fault in every place; nobody likes to be told one at a time.
func TestAllFaultsAtOnce(t *testing.T) {
	got := faults(t, config.Sources{
		File:  file(t, "nonsense = 1\nmore_nonsense = 'x'\nlog_level = 'loud'\nhttp = 17"),
		Env:   []string{"LINTEL_DEADLINE=soon", "LINTEL_MQTT=0.0.0.0:1883"},
		Flags: map[string]string{"tls-key": "x.pem", "allow-plaintext": "maybe", "database": "oracle"},
	})
	for _, want := range []string{
		`unknown key "nonsense"`, `unknown key "more_nonsense"`, "log_level", "http is not", "LINTEL_DEADLINE",
		"--mqtt 0.0.0.0:1883 would carry", "--tls-cert and --tls-key go together", "--allow-plaintext: ", "--database: ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not said: %q in\n%s", want, got)
		}
	}
}

// TestFaultsComeInOneOrder holds that the same mistakes give the same text.
func TestFaultsComeInOneOrder(t *testing.T) {
	s := config.Sources{
		File: file(t, "a = 1\nb = 2\nc = 3\nd = 4\ne = 5"), Flags: map[string]string{"http": ":1", "mqtt": ":2"},
	}
	first := faults(t, s)
	for range 20 {
		if got := faults(t, s); got != first {
			t.Fatalf("%q, then %q", first, got)
		}
	}
}

// TestSecretsAreNeverShown puts a password into every mistake it can be part of.
func TestSecretsAreNeverShown(t *testing.T) {
	const url = "postgres://lintel:hunter2@db/lintel"
	for name, s := range map[string]config.Sources{
		"wrong scheme":       {Flags: map[string]string{"database": "pg://lintel:hunter2@db"}},
		"of the environment": {Env: []string{"LINTEL_DATABASE=hunter2"}},
		"unknown variable":   {Env: []string{"LINTEL_DATABASE_URL=" + url, "LINTEL_DEADLINE=x"}},
		"unknown key":        {File: file(t, "database_url = '"+url+"'")},
		"without quotes":     {File: file(t, "database = "+url)},
		"one quote":          {File: file(t, "database = '"+url)},
		"one double quote":   {File: file(t, "database = \""+url)},
		"two on a line":      {File: file(t, "database = '"+url+"' data = 'x'")},
		"bad escape":         {File: file(t, `database = "postgres://lintel:\hunter2@db"`)},
		"in a list":          {File: file(t, "database = ['"+url+"']")},
		"in a table":         {File: file(t, "[database]\nurl = '"+url+"'")},
		"twice":              {File: file(t, "database = '"+url+"'\ndatabase = '"+url+"'")},
		"as a key":           {File: file(t, "'"+url+"'")},
		"in a broker's URL":  {Flags: map[string]string{"mqtt-upstream": "tls://lintel:hunter2@broker"}},
		"of no broker":       {Env: []string{"LINTEL_MQTT_UPSTREAM_PASSWORD=hunter2"}},
	} {
		if got := faults(t, s); strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPlainTextStaysOnThisMachine(t *testing.T) {
	for addr, local := range map[string]bool{
		"127.0.0.1:80": true, "127.0.0.2:80": true, "127.255.255.254:80": true, "[::1]:80": true, "localhost:80": true,
		"[::ffff:127.0.0.1]:80": true,
		":80":                   false, "0.0.0.0:80": false, "[::]:80": false, "192.168.1.2:80": false, "[fe80::1%lo]:80": false,
		"example.org:80": false, "localhost.example.org:80": false, "localhost.:80": false, "128.0.0.1:80": false,
		"[::ffff:192.168.1.2]:80": false, "[::2]:80": false, "0:80": false, "127.1:80": false, "2130706433:80": false,
	} {
		for _, option := range []string{"http", "mqtt"} {
			flags := map[string]string{option: addr}
			_, _, err := config.Load(config.Sources{Flags: flags})
			if (err == nil) != local {
				t.Errorf("--%s %s: error %v", option, addr, err)
			}
			flags["allow-plaintext"] = "true"
			load(t, config.Sources{Flags: flags})
			delete(flags, "allow-plaintext")
			flags["tls-cert"], flags["tls-key"] = "c.pem", "k.pem"
			load(t, config.Sources{Flags: flags})
		}
	}
}

func TestCertificateAndKeyGoTogether(t *testing.T) {
	for _, alone := range []string{"tls-cert", "tls-key"} {
		got := faults(t, config.Sources{Flags: map[string]string{alone: "x.pem", "allow-plaintext": "true"}})
		if !strings.Contains(got, "go together") {
			t.Errorf("--%s alone: %q", alone, got)
		}
	}
}

func TestTheUpstreamBrokersOptionsGoTogether(t *testing.T) {
	for name, flags := range map[string]map[string]string{
		"a password without it":    {"mqtt-upstream-password": "x"},
		"a CA without it":          {"mqtt-upstream-ca": "x.pem"},
		"a CA without TLS":         {"mqtt-upstream": "mqtt://localhost", "mqtt-upstream-ca": "x.pem"},
		"a deadline too short":     {"mqtt-upstream": "mqtt://localhost", "deadline": "2999ms"},
		"plain text over networks": {"mqtt-upstream": "mqtt://broker.example"},
	} {
		if got := faults(t, config.Sources{Flags: flags}); !strings.Contains(got, "--mqtt-upstream") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for given, want := range map[string]string{
		"mqtt://127.0.0.1": "mqtt://127.0.0.1:1883", "tls://u%40x@[::1]": "tls://u%40x@[::1]:8883", "mqtt://localhost:9": "mqtt://localhost:9",
	} {
		if got := load(t, config.Sources{Flags: map[string]string{"mqtt-upstream": given}}).MQTTUpstream.String(); got != want {
			t.Errorf("%s: %s", given, got)
		}
	}
	load(t, config.Sources{Flags: map[string]string{"mqtt-upstream": "mqtt://broker.example", "allow-plaintext": "true"}})
	load(t, config.Sources{Flags: map[string]string{"mqtt-upstream": "mqtt://localhost", "deadline": "3s"}})
	load(t, config.Sources{Flags: map[string]string{"deadline": "100ms"}})
}
