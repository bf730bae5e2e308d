// Package protocol is the controller protocol, version 1: topics, messages and
// the rules by which a controller refuses a command. docs/controller-protocol.md
// specifies it for firmware authors; this package is used by both sides.
package protocol

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
)

// Version is the protocol version in every message and topic.
const Version = 1

// Limits of the protocol.
const (
	MaxPayload  = 4096             // bytes of any message
	MaxDoors    = 32               // doors at one controller
	MaxLead     = 60 * time.Second // a deadline further ahead than this is refused
	KeepAlive   = 15 * time.Second // MQTT keep-alive of a controller
	ReportEvery = 30 * time.Second // a door's state is repeated at least this often
	TimeEvery   = 60 * time.Second // a controller asks for the time at least this often
)

// The last part of each topic. A controller publishes all but TopicCommand and
// TopicTime, and subscribes to those two.
const (
	TopicHello       = "hello"
	TopicCommand     = "cmd"
	TopicAck         = "ack"
	TopicState       = "state"
	TopicTimeRequest = "time/request"
	TopicTime        = "time"
	TopicWill        = "will"
)

// Topic returns a controller's full topic, lintel/v1/<controller>/<name>.
func Topic(controller, name string) string {
	return "lintel/v1/" + controller + "/" + name
}

// Up lists the names of the topics that a controller publishes.
var Up = []string{TopicHello, TopicAck, TopicState, TopicTimeRequest, TopicWill}

// Down lists the names of the topics that a controller subscribes to.
var Down = []string{TopicCommand, TopicTime}

// The answer codes of an Ack: the interface's table.
const (
	CodeTaken        = 200
	CodeMalformed    = 400
	CodeAuth         = 401
	CodeUnreachable  = 404
	CodePrecondition = 428
	CodeUnsupported  = 501
)

// Hello opens a session on a new connection.
type Hello struct {
	Version  int    `json:"v"`
	Session  string `json:"session"`  // chosen by the controller at random for each connection
	Firmware string `json:"firmware"` // for people; at most 64 bytes, no control characters
	Doors    []int  `json:"doors"`    // the door numbers it serves, 1 to MaxDoors
}

// Command asks a controller to move a door.
type Command struct {
	Version  int    `json:"v"`
	ID       string `json:"id"`       // UUID
	Session  string `json:"session"`  // the session it was made for
	Sequence int64  `json:"seq"`      // from 1, higher with each command of the session
	Door     int    `json:"door"`     // door number
	Action   string `json:"action"`   // open, close or stop
	Deadline int64  `json:"deadline"` // service time, ms: not to be acted on after this
}

// Ack answers a Command.
type Ack struct {
	Version int    `json:"v"`
	ID      string `json:"id"` // the command's
	Session string `json:"session"`
	Code    int    `json:"code"`             // 200, 400, 401, 404, 428 or 501
	Reason  string `json:"reason,omitempty"` // a Refusal or another short word; at most 64 characters
}

// State reports a door.
type State struct {
	Version  int    `json:"v"`
	Session  string `json:"session"`
	Sequence int64  `json:"seq"` // from 1, higher with each report of the session
	Door     int    `json:"door"`
	Value    string `json:"value"`             // closed, opening, open, closing, stopped or unknown
	Source   string `json:"source"`            // sensor, opener or inferred
	Sensor   string `json:"sensor"`            // ok or lost
	Since    int64  `json:"since"`             // service time, ms, when the value began
	Event    string `json:"event,omitempty"`   // set on a change: names it once and for all
	Cause    string `json:"cause,omitempty"`   // with Event: command, local or unknown
	Command  string `json:"command,omitempty"` // with Event: the id of the command that the door moved for, or failed to
	Reason   string `json:"reason,omitempty"`  // with Event: why the door is not where the command sent it; at most 64 characters
}

// TimeRequest asks for the service's time.
type TimeRequest struct {
	Version int    `json:"v"`
	Session string `json:"session"`
	Nonce   int64  `json:"nonce"` // comes back in the answer
}

// Time answers a TimeRequest.
type Time struct {
	Version int    `json:"v"`
	Session string `json:"session"`
	Nonce   int64  `json:"nonce"`
	Now     int64  `json:"now"` // service time, ms
}

// Will ends a session: the controller publishes it before it leaves on purpose,
// and leaves it with the broker for when the connection breaks. Lintel's own
// broker sees that by itself; other brokers do not.
type Will struct {
	Version int    `json:"v"`
	Session string `json:"session"`
}

// Message is any of the messages.
type Message interface{ validate() error }

// Encode returns m as JSON. It panics on an invalid message, which is a fault
// of the program and never of its input.
func Encode(m Message) []byte {
	if err := m.validate(); err != nil {
		panic("protocol: " + err.Error())
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("protocol: " + err.Error())
	}
	return b
}

