package e2e

import (
	"crypto/tls"
	"net/http"
	"regexp"
	"strings"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
)

var servingPlain = regexp.MustCompile(`msg="serving devices without TLS" mqtt=(\S+)`)

// TestDevicesWithoutTLSHaveAnAddressOfTheirOwn: beside one with TLS, at which everything
// else connects.
func TestDevicesWithoutTLSHaveAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := newCertificate(t)
	h := startHouse(t, "--tls-cert", c.certFile, "--tls-key", c.keyFile, "--mqtt-plain", "127.0.0.1:0")
	found := servingPlain.FindStringSubmatch(h.stderr.String())
	if found == nil {
		t.Fatal("it does not say where it serves devices without TLS")
	}
	own := *h
	own.MQTT = found[1]
	const base = "home/garage/GlassDoor"
	v := own.addVendor("ratgdo", "--base", base)
	d := own.plug(v, base, "GlassDoor", base+"/status/availability", "offline")
	d.ratgdo(t, "closed")
	visitor := c.over(&tls.Config{})
	eventually(t, "the device to be moved", func() bool {
		res, err := visitor.Do(request("POST", h.BaseURL+togglePath, h.Token, strings.NewReader(toggleBody(v.door(), "OPEN"))))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	made := h.addController(h.Email, "Native")
	native := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + own.MQTT).SetClientID(made.ID).SetUsername(made.ID).
		SetPassword(made.Secret).SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false))
	if refusal := native.Connect(); !refusal.WaitTimeout(patience) || refusal.Error() == nil {
		t.Error("a controller of the protocol is let in without TLS")
	}
}
