// Package lintel holds the nouns of the door control service: the values that
// every other package speaks in. It does no I/O and imports only the standard
// library.
package lintel

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Person is an account holder.
type Person struct {
	ID         ID
	Email      string // compared without regard to letter case; stored lower case
	GivenName  string
	FamilyName string
	CreatedAt  time.Time
	DisabledAt time.Time // zero while the account is in use
}

// Controller is the hardware at one or more doors. It connects to the broker
// with its ID and its own secret.
type Controller struct {
	ID            ID
	OwnerID       ID
	Name          string // the "hardware name" in messages to callers
	Firmware      string // as the controller reported it; empty until its first hello
	Driver        string // that translates for it; empty where it speaks the controller protocol
	Settings      string // of the driver, as JSON
	CreatedAt     time.Time
	LastContactAt time.Time // zero until its first hello
}

// Door is one door at a controller, as last stored.
type Door struct {
	ID           ID
	ControllerID ID
	Number       int // 1 to MaxDoors, unique within its controller
	Name         string
	State        DoorState
	ChangedAt    time.Time // when its controller last reported a change; zero for never
}

// ControllerEvent is something that happened to a controller, for its owner.
type ControllerEvent struct {
	ID           ID
	ControllerID ID
	Kind         ControllerEventKind
	Detail       string // such as the network addresses concerned; may be empty
	At           time.Time
}

// ControllerEventKind is what happened to a controller.
type ControllerEventKind string

// The kinds.
const (
	SecondConnection   ControllerEventKind = "second_connection" // a newer connection took the place of one that was there
	ControllerClaimed  ControllerEventKind = "claimed"           // hardware got its credentials by a one-time code
	ControllerRotated  ControllerEventKind = "rotated"           // it was given a new secret
	ControllerRevoked  ControllerEventKind = "revoked"           // it is refused for good
	ControllerReleased ControllerEventKind = "released"          // its owner offers it to somebody else
	ControllerKept     ControllerEventKind = "kept"              // and no longer does
	ControllerTaken    ControllerEventKind = "taken"             // it came from another owner
	ControllerGone     ControllerEventKind = "gone"              // it went to another owner
)

// MaxName is the longest name of a controller, door or person, in bytes.
const MaxName = 64

// CheckName reports whether a name can be shown anywhere: 1 to MaxName bytes of
// UTF-8 without control characters. what names it in the error, which has CodeInvalid.
func CheckName(what, name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, misleading) {
		return &Error{Code: CodeInvalid, Message: fmt.Sprintf("the %s is not 1 to %d bytes of text without control characters", what, MaxName)}
	}
	return nil
}

// misleading reports whether a character is not seen, or changes how others are read.
func misleading(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// MaxDoors is how many doors one controller may have.
const MaxDoors = 32

// DoorState is what a controller said of a door, with its provenance.
type DoorState struct {
	Value      string    // closed, opening, open, closing, stopped or unknown
	Source     string    // sensor, opener or inferred
	SensorLost bool      // a fitted sensor is out of reach, or none was ever paired
	Since      time.Time // when the value began; zero when unknown
	ObservedAt time.Time // when the service last heard the controller say so; zero when never
}

// The values of DoorState that more than one package must name.
const (
	ValueUnknown = "unknown"
	ValueClosed  = "closed"

	SourceInferred = "inferred"
)

// Action is what a command asks of a door.
type Action string

// The actions.
const (
	ActionOpen  Action = "open"
	ActionClose Action = "close"
	ActionStop  Action = "stop"
)

// Command is one request to move a door, as recorded before its controller is told.
type Command struct {
	ID           ID
	DoorID       ID
	ControllerID ID
	DoorNumber   int
	PersonID     ID
	TokenID      ID
	ClientID     string // the app that the token was given to; empty for none
	Action       Action
	RequestedAt  time.Time
	Deadline     time.Time // the controller must not act after this
	Outcome      Outcome
}

// Status is how far a command has come.
type Status string

// The statuses. A command is sent once and never again by itself; every status
// but StatusSent is final.
const (
	StatusSent        Status = "sent"        // recorded; the controller may have been told
	StatusTaken       Status = "taken"       // the controller took it (code 200)
	StatusRefused     Status = "refused"     // the controller answered another code
	StatusUnreachable Status = "unreachable" // the controller was not connected; nothing was sent
	StatusUnanswered  Status = "unanswered"  // no answer before the deadline
	StatusUnknown     Status = "unknown"     // the service stopped before the answer was recorded
)

// Outcome is what became of a command.
type Outcome struct {
	Status    Status
	Code      int       // the controller's answer from the interface's table; 0 for none
	Reason    string    // the controller's or the service's reason; empty for none
	SettledAt time.Time // zero while StatusSent
	Late      *LateAnswer
}

// LateAnswer is an answer that came after the command's deadline. It is kept
// for the record and changes nothing else.
type LateAnswer struct {
	Code   int
	Reason string
	At     time.Time
}

// DoorEvent is one change of a door's state as its controller reported it.
// Events of a door are ordered by (Session, Sequence), not by arrival.
type DoorEvent struct {
	ID         string // chosen by the controller, unique for it; repeats are one event
	DoorID     ID
	Session    int64 // the service's count of the controller's sessions, from 1
	Sequence   int64 // the controller's count of its reports in that session, from 1
	State      DoorState
	Cause      string // command, local or unknown
	CommandID  ID     // the command that the door moved for, or failed to; empty for none
	Reason     string // why the door is not where that command sent it; empty otherwise
	OccurredAt time.Time
	ReceivedAt time.Time
}
