package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate is a self-signed one for this machine.
type certificate struct {
	certFile, keyFile string
	pool              *x509.CertPool
}

func newCertificate(t *testing.T) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lintel"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := certificate{pool: x509.NewCertPool()}
	c.certFile, c.keyFile = pemFile(t, "CERTIFICATE", der), pemFile(t, "PRIVATE KEY", private)
	own, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	c.pool.AddCert(own)
	return c
}

func pemFile(t *testing.T, kind string, bytes []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// over returns a client that trusts the certificate alone.
func (c certificate) over(config *tls.Config) *http.Client {
	config.RootCAs = c.pool
	return &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}

// transport trusts the certificate alone.
func (c certificate) transport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.pool}, DisableKeepAlives: true}
}

// TestTLS: HTTP and MQTT both speak it, and nothing else then.
func TestTLS(t *testing.T) {
	t.Parallel()
	c := newCertificate(t)
	h := startHouse(t, "--tls-cert", c.certFile, "--tls-key", c.keyFile)
	if !strings.HasPrefix(h.BaseURL, "https://") {
		t.Fatalf("it serves at %s", h.BaseURL)
	}
	made := h.addController(h.Email, "Garage")
	file := made.file(t)
	plain := start(t, "sim", "--broker", h.MQTT, "--credentials", file, "--verbose")
	distrustful := start(t, "sim", "--broker", h.MQTT, "--credentials", file, "--verbose", "--tls")
	for _, fleet := range []*process{plain, distrustful} {
		eventually(t, "the fleet to be refused", func() bool { return strings.Contains(fleet.stderr.String(), "cannot connect") })
		fleet.kill()
	}
	toggle := func() int {
		res, err := c.over(&tls.Config{}).Do(request("POST", h.BaseURL+togglePath, h.Token, strings.NewReader(toggleBody(made.door(), "OPEN"))))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	if status := toggle(); status != http.StatusNotFound {
		t.Errorf("without a controller: got %d", status)
	}
	start(t, "sim", "--broker", h.MQTT, "--credentials", file, "--tls-ca", c.certFile)
	eventually(t, "the door to answer over TLS", func() bool { return toggle() == http.StatusOK })
}

// TestTLSOnly: neither plain text, nor a strange certificate, nor an old version.
func TestTLSOnly(t *testing.T) {
	t.Parallel()
	c := newCertificate(t)
	s := startHouse(t, "--tls-cert", c.certFile, "--tls-key", c.keyFile)
	if r, err := exchange(request("GET", strings.Replace(s.BaseURL, "https://", "http://", 1)+syncPath, "", nil)); err == nil && r.Status != http.StatusBadRequest {
		t.Errorf("plain text is answered %d %s", r.Status, r.Body)
	}
	if _, err := exchange(request("GET", s.BaseURL+syncPath, "", nil)); err == nil {
		t.Error("who does not know the certificate trusts it")
	}
	old := &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if res, err := c.over(old).Get(s.BaseURL + syncPath); err == nil {
		res.Body.Close()
		t.Error("TLS 1.1 is spoken")
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		res, err := c.over(&tls.Config{MinVersion: version, MaxVersion: version}).Get(s.BaseURL + syncPath)
		if err != nil {
			t.Errorf("%s: %v", tls.VersionName(version), err)
			continue
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: got %d", tls.VersionName(version), res.StatusCode)
		}
	}
}

// TestTLSBeyondThisMachine needs no other leave.
func TestTLSBeyondThisMachine(t *testing.T) {
	t.Parallel()
	c := newCertificate(t)
	lintel(t, "serve", "--check", "--http", "0.0.0.0:0", "--mqtt", ":0", "--tls-cert", c.certFile, "--tls-key", c.keyFile)
	for _, half := range [][]string{{"--tls-cert", c.certFile}, {"--tls-key", c.keyFile}} {
		if said := refused(t, invocation{args: append([]string{"serve", "--check"}, half...)}); !strings.Contains(said, "--tls-cert and --tls-key") {
			t.Errorf("%s alone: it says %q", half[0], said)
		}
	}
	refused(t, invocation{args: []string{"serve", "--check", "--tls-cert", c.keyFile, "--tls-key", c.certFile}})
}
