// Package config is the service's configuration: one table of options, read
// from a file, the environment and the command line, in rising order, and
// checked as a whole.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Config is a complete, valid configuration.
type Config struct {
	HTTP           string // address to serve HTTP on
	MQTT           string // address to serve controllers on
	MQTTPlain      string // address for devices whose firmware has no TLS; empty for none
	PublicURL      string // where people and apps reach the service; empty for the address it serves HTTP on
	TrustedProxies []netip.Prefix
	Data           string        // directory of the SQLite database
	Database       string        // postgres:// URL; empty for SQLite
	TLSCert        string        // PEM file; empty for plain text
	TLSKey         string        // PEM file
	AllowPlaintext bool          // serve without TLS beyond loopback
	Deadline       time.Duration // how long a controller has to answer
	HardwareName   string        // stands in messages where no controller is known
	LogLevel       slog.Level

	MQTTUpstream         *url.URL // of the owner's own broker: tls or mqtt, with a port, maybe a user name; nil for none
	MQTTUpstreamPassword string
	MQTTUpstreamCA       string // PEM file; empty for the system's
}

// Option is one row of the table.
type Option struct {
	Name    string // of the flag, and with _ for - of the key in the file
	Default string
	Usage   string // one sentence
	Secret  bool   // never printed
	Bool    bool   // true or false
	set     func(*Config, string) error
}

// Env returns the option's environment variable.
func (o Option) Env() string { return EnvPrefix + strings.ToUpper(o.Key()) }

// Key returns the option's key in the file.
func (o Option) Key() string { return strings.ReplaceAll(o.Name, "-", "_") }

// EnvPrefix begins the name of every environment variable of the service.
const EnvPrefix = "LINTEL_"

// Options returns the table. Help, sample file and documentation come from it.
func Options() []Option {
	text := func(field func(*Config) *string) func(*Config, string) error {
		return func(c *Config, v string) error { *field(c) = v; return nil }
	}
	return []Option{
		{Name: "http", Default: "127.0.0.1:8080", Usage: "Address to serve HTTP on; port 0 chooses a free one.",
			set: address(func(c *Config) *string { return &c.HTTP })},
		{Name: "mqtt", Default: "127.0.0.1:1883", Usage: "Address to serve controllers on by MQTT; port 0 chooses a free one.",
			set: address(func(c *Config) *string { return &c.MQTT })},
		{Name: "mqtt-plain", Default: "", Usage: "Second address to serve by MQTT, without TLS and for devices with a driver alone: most of their firmware has no TLS. Whoever listens on its network reads their passwords. Empty: none.",
			set: optionalAddress(func(c *Config) *string { return &c.MQTTPlain })},
		{Name: "mqtt-upstream", Default: "", Usage: "MQTT broker that you already run and some devices stay at, like tls://lintel@broker.example:8883. Empty: none.", Secret: true,
			set: upstreamURL},
		{Name: "mqtt-upstream-password", Default: "", Usage: "Password at that broker.", Secret: true,
			set: text(func(c *Config) *string { return &c.MQTTUpstreamPassword })},
		{Name: "mqtt-upstream-ca", Default: "", Usage: "PEM file with the certificates that sign that broker's. Empty: those of the system.",
			set: text(func(c *Config) *string { return &c.MQTTUpstreamCA })},
		{Name: "public-url", Default: "", Usage: "Address at which people and apps reach the service, like https://doors.example; the OAuth issuer. Empty: the address of --http.",
			set: publicURL},
		{Name: "trusted-proxies", Default: "", Usage: "Networks of reverse proxies whose X-Forwarded-For is believed, separated by commas, like 127.0.0.1/32.",
			set: networks},
		{Name: "data", Default: "lintel-data", Usage: "Directory of the SQLite database; made when missing.",
			set: nonEmpty(func(c *Config) *string { return &c.Data })},
		{Name: "database", Default: "", Usage: "URL of a PostgreSQL database (postgres://...), instead of SQLite.", Secret: true,
			set: databaseURL},
		{Name: "tls-cert", Default: "", Usage: "PEM file with the certificate chain, for HTTP and MQTT.",
			set: text(func(c *Config) *string { return &c.TLSCert })},
		{Name: "tls-key", Default: "", Usage: "PEM file with the certificate's private key.",
			set: text(func(c *Config) *string { return &c.TLSKey })},
		{Name: "allow-plaintext", Default: "false", Usage: "Serve without TLS on addresses other than loopback.", Bool: true,
			set: boolean(func(c *Config) *bool { return &c.AllowPlaintext })},
		{Name: "deadline", Default: "5s", Usage: "How long a controller has to answer a command, 100ms to 30s.",
			set: duration(100*time.Millisecond, 30*time.Second, func(c *Config) *time.Duration { return &c.Deadline })},
		{Name: "hardware-name", Default: "Lintel", Usage: "Name that stands in messages where no controller is known.",
			set: nonEmpty(func(c *Config) *string { return &c.HardwareName })},
		{Name: "log-level", Default: "info", Usage: "Least level to log: debug, info, warn or error.",
			set: func(c *Config, v string) error {
				if c.LogLevel.UnmarshalText([]byte(v)) != nil {
					return errors.New("is not debug, info, warn or error")
				}
				return nil
			}},
	}
}

func nonEmpty(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if strings.TrimSpace(v) == "" {
			return errors.New("is empty")
		}
		*field(c) = v
		return nil
	}
}

func address(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		_, port, err := net.SplitHostPort(v)
		if err != nil {
			return errors.New("is not an address of the form HOST:PORT")
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return errors.New("has a port that is not 0 to 65535")
		}
		*field(c) = v
		return nil
	}
}

