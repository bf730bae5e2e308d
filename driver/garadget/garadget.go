// Package garadget translates for Garadget controllers with firmware 1.26 and MQTT.
//
// A Garadget has one detector, which sees the closed door, and one relay, which
// presses the opener's button. Its other words are reckoned: "open" is what
// follows "opening" after a while, and "stopped" is a close that did not arrive.
// So to the door machine it is a one-button opener with a sensor at the closed
// end, and nothing else that it says is evidence. Such a door is opened from its
// closed end, and closed by a command only where nothing else moves it.
package garadget

import (
	"fmt"
	"net/netip"
	"strings"

	"lintel"
	"lintel/driver"
)

// maxName is the longest device name of the firmware.
const maxName = 30

type garadget struct{}

// New returns the driver. Settings.Base is the device's name, or the Particle
// device id of a device without a name.
func New() driver.Driver { return garadget{} }

// Name returns "garadget".
func (garadget) Name() string { return "garadget" }

// Capabilities are open and close alone. Its stop presses the button as often as it guesses.
func (garadget) Capabilities() driver.Capabilities { return driver.Capabilities{} }

// Check refuses names that the firmware would change, and a door's part of a topic.
func (garadget) Check(s driver.Settings) error {
	switch {
	case s.Base == "":
		return invalid("enter the name of the Garadget, or its device id if it has no name")
	case len(s.Base) > maxName:
		return invalid(fmt.Sprintf("the name is longer than the %d characters that a Garadget keeps", maxName))
	case strings.ContainsFunc(s.Base, unprintable):
		return invalid("the name has characters that a Garadget drops: use letters without accents, digits and spaces")
	case strings.Contains(s.Base, "_"):
		return invalid("the name contains _, which a Garadget turns into a space: enter the space")
	case strings.ContainsAny(s.Base, `"\`):
		return invalid(`the name must not contain " or \, which a Garadget changes`)
	case strings.ContainsAny(s.Base, "/+#"):
		return invalid("the name must not contain /, + or #, which MQTT keeps for itself")
	case strings.HasPrefix(s.Base, "$"):
		return invalid("the name must not begin with $, which MQTT keeps for itself")
	case s.Entity != "":
		return invalid("a Garadget has one door: leave the door's own part of the topic empty")
	}
	return nil
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }

func invalid(message string) error {
	return &lintel.Error{Code: lintel.CodeInvalid, Message: message}
}

// Topics may contain spaces, as the name may.
func (garadget) Topics(s driver.Settings) driver.Topics {
	return driver.Topics{
		Publish:   []string{topic(s, "status"), topic(s, "config"), topic(s, "LWT")},
		Subscribe: []string{topic(s, "command"), topic(s, "set-config")},
		Commands:  []string{topic(s, "command")},
		Presence:  topic(s, "LWT"),
		Gone:      "Offline",
	}
}

func topic(s driver.Settings, name string) string { return "garadget/" + s.Base + "/" + name }

// Setup names the firmware's settings.
func (garadget) Setup(s driver.Settings, login driver.Login) string {
	var b strings.Builder
	fmt.Fprintf(&b, "In the Garadget's settings, enter\n\n")
	fmt.Fprintf(&b, "  nme:   %s\n", s.Base)
	if s.Upstream {
		fmt.Fprintf(&b, "\nA device without a name uses its device id; then leave nme empty.\n")
		fmt.Fprintf(&b, "%s", sees)
		return b.String()
	}
	fmt.Fprintf(&b, "  mqtt:  2 (MQTT only), or 3 to keep the cloud beside it\n")
	fmt.Fprintf(&b, "  mqip:  %s\n", login.Host)
	fmt.Fprintf(&b, "  mqpt:  %d\n", login.Port)
	fmt.Fprintf(&b, "  mqus:  %s\n", login.Username)
	fmt.Fprintf(&b, "  mqpw:  %s\n", login.Password)
	fmt.Fprintf(&b, "\nA device without a name uses its device id; then leave nme empty.\n")
	fmt.Fprintf(&b, "%s", sees)
	if a, err := netip.ParseAddr(login.Host); err != nil || !a.Is4() {
		fmt.Fprintf(&b, "The firmware finds the server by an IPv4 address only: enter that of %s.\n", login.Host)
	}
	if login.TLS {
		fmt.Fprintf(&b, "The firmware has no TLS: it needs a port without, inside your own network.\n")
	}
	return b.String()
}

const sees = "A Garadget sees the closed door only, so Lintel opens the door with it and does not close it.\n"

// Device returns the translation for one connection.
func (garadget) Device(s driver.Settings) driver.Device { return &device{settings: s} }