// Decode reads one message strictly: a JSON object of at most MaxPayload bytes,
// valid UTF-8, no duplicate names, nothing after it, every field in its limits.
// Unknown fields are ignored, so that a later version can add some.
func Decode[M any, P interface {
	*M
	Message
}](payload []byte) (M, error) {
	var m M
	if len(payload) > MaxPayload {
		return m, fmt.Errorf("message of %d bytes exceeds %d", len(payload), MaxPayload)
	}
	if err := json.Unmarshal(payload, &m); err != nil {
		return m, err
	}
	return m, P(&m).validate()
}

// CommandID returns the id in a payload that failed to decode as a Command, so
// that the refusal can name it; empty when there is none.
func CommandID(payload []byte) string {
	var m struct {
		ID string `json:"id"`
	}
	if len(payload) > MaxPayload || json.Unmarshal(payload, &m) != nil || !idForm.MatchString(m.ID) {
		return ""
	}
	return m.ID
}

var (
	sessionForm = regexp.MustCompile(`^[A-Za-z0-9_-]{16,64}$`)
	idForm      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	wordForm    = regexp.MustCompile(`^[a-z0-9_]{0,64}$`)
)

func head(version int, session string) error {
	if version != Version {
		return fmt.Errorf("version %d is not %d", version, Version)
	}
	if !sessionForm.MatchString(session) {
		return errors.New("session is not 16 to 64 of A-Z a-z 0-9 _ -")
	}
	return nil
}

func doorNumber(n int) error {
	if n < 1 || n > MaxDoors {
		return fmt.Errorf("door %d is not 1 to %d", n, MaxDoors)
	}
	return nil
}

func oneOf(name, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return fmt.Errorf("%s %q is not one of %q", name, value, allowed)
}

func form(name, value string, re *regexp.Regexp) error {
	if !re.MatchString(value) {
		return fmt.Errorf("%s is not of the form %s", name, re)
	}
	return nil
}

func positive(name string, n int64) error {
	if n < 1 {
		return fmt.Errorf("%s is not positive", name)
	}
	return nil
}

// maxTime is the end of the year 9999 in Unix milliseconds.
const maxTime = 253_402_300_799_999

func serviceTime(name string, ms int64) error {
	if ms < 1 || ms > maxTime {
		return fmt.Errorf("%s is not a time of 1 to %d", name, int64(maxTime))
	}
	return nil
}

func (m *Hello) validate() error {
	if len(m.Firmware) > 64 || strings.ContainsFunc(m.Firmware, unicode.IsControl) {
		return errors.New("firmware is longer than 64 bytes or has control characters")
	}
	if len(m.Doors) == 0 || len(m.Doors) > MaxDoors {
		return fmt.Errorf("doors is not a list of 1 to %d", MaxDoors)
	}
	for _, n := range m.Doors {
		if err := doorNumber(n); err != nil {
			return err
		}
	}
	return head(m.Version, m.Session)
}

func (m *Command) validate() error {
	return errors.Join(head(m.Version, m.Session), form("id", m.ID, idForm), positive("seq", m.Sequence),
		doorNumber(m.Door), oneOf("action", m.Action, "open", "close", "stop"), serviceTime("deadline", m.Deadline))
}

func (m *Ack) validate() error {
	var code error
	switch m.Code {
	case CodeTaken, CodeMalformed, CodeAuth, CodeUnreachable, CodePrecondition, CodeUnsupported:
	default:
		code = fmt.Errorf("code %d is not in the table", m.Code)
	}
	return errors.Join(head(m.Version, m.Session), form("id", m.ID, idForm), code, form("reason", m.Reason, wordForm))
}

func (m *State) validate() error {
	err := errors.Join(head(m.Version, m.Session), positive("seq", m.Sequence), doorNumber(m.Door),
		oneOf("value", m.Value, "closed", "opening", "open", "closing", "stopped", "unknown"),
		oneOf("source", m.Source, "sensor", "opener", "inferred"), oneOf("sensor", m.Sensor, "ok", "lost"),
		serviceTime("since", m.Since))
	if m.Event == "" {
		return err
	}
	err = errors.Join(err, form("event", m.Event, sessionForm), form("reason", m.Reason, wordForm),
		oneOf("cause", m.Cause, "command", "local", "unknown"))
	if m.Command != "" || m.Cause == "command" {
		err = errors.Join(err, form("command", m.Command, idForm))
	}
	return err
}

func (m *TimeRequest) validate() error { return head(m.Version, m.Session) }

func (m *Time) validate() error {
	return errors.Join(head(m.Version, m.Session), serviceTime("now", m.Now))
}

func (m *Will) validate() error { return head(m.Version, m.Session) }
