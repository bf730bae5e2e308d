package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"lintel/client"
)

// remoteFlags are the flags of every command that talks to a server.
type remoteFlags struct {
	server    string
	ca        string
	plaintext bool
	json      bool
}

func addRemoteFlags(cmd *cobra.Command) *remoteFlags {
	f := &remoteFlags{}
	cmd.Flags().StringVar(&f.server, "server", "", "Address of the server, https://HOST[:PORT]; by default the one of the last login.")
	cmd.Flags().StringVar(&f.ca, "ca", "", "PEM file with the authority to trust instead of the system's; login remembers its content.")
	cmd.Flags().BoolVar(&f.plaintext, "allow-plaintext", false, "Send secrets in clear text beyond this machine; login remembers it.")
	cmd.Flags().BoolVar(&f.json, "json", false, "Print one JSON object a line.")
	_ = cmd.RegisterFlagCompletionFunc("server", completeServers)
	cmd.Long = strings.TrimSpace(cmd.Long+"\n\n"+exitHelp) + "\n"
	return f
}

// remote is one server, as the flags and the token file say to reach it.
type remote struct {
	origin string // scheme, host and port: the key in the token file, and the issuer
	ca     string // PEM; empty for the system's authorities
	caFlag string // that names it, where it is not --ca
	plain  bool   // allowed to be plain text beyond loopback
	http   *http.Client
	file   tokenFile
}

// newRemote finds the server that a command is for.
func newRemote(f *remoteFlags) (*remote, error) {
	file, err := openTokenFile()
	if err != nil {
		return nil, err
	}
	saved, err := file.read()
	if err != nil {
		return nil, err
	}
	r := &remote{file: file}
	if r.origin, err = chooseServer(f.server, saved); err != nil {
		return nil, err
	}
	entry := saved.Servers[r.origin]
	r.ca, r.plain = entry.CA, entry.Plaintext || f.plaintext
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, exitf(exitUsage, "--ca: %w", err)
		}
		r.ca = string(text)
	}
	if strings.HasPrefix(r.origin, "http://") && !loopback(r.origin) && !r.plain {
		return nil, exitf(exitUsage, "%s is plain http to another machine: whoever listens in between can open the doors; use https, or --allow-plaintext if you accept that", r.origin)
	}
	r.http, err = httpClient(r.ca)
	return r, err
}

// chooseServer returns the origin of the server that was asked for, else of the
// last login, else of the only one there is.
func chooseServer(given string, saved tokens) (string, error) {
	if given != "" {
		return parseOrigin(given)
	}
	if saved.Default != "" {
		return saved.Default, nil
	}
	known := saved.signedIn()
	switch len(known) {
	case 0:
		return "", exitf(exitSignIn, "not signed in anywhere; sign in with: lintel login --server https://HOST")
	case 1:
		return known[0], nil
	}
	return "", exitf(exitUsage, "signed in at several servers, %s; say which with --server", strings.Join(known, ", "))
}

// parseOrigin reads a server's address into its one form: scheme, host in lower
// case, and the port unless it is the scheme's own.
func parseOrigin(given string) (string, error) {
	if !strings.Contains(given, "://") {
		given = "https://" + given
	}
	u, err := url.Parse(given)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" ||
		strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", exitf(exitUsage, "--server has the form https://HOST or https://HOST:PORT")
	}
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"https": ":443", "http": ":80"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return u.Scheme + "://" + strings.TrimSuffix(host, ":"), nil
}

// loopback reports whether an origin is on this machine.
func loopback(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || (err == nil && address.IsLoopback())
}

// httpClient makes a client that trusts the given authority, or the system's,
// and follows no redirects: forms with secrets go where they were sent.
func httpClient(ca string) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, exitf(exitUsage, "--ca holds no certificate in PEM")
		}
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// doors returns the SDK's client of the server, with the tokens of the file. The limit
// is for each request; refreshing a token before it has limits of its own.
func (r *remote) doors(tokens client.TokenSource, limit time.Duration) (*client.Client, error) {
	own := *r.http
	own.Timeout = limit
	return client.New(r.origin, tokens, client.WithHTTPClient(&own))
}

// netError says what was tried before the cause. A certificate that is not
// trusted gets the way out of that.
func (r *remote) netError(what string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL, which the sentence has
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%s: the certificate of %s is not trusted (%w); name its authority with %s FILE", what, r.origin, err, cmp.Or(r.caFlag, "--ca"))
	}
	return fmt.Errorf("%s: %s: %w", what, r.origin, err)
}

// printable makes a text of the server fit for a terminal: what could move the
// cursor or colour the screen is replaced.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '\uFFFD'
		}
		return c
	}, s)
}

func completeServers(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	file, err := openTokenFile()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	saved, _ := file.read() // a completion says nothing about what fails
	return saved.signedIn(), cobra.ShellCompDirectiveNoFileComp
}

// configDir is where the platform keeps a person's configuration of a program.
func configDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no place to keep the sign-in: %w", err)
	}
	return filepath.Join(dir, "lintel"), nil
}

// exchangeLimit is how long one exchange with the authorization server may take.
const exchangeLimit = 30 * time.Second

// refreshLimit is how long a refresh may take: one exchange for the server's
// endpoints, and one for the tokens.
const refreshLimit = 2 * exchangeLimit

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, exchangeLimit)
}
