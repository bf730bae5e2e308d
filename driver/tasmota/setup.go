package tasmota

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lintel/driver"
)

// maxTopic is the longest Topic.
const maxTopic = 32

// Check implements driver.Driver.
func (Driver) Check(s driver.Settings) error {
	switch {
	case s.Base == "":
		return errors.New("give the device's Topic, for example tasmota_A1B2C3")
	case len(s.Base) > maxTopic:
		return fmt.Errorf("a Tasmota Topic has at most %d bytes", maxTopic)
	case !utf8.ValidString(s.Base) || strings.ContainsFunc(s.Base, forbidden):
		return errors.New("a Tasmota Topic has no spaces, control characters, quotes or any of $ % + # ; \\")
	case strings.HasPrefix(s.Base, "/") || strings.HasSuffix(s.Base, "/") || strings.Contains(s.Base, "//"):
		return errors.New("a Tasmota Topic neither begins nor ends with a slash, and has no two in a row")
	case s.Base == "tasmotas":
		return errors.New("tasmotas is the Topic of all Tasmota devices together; give the device one of its own")
	case s.Entity != "":
		return errors.New("a Tasmota device has one door, on its first relay; leave the entity empty")
	case !s.Sensor:
		return errors.New("a relay does not know where the door is: wire a reed sensor at the closed end to Switch1, and enrol the device with a sensor")
	}
	return nil
}

// forbidden are the characters that MQTT, the firmware or its console gives a
// meaning of its own.
func forbidden(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune("$%+#;\"'\\", r)
}

// Setup implements driver.Driver: what to type on the firmware's console. The
// sensor's lines come first, because the MQTT ones restart the device.
func (Driver) Setup(s driver.Settings, login driver.Login) string {
	var b strings.Builder
	b.WriteString(`In the device's console, one line after the other:

Backlog SwitchMode1 15; SetOption114 1; PulseTime1 10; PowerOnState 0; PowerRetain 0; SwitchRetain 0; ButtonRetain 0; SensorRetain 0
`)
	if s.Upstream {
		b.WriteString(wiring)
		return b.String()
	}
	fmt.Fprintf(&b, "Backlog MqttHost %s; MqttPort %d; MqttUser %s; MqttPassword %s", login.Host, login.Port, login.Username, login.Password)
	if login.ClientID != "" {
		fmt.Fprintf(&b, "; MqttClient %s", login.ClientID)
	}
	if login.TLS {
		b.WriteString("; SetOption103 1")
	}
	fmt.Fprintf(&b, "; FullTopic %%prefix%%/%%topic%%/; Topic %s\n", s.Base)
	if login.TLS {
		b.WriteString("\nThe ready-made builds for the ESP8266 have no TLS; use one that has.\n")
	}
	b.WriteString(wiring)
	return b.String()
}

const wiring = `
The opener's button is on the first relay and the reed sensor on Switch1, between
its pin and GND. SwitchMode1 15 and SetOption114 1 keep the sensor from switching
the relay: without them the door would move whenever the sensor changes.
PulseTime1 10 ends each press after one second.

Close the door and enter Status 10: it must say "Switch1":"ON". If it says OFF, the
sensor's contact opens at the closed door. Better turn it into one that closes: with
SwitchMode1 16 instead, a cut wire would look like a closed door.
`