// optionalAddress is address, or empty.
func optionalAddress(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v == "" {
			return nil
		}
		return address(field)(c, v)
	}
}

func boolean(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return errors.New("is not true or false")
		}
		*field(c) = b
		return nil
	}
}

func duration(least, most time.Duration, field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < least || d > most {
			return fmt.Errorf("is not a duration from %s to %s, like 5s", least, most)
		}
		*field(c) = d
		return nil
	}
}

func databaseURL(c *Config, v string) error {
	if v != "" && !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://") {
		return errors.New("is not a postgres:// URL")
	}
	c.Database = v
	return nil
}

// publicURL takes an origin: a scheme and a host, maybe a port, and nothing
// else. It is compared character by character by OAuth clients.
func publicURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || v != u.Scheme+"://"+u.Host || v != strings.ToLower(v) {
		return errors.New("is not https:// and a host, in lower case, without anything behind it")
	}
	c.PublicURL = v
	return nil
}

func networks(c *Config, v string) error {
	for _, text := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return errors.New("is not a list of networks like 10.0.0.0/8, separated by commas")
		}
		c.TrustedProxies = append(c.TrustedProxies, network.Masked())
	}
	return nil
}

// Sources are where values come from, the lowest first.
type Sources struct {
	File  string            // path of a TOML file; empty for none
	Env   []string          // as os.Environ returns it
	Flags map[string]string // by option name, those that were given
	Only  []string          // the options that matter; the others are neither set nor checked. Empty for all
}

// Load reads a configuration and reports every fault in it at once. unknown
// names environment variables with our prefix that no option has.
func Load(s Sources) (c Config, unknown []string, err error) {
	options := Options()
	matters := func(o Option) bool { return len(s.Only) == 0 || slices.Contains(s.Only, o.Name) }
	values, origin := map[string]string{}, map[string]string{}
	var faults []error
	put := func(name, value, from string) { values[name], origin[name] = value, from }
	for _, o := range options {
		put(o.Name, o.Default, "default of "+o.Name)
	}
	faults = append(faults, fromFile(s.File, options, put))
	unknown = fromEnv(s.Env, options, put)
	for name, value := range s.Flags {
		put(name, value, "--"+name)
	}
	for _, o := range options {
		if !matters(o) {
			continue
		}
		if err := o.set(&c, values[o.Name]); err != nil {
			shown := strconv.Quote(values[o.Name])
			if o.Secret {
				shown = "(not shown)"
			}
			faults = append(faults, fmt.Errorf("%s: %s %w", origin[o.Name], shown, err))
		}
	}
	if len(s.Only) == 0 {
		faults = append(faults, c.check()...)
	}
	return c, unknown, errors.Join(faults...)
}

func fromFile(path string, options []Option, put func(name, value, from string)) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	var keys map[string]any
	if err := toml.Unmarshal(text, &keys); err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	var faults []error
	for key, value := range keys {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Key() == key })
		if i < 0 {
			faults = append(faults, fmt.Errorf("%s: unknown key %q", path, key))
			continue
		}
		switch value.(type) {
		case string, bool:
			put(options[i].Name, fmt.Sprint(value), path+": "+key)
		default:
			faults = append(faults, fmt.Errorf("%s: %s is not a string in quotes, true or false", path, key))
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

func fromEnv(env []string, options []Option, put func(name, value, from string)) (unknown []string) {
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || name == EnvConfig {
			continue
		}
		i := slices.IndexFunc(options, func(o Option) bool { return o.Env() == name })
		if i < 0 {
			unknown = append(unknown, name)
			continue
		}
		put(options[i].Name, value, name)
	}
	return unknown
}

// EnvConfig names the configuration file.
const EnvConfig = EnvPrefix + "CONFIG"

// check looks at what no single option can know.
func (c Config) check() []error {
	var faults []error
	if (c.TLSCert == "") != (c.TLSKey == "") {
		faults = append(faults, errors.New("--tls-cert and --tls-key go together"))
	}
	if c.TLSCert == "" && !c.AllowPlaintext {
		for flag, addr := range map[string]string{"--http": c.HTTP, "--mqtt": c.MQTT} {
			if addr != "" && !loopback(addr) {
				faults = append(faults, fmt.Errorf(
					"%s %s would carry secrets in plain text beyond this machine; give --tls-cert and --tls-key, or --allow-plaintext behind a proxy that does TLS", flag, addr))
			}
		}
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Scheme == "http" && !c.AllowPlaintext && !loopback(net.JoinHostPort(u.Hostname(), "0")) {
		faults = append(faults, errors.New("--public-url is plain http beyond this machine; passwords and tokens would be carried in plain text"))
	}
	faults = append(faults, c.checkUpstream()...)
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

// loopback reports whether an address can be reached from this machine only. A
// name other than localhost cannot be trusted to stay so.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true // reported as malformed already
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Sample returns a configuration file with every option at its default.
func Sample() string {
	var b strings.Builder
	b.WriteString("# Configuration of lintel serve. Every key may also be given as an environment\n" +
		"# variable or a flag; a flag wins over the environment, and that over this file.\n")
	for _, o := range Options() {
		value := strconv.Quote(o.Default)
		if o.Bool {
			value = o.Default
		}
		fmt.Fprintf(&b, "\n# %s\n# %s, --%s\n# %s = %s\n", o.Usage, o.Env(), o.Name, o.Key(), value)
	}
	return b.String()
}
