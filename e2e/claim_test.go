package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheAgentClaims: a code and the service's address are all that it is told, also
// where the certificate is one's own. What it keeps is all that it needs from then on.
func TestTheAgentClaims(t *testing.T) {
	t.Parallel()
	c := newCertificate(t)
	h := startHouse(t, "--tls-cert", c.certFile, "--tls-key", c.keyFile)
	made := h.controllerCode("add", "--user", h.Email, "--name", "Garage", "--claim")
	config, _ := agentFiles(t)
	own := filepath.Join(t.TempDir(), "credentials.json")
	claim := func(code, server, file string, more ...string) invocation {
		return invocation{args: append([]string{"agent", "--claim", code, "--server", server, "--credentials", file}, more...)}
	}
	for says, bad := range map[string]invocation{
		"authority with --tls-ca":  claim(made.Code, h.BaseURL, own),
		"does not take the code":   claim("BCDF-GHJK-LMNP", h.BaseURL, own, "--tls-ca", c.certFile),
		"cannot be kept":           claim(made.Code, h.BaseURL, filepath.Join(own, "file"), "--tls-ca", c.certFile),
		"is plain http to another": claim(made.Code, "http://192.0.2.1", own),
		"could not be redeemed":    claim(made.Code, "https://127.0.0.1:1", own),
	} {
		out, said, err := bad.run()
		if err == nil || !strings.Contains(said, says) || strings.Contains(out+said, "ltc_") {
			t.Errorf("%s: %v, %s%s", says, err, out, said)
		}
	}
	out, said, err := claim(made.Code, h.BaseURL, own, "--tls-ca", c.certFile).run()
	if err != nil || !strings.Contains(out, `the controller "Garage"`) || strings.Contains(out+said, "ltc_") {
		t.Fatalf("%v, %s%s", err, out, said)
	}
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if out := lintel(t, "agent", "--config", config, "--credentials", own, "--check"); out != "the configuration is valid\n" {
		t.Errorf("it said %q", out)
	}
	if said := refused(t, claim(made.Code, h.BaseURL, own, "--tls-ca", c.certFile)); !strings.Contains(said, "is there already") {
		t.Errorf("a second time: %s", said)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	kept := parsed[credentials](t, string(text))
	fleet := start(t, "sim", "--broker", h.MQTT, "--credentials", own, "--tls-ca", c.certFile, "--verbose")
	eventually(t, "the claimed controller to connect", func() bool {
		return strings.Contains(h.stderr.String(), `msg="controller connected" controller=`+kept.ID) || strings.Contains(fleet.stderr.String(), "cannot connect")
	})
	if strings.Contains(fleet.stderr.String(), "cannot connect") || strings.Contains(h.stderr.String(), kept.Secret) {
		t.Errorf("%s", fleet.stderr)
	}
}
