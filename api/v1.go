// Package api holds the wire types of the public HTTP API, shared by the server
// and its clients. It imports nothing of Lintel.
package api

// The paths of the v1 dialect.
const (
	V1Prefix        = "/api/oauth/v1/endpoints/"
	V1Toggle        = V1Prefix + "toggle"
	V1Sync          = V1Prefix + "sync"
	V1ToggleHistory = V1Prefix + "toggle-history"
	V1UserInfo      = V1Prefix + "user-info"
)

// Headers of Lintel's own.
const (
	// HeaderCommandID names the command that a toggle was recorded as.
	HeaderCommandID = "Lintel-Command-Id"
	// HeaderReason says in one word why a toggle was not taken, or why there was nothing to do.
	HeaderReason = "Lintel-Reason"
)

// The door states of the v1 dialect, as requested and as reported.
const (
	V1Open   = "OPEN"
	V1Closed = "CLOSED"
)

// V1ToggleRequest is the body of a toggle. Both fields are required.
type V1ToggleRequest struct {
	DoorID    string `json:"door_id"`    // UUID, with or without dashes
	DoorState string `json:"door_state"` // OPEN or CLOSED
}

// V1Answer is the body of every toggle answer, and of every error.
type V1Answer struct {
	Success   bool   `json:"success"`   // true in every variant, errors included
	Timestamp int64  `json:"timestamp"` // Unix time in milliseconds
	Message   string `json:"message"`   // "200", or a text for people
}

// V1SyncAnswer lists the bearer's controllers.
type V1SyncAnswer struct {
	Devices []V1Device `json:"devices"`
}

// V1Device is a controller. Fields that Lintel has no fact for are kept for
// compatibility and hold a fixed value.
type V1Device struct {
	ID               string   `json:"id"` // UUID
	Active           bool     `json:"active"`
	Registered       bool     `json:"registered"`
	Entities         int      `json:"number_of_entities_controlled"`
	OwnerFirstName   string   `json:"owner_first_name"`
	OwnerLastName    string   `json:"owner_last_name"`
	LastContact      *string  `json:"last_contact"` // "YYYY-MM-DD HH:MM:SS" in UTC; null for never
	SoftwareVersion  string   `json:"software_version"`
	BlackboxCode     string   `json:"blackbox_code"`               // 16 hexadecimal digits
	OpenAlertDelay   int      `json:"time_before_door_open_alert"` // seconds
	BluetoothOnboard bool     `json:"bluetooth_onboard"`           // always false
	BluetoothMAC     string   `json:"bluetooth_mac_address"`       // always empty
	Doors            []V1Door `json:"doors"`
}

// V1Door is a door.
type V1Door struct {
	ID                 string        `json:"id"`            // UUID
	EntityNumber       int           `json:"entity_number"` // from 1, in its device
	Name               string        `json:"name"`
	Active             bool          `json:"active"`
	State              string        `json:"state"` // CLOSED only on fresh evidence, else OPEN
	StateDetail        V1StateDetail `json:"state_detail"`
	LastToggled        *string       `json:"last_toggled"`                   // last reported change, like last_contact
	UserRelationship   string        `json:"user_relationship"`              // Owner
	Image              string        `json:"image"`                          // deprecated, always empty
	Light              bool          `json:"light"`                          // deprecated, always false
	Sensor             bool          `json:"sensor"`                         // a door sensor is within reach
	BluetoothSensor    bool          `json:"bluetooth_sensor"`               // always false
	BluetoothSensorMAC string        `json:"bluetooth_sensor_mac_address"`   // always empty
	BatteryLevel       int           `json:"bluetooth_sensor_battery_level"` // always 0
	AutoClose          bool          `json:"door_auto_close_enabled"`
	AutoCloseDelay     int           `json:"door_auto_close_delay"` // seconds
}

// V1StateDetail is the full truth about a door's state.
type V1StateDetail struct {
	Value      string  `json:"value"`       // closed, opening, open, closing, stopped or unknown
	Source     string  `json:"source"`      // sensor, opener or inferred
	Fresh      bool    `json:"fresh"`       // recent enough to say where the door is now
	Since      *string `json:"since"`       // RFC 3339 in UTC, when the value began; null when unknown
	ObservedAt *string `json:"observed_at"` // RFC 3339 in UTC, when last heard; null for never
}

// V1HistoryAnswer is the history of the bearer's doors.
type V1HistoryAnswer struct {
	Success   bool      `json:"success"`
	Timestamp int64     `json:"timestamp"` // Unix time in milliseconds
	Data      V1History `json:"data"`
}

// V1History lists what happened, the latest first, 1000 lines at the most.
type V1History struct {
	ToggleEvents []V1ToggleEvent `json:"toggle_events"`
}

// V1ToggleEvent is a door that was seen to arrive at an end, or a request that came to nothing.
type V1ToggleEvent struct {
	DoorID     string        `json:"door_id"` // UUID
	DoorName   string        `json:"door_name"`
	DoorState  string        `json:"door_state"` // OPEN or CLOSED: where the door is, or was asked to go
	Channel    string        `json:"channel"`    // name of the app, "Lintel" for a token without one, "Door Sensor" where nobody is known to have asked
	User       V1ToggledUser `json:"user"`
	WasSuccess bool          `json:"was_success"`
	ToggledAt  string        `json:"toggle_date_time"` // "YYYY-MM-DD HH:MM:SS" in UTC
}

// V1ToggledUser is who asked; every field is empty where nobody is known to have.
type V1ToggledUser struct {
	ID        string `json:"id"` // UUID
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email_address"`
}

// V1UserInfoAnswer says who the bearer is.
type V1UserInfoAnswer struct {
	Success   bool     `json:"success"`
	Timestamp int64    `json:"timestamp"` // Unix time in milliseconds
	Data      V1Person `json:"data"`
}

// V1Person is a person, as far as apps have a use for it.
type V1Person struct {
	ID        string `json:"id"` // UUID
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}
