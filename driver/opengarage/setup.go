package opengarage

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lintel/driver"
)

// maxTopic leaves most of the firmware's buffer of 256 bytes to its reports.
const maxTopic = 32

// Check implements driver.Driver.
func (Driver) Check(s driver.Settings) error {
	switch {
	case s.Base == "":
		return errors.New("give the device's MQTT Topic, or its name if that option is empty")
	case len(s.Base) > maxTopic:
		return fmt.Errorf("the MQTT Topic has at most %d bytes; a longer one crowds the door's state out of the firmware's messages", maxTopic)
	case !utf8.ValidString(s.Base) || strings.ContainsFunc(s.Base, forbidden):
		return errors.New("the MQTT Topic has no control characters, quotes or any of $ + # \\; if the device's name has some, set the option MQTT Topic")
	case strings.HasPrefix(s.Base, "/") || strings.HasSuffix(s.Base, "/") || strings.Contains(s.Base, "//"):
		return errors.New("the MQTT Topic neither begins nor ends with a slash, and has no two in a row")
	case strings.TrimSpace(s.Base) != s.Base:
		return errors.New("the MQTT Topic neither begins nor ends with a space")
	case s.Entity != "":
		return errors.New("an OpenGarage has one door; leave the entity empty")
	}
	return nil
}

func forbidden(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune("$+#\"\\", r)
}

// Setup implements driver.Driver: the fields of the device's options page.
func (Driver) Setup(s driver.Settings, login driver.Login) string {
	var b strings.Builder
	if s.Upstream {
		b.WriteString("On the device's page, Edit Options, Integration:\n\n")
		field(&b, "MQTT Topic", s.Base)
		wiring(&b, s)
		return b.String()
	}
	if login.TLS {
		b.WriteString("This firmware has no TLS: it needs a listener without, on a network that you trust.\n\n")
	}
	b.WriteString("On the device's page, Edit Options, Integration:\n\n")
	field(&b, "Enable MQTT", "on")
	field(&b, "MQTT Server", login.Host)
	field(&b, "MQTT Port", fmt.Sprint(login.Port))
	field(&b, "MQTT Username", login.Username)
	field(&b, "MQTT Password", login.Password)
	field(&b, "MQTT Topic", s.Base)
	if !strings.Contains(login.Host, ".") {
		b.WriteString("\nThe firmware takes a server only with a dot in it: enter its address or full name.\n")
	}
	wiring(&b, s)
	return b.String()
}

// wiring is what has nothing to do with the broker.
func wiring(b *strings.Builder, s driver.Settings) {
	b.WriteString("\nBasic:\n\n")
	field(b, "Sound Alarm", "5 Seconds")
	field(b, "Alarm on Open", "on")
	if s.Sensor {
		field(b, "Security Plus Version", "None")
		field(b, "Sensor Logic", "Switch Sensor Only, with a switch at the closed end")
		field(b, "Switch Sensor", "Normally Closed: a cut wire then looks like an open door")
		b.WriteString(`
The distance sensor alone will do if it is mounted at the side, so that it sees the
closed door. Mounted at the ceiling it sees the open door only, and calls a door that
is half open closed: then use the switch.
`)
	} else {
		field(b, "Security Plus Version", "1.0 or 2.0, as the opener is")
		b.WriteString("\nWithout Security+, enrol the device with a sensor.\n")
	}
	b.WriteString(`
Change the device key from its default, and keep automatic closing off on the device:
it presses the button whichever way the door then goes.
`)
}

func field(b *strings.Builder, name, value string) { fmt.Fprintf(b, "  %-24s%s\n", name+":", value) }
