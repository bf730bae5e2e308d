package shelly

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lintel/driver"
)

// maxTopic is the longest prefix or id.
const maxTopic = 64

var errSensor = errors.New("a relay does not know where the door is: wire a reed sensor at the closed end to the first input, and enrol the device with a sensor")

// Check implements driver.Driver.
func (Driver) Check(s driver.Settings) error {
	if err := checkName("MQTT prefix", s.Base); err != nil {
		return err
	}
	if s.Entity != "" {
		if err := checkName("device id", s.Entity); err != nil {
			return err
		}
	}
	if !s.Sensor {
		return errSensor
	}
	return nil
}

// Check implements driver.Driver.
func (Gen1) Check(s driver.Settings) error {
	if err := checkName("device id", s.Base); err != nil {
		return err
	}
	switch {
	case strings.Contains(s.Base, "/"):
		return errors.New("give the device id without shellies/ and without slashes, for example shelly1-68C63AFA0C2B")
	case s.Base == "command" || s.Base == "announce":
		return fmt.Errorf("shellies/%s is of all Shelly devices together; give the device a name of its own", s.Base)
	case s.Entity != "":
		return errors.New("a Shelly of the first generation has no entities; leave the entity empty")
	case !s.Sensor:
		return errSensor
	}
	return nil
}

func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("give the device's %s, as its own pages show it", what)
	case len(name) > maxTopic:
		return fmt.Errorf("the %s has at most %d bytes", what, maxTopic)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, forbidden):
		return fmt.Errorf("the %s has no spaces, control characters, quotes or any of $ %% + # ? \\", what)
	case strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//"):
		return fmt.Errorf("the %s neither begins nor ends with a slash, and has no two in a row", what)
	}
	return nil
}

func forbidden(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune("$%+#?\"'\\", r)
}

// Setup implements driver.Driver: the fields of the device's own pages.
func (Driver) Setup(s driver.Settings, login driver.Login) string {
	var b strings.Builder
	b.WriteString("On the device's page, Settings, MQTT:\n\n")
	field(&b, "Enable MQTT", "on")
	switch {
	case s.Upstream:
	case login.TLS:
		field(&b, "Connection type", "TLS, with the CA that signed the server's certificate")
	default:
		field(&b, "Connection type", "No SSL")
	}
	field(&b, "MQTT prefix", s.Base)
	field(&b, "Enable MQTT control", "off")
	field(&b, "Enable RPC over MQTT", "on")
	field(&b, "RPC status notifications over MQTT", "on")
	field(&b, "Generic status update over MQTT", "off")
	if !s.Upstream {
		field(&b, "Server", fmt.Sprintf("%s:%d", login.Host, login.Port))
		if login.ClientID != "" {
			field(&b, "Client ID", login.ClientID)
		}
		field(&b, "Username", login.Username)
		field(&b, "Password", login.Password)
	}
	b.WriteString("\nOn the page of the relay, Output (0), and of the input, Input (0):\n\n")
	field(&b, "Input type", "Switch")
	field(&b, "Relay type", "Detached, so that the sensor never moves the door")
	field(&b, "Invert", "off")
	field(&b, "Power on default", "Off")
	field(&b, "Auto OFF", "1 second")
	b.WriteString(wiring)
	return b.String()
}

// Setup implements driver.Driver: the fields of the device's own pages.
func (Gen1) Setup(s driver.Settings, login driver.Login) string {
	var b strings.Builder
	if login.TLS {
		b.WriteString("This generation has no TLS: it needs a listener without, on a network that you trust.\n\n")
	}
	b.WriteString("On the device's page, Internet & Security, Advanced - Developer Settings:\n\n")
	field(&b, "Enable action execution via MQTT", "on")
	if !s.Upstream {
		field(&b, "Username", login.Username)
		field(&b, "Password", login.Password)
		field(&b, "Server", fmt.Sprintf("%s:%d", login.Host, login.Port))
	}
	field(&b, "Clean Session", "on")
	field(&b, "Retain", "off")
	field(&b, "Max QoS", "0")
	field(&b, "Use custom MQTT prefix", s.Base+" (or off, if that is its device id)")
	b.WriteString("\nOn the page of the relay:\n\n")
	field(&b, "Timer, Auto OFF", "1 second: without it the opener's button stays pressed")
	field(&b, "Power on default mode", "Off")
	field(&b, "Button type", "Detached switch, so that the sensor never moves the door")
	field(&b, "Reverse input", "off")
	b.WriteString(wiring)
	return b.String()
}

const wiring = `
The reed sensor goes on the first input. Its contact must be closed while the door
is: a cut wire then looks like an open door and nothing moves. With a contact that
opens at the closed door the input would have to be inverted, and a cut wire would
look like a closed door.
`

func field(b *strings.Builder, name, value string) { fmt.Fprintf(b, "  %-36s%s\n", name+":", value) }
