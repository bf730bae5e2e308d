package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"
)

// ports are the ports of the schemes of MQTTUpstream.
var ports = map[string]string{"mqtt": "1883", "tls": "8883"}

// upstreamURL takes a scheme, a host, maybe a user name and maybe a port. A password
// in it would be seen wherever the address is.
func upstreamURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	c.MQTTUpstream = &url.URL{Scheme: "tls"} // a wrong one is given all the same: what goes with it is not at fault
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Hostname() == "" || ports[u.Scheme] == "" || u.Path+u.RawQuery+u.Fragment != "":
		return errors.New("is not tls://HOST:PORT or mqtt://HOST:PORT, with USER@ before the host where the broker wants a name")
	case hasPassword(u):
		return errors.New("has a password; give it as mqtt-upstream-password, in the environment or the file")
	}
	port := cmp.Or(u.Port(), ports[u.Scheme])
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return errors.New("has a port that is not 1 to 65535")
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	c.MQTTUpstream = u
	return nil
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has
}

// checkUpstream looks at what belongs to the upstream broker together.
func (c Config) checkUpstream() []error {
	var faults []error
	secure := c.MQTTUpstream != nil && c.MQTTUpstream.Scheme == "tls"
	if c.MQTTUpstream == nil && c.MQTTUpstreamPassword != "" {
		faults = append(faults, errors.New("--mqtt-upstream-password goes with --mqtt-upstream"))
	}
	if c.MQTTUpstreamCA != "" && !secure {
		faults = append(faults, errors.New("--mqtt-upstream-ca goes with an --mqtt-upstream that begins with tls://"))
	}
	if c.MQTTUpstream != nil && !secure && !c.AllowPlaintext && !loopback(c.MQTTUpstream.Host) {
		faults = append(faults, errors.New(
			"--mqtt-upstream mqtt://... would carry commands and its password in plain text beyond this machine; give tls://..., or --allow-plaintext on a network that you trust"))
	}
	if c.MQTTUpstream != nil && c.Deadline > 0 && c.Deadline < leastUpstream { // 0 is a fault of its own
		faults = append(faults, fmt.Errorf(
			"--deadline %s is too short for --mqtt-upstream, which needs %s or more: a broker counts in whole seconds when it lets a command expire", c.Deadline, leastUpstream))
	}
	return faults
}

// leastUpstream is the shortest deadline of commands that go through a broker. They
// expire there after a second, which is two where its clock has just begun one
// (MQTT 5, 3.3.2.3.3), and are to be gone when their caller is told that they failed.
const leastUpstream = 3 * time.Second
