// Package esphome translates for covers of ESPHome over MQTT, as of 2024.11, among
// them those of esphome-ratgdo and Konnected.
//
// A cover has an open, a close and a stop, and tells its state and often its
// position. It has no word for a door that rests between its ends: it says
// "open". Some firmware has but one button behind it, and from there presses it
// whichever way it goes. So such a door counts as open after it went up, from
// where a press brings it down as asked, and as unknown in every other case.
package esphome

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lintel"
	"lintel/driver"
)

// What topics are made of is bounded.
const (
	maxPrefix = 200
	maxEntity = 120
)

type esphome struct{}

// New returns the driver. Settings.Base is the topic_prefix, Settings.Entity the
// object id of the cover: its name in lower case, with _ for what is no letter,
// digit or hyphen.
func New() driver.Driver { return esphome{} }

// Name returns "esphome".
func (esphome) Name() string { return "esphome" }

// Capabilities are those of the firmware. Konnected warns for 5 s by itself before
// it closes; others do not, and which it is cannot be told over MQTT.
func (esphome) Capabilities() driver.Capabilities {
	return driver.Capabilities{Stop: true, Light: true, Lock: true, Obstruction: true, Position: true}
}

// Check refuses a prefix that does not work, and what is no object id.
func (esphome) Check(s driver.Settings) error {
	switch {
	case s.Base == "":
		return invalid("enter the topic_prefix of the ESPHome device; without one of your own, it is the device's name")
	case len(s.Base) > maxPrefix:
		return invalid(fmt.Sprintf("the topic_prefix is longer than %d bytes", maxPrefix))
	case !utf8.ValidString(s.Base) || strings.ContainsFunc(s.Base, unicode.IsControl):
		return invalid("the topic_prefix is not text without control characters")
	case strings.ContainsAny(s.Base, "+#"):
		return invalid("the topic_prefix must not contain + or #, which MQTT keeps for itself")
	case strings.HasPrefix(s.Base, "$"):
		return invalid("the topic_prefix must not begin with $, which MQTT keeps for itself")
	case strings.HasSuffix(s.Base, "/"):
		return invalid("the topic_prefix must not end with a slash; ESPHome adds its own")
	case s.Entity == "":
		return invalid("enter the object id of the cover: its name in lower case, with _ for spaces")
	case len(s.Entity) > maxEntity:
		return invalid(fmt.Sprintf("the object id of the cover is longer than %d bytes", maxEntity))
	case strings.ContainsFunc(s.Entity, foreign):
		return invalid("the object id of the cover has characters other than a-z, 0-9, _ and -: write the name in lower case, with _ for spaces")
	}
	return nil
}

// foreign reports whether an object id cannot contain r.
func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

func invalid(message string) error {
	return &lintel.Error{Code: lintel.CodeInvalid, Message: message}
}

// Topics are everything below the prefix, and the cover's two commands. ESPHome
// does without the topics of other entities, which it also subscribes to. At the
// owner's broker they are those that Receive reads, and a question.
func (esphome) Topics(s driver.Settings) driver.Topics {
	t := driver.Topics{
		Publish:   []string{s.Base + "/#"},
		Subscribe: []string{cover(s, "command"), cover(s, "position/command")},
		Commands:  []string{cover(s, "command")},
		Presence:  s.Base + "/status",
		Gone:      "offline",
	}
	if s.Upstream {
		t.Publish = []string{t.Presence, cover(s, "state"), cover(s, "position/state"), obstruction(s)}
		t.Subscribe = append(t.Subscribe, question(s))
	}
	return t
}

func obstruction(s driver.Settings) string { return s.Base + "/binary_sensor/obstruction/state" }

// question is a topic of Lintel's, which Setup has the device answer.
func question(s driver.Settings) string { return s.Base + "/lintel/ask" }

func cover(s driver.Settings, name string) string { return s.Base + "/cover/" + s.Entity + "/" + name }

// Setup is the mqtt block of the device's YAML file.
func (esphome) Setup(s driver.Settings, login driver.Login) string {
	if s.Upstream {
		return setupUpstream(s)
	}
	var b strings.Builder
	b.WriteString("# In the YAML file of the device. It needs ESPHome 2024.11 or later.\n")
	b.WriteString("# Without Home Assistant, remove the api block: the device restarts when nobody uses it.\n")
	b.WriteString("mqtt:\n")
	fmt.Fprintf(&b, "  broker: %s\n", strconv.Quote(login.Host))
	fmt.Fprintf(&b, "  port: %d\n", login.Port)
	if login.TLS {
		b.WriteString("  # This port speaks TLS: add the certificate_authority of the server.\n")
	}
	if login.ClientID != "" {
		fmt.Fprintf(&b, "  client_id: %s\n", strconv.Quote(login.ClientID))
	}
	fmt.Fprintf(&b, "  username: %s\n", strconv.Quote(login.Username))
	fmt.Fprintf(&b, "  password: %s\n", strconv.Quote(login.Password))
	fmt.Fprintf(&b, "  topic_prefix: %s\n", strconv.Quote(s.Base))
	b.WriteString("  discovery: false\n")
	b.WriteString("  discover_ip: false\n")
	b.WriteString("  clean_session: true\n")
	b.WriteString("  log_topic: null\n")
	return b.String()
}

// setupUpstream has the device say where its door is when it is asked. By itself it
// says so only when it connects and when the door moves.
func setupUpstream(s driver.Settings) string {
	return `# In the YAML file of the device. It needs ESPHome 2024.11 or later. Add to the mqtt
# block that is there, with the id of the cover (add an id to the cover if it has none):
mqtt:
  topic_prefix: ` + strconv.Quote(s.Base) + `
  on_message:
    - topic: ` + strconv.Quote(question(s)) + `
      then:
        - lambda: id(ID_OF_THE_COVER).publish_state(false);
# Without the lines on on_message, the device is taken for gone 90 seconds after its last
# word, until its door moves or it connects anew: it is asked whether it is still there.
`
}

// Device returns the translation for one connection.
func (esphome) Device(s driver.Settings) driver.Device {
	return &device{settings: s, position: unheard}
}
