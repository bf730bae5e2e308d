// Package ratgdo translates for ratgdo boards with their MQTT firmware 2.58,
// connected to a Security+ opener or to dry contacts.
//
// The firmware has commands named open, close and stop, but all of them press the
// opener's one button, and it only leaves out a press where the door is known to
// be there already. So to the door machine it is a one-button opener that reports
// its own state: pressed at an end, or against the last movement that the opener
// itself reported, and never while the door moves. There is no stop, because a
// press stops some closing doors and sends others up.
package ratgdo

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"lintel"
	"lintel/driver"
)

// maxBase leaves room in the firmware's 768 bytes for one packet.
const maxBase = 200

type ratgdo struct{}

// New returns the driver. Settings.Base is the topic that the firmware makes of
// its settings mqttTopicPrefix and deviceName, which it joins with nothing between.
func New() driver.Driver { return ratgdo{} }

// Name returns "ratgdo".
func (ratgdo) Name() string { return "ratgdo" }

// Capabilities are those of a Security+ opener; dry contacts have no light and no lock.
// The firmware has a stop, which this driver does not use: to the door machine, the
// opener has one button.
func (ratgdo) Capabilities() driver.Capabilities {
	return driver.Capabilities{Light: true, Lock: true, Obstruction: true}
}

// Check refuses a base topic that does not work, and a door's part of a topic.
func (ratgdo) Check(s driver.Settings) error {
	switch {
	case s.Base == "":
		return invalid("enter the base topic of the ratgdo: its topic prefix and its device name, joined")
	case len(s.Base) > maxBase:
		return invalid(fmt.Sprintf("the base topic is longer than %d bytes", maxBase))
	case !utf8.ValidString(s.Base) || strings.ContainsFunc(s.Base, unicode.IsControl):
		return invalid("the base topic is not text without control characters")
	case strings.ContainsAny(s.Base, "+#"):
		return invalid("the base topic must not contain + or #, which MQTT keeps for itself")
	case strings.HasPrefix(s.Base, "$"):
		return invalid("the base topic must not begin with $, which MQTT keeps for itself")
	case strings.HasSuffix(s.Base, "/"):
		return invalid("the base topic ends with a slash: it must end with the device name")
	case s.Entity != "":
		return invalid("a ratgdo has one door: leave the door's own part of the topic empty")
	}
	return nil
}

func invalid(message string) error {
	return &lintel.Error{Code: lintel.CodeInvalid, Message: message}
}

// Topics are all statuses, and commands as the firmware subscribes to them.
func (ratgdo) Topics(s driver.Settings) driver.Topics {
	commands := s.Base + "/command/#"
	return driver.Topics{
		Publish:   []string{s.Base + "/status/#"},
		Subscribe: []string{commands},
		Commands:  []string{commands},
		Presence:  s.Base + "/status/availability",
		Gone:      "offline",
	}
}

// Setup names the firmware's settings. The prefix takes everything to the last slash.
func (ratgdo) Setup(s driver.Settings, login driver.Login) string {
	name := strings.LastIndex(s.Base, "/") + 1
	var b strings.Builder
	fmt.Fprintf(&b, "On the ratgdo's settings page, enter\n\n")
	fmt.Fprintf(&b, "  deviceName:       %s\n", s.Base[name:])
	fmt.Fprintf(&b, "  mqttTopicPrefix:  %s\n", s.Base[:name])
	if s.Upstream {
		return b.String()
	}
	fmt.Fprintf(&b, "  MQTT server IP:   %s\n", login.Host)
	fmt.Fprintf(&b, "  MQTT port:        %d\n", login.Port)
	fmt.Fprintf(&b, "  MQTT username:    %s\n", login.Username)
	fmt.Fprintf(&b, "  MQTT password:    %s\n", login.Password)
	fmt.Fprintf(&b, "\nThe topic prefix and the device name are joined as they are: keep a slash at the prefix's end.\n")
	if a, err := netip.ParseAddr(login.Host); err != nil || !a.Is4() {
		fmt.Fprintf(&b, "The firmware finds the server by an IPv4 address only: enter that of %s.\n", login.Host)
	}
	if login.TLS {
		fmt.Fprintf(&b, "The firmware has no TLS: it needs a port without, inside your own network.\n")
	}
	return b.String()
}

// Device returns the translation for one connection.
func (ratgdo) Device(s driver.Settings) driver.Device {
	return &device{base: s.Base, travel: s.Travel}
}
