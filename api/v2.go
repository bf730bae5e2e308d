package api

// V2Claims is where hardware redeems a one-time claim code (POST, JSON): a
// V2ClaimRequest gets 201 with a V2Claimed, once. Errors are V2Problems: 400, 404 for
// a code that is not good, 405, 413, 415, 429 with Retry-After, 500.
const V2Claims = "/api/v2/claims"

// ProblemType is the media type of a V2Problem (RFC 9457 §3).
const ProblemType = "application/problem+json"

// V2ClaimRequest is what hardware sends.
type V2ClaimRequest struct {
	Code string `json:"code"` // as its owner was shown it; dashes, spaces and case do not matter
}

// V2Claimed is what hardware needs to connect as a controller. The secret is not given
// again.
type V2Claimed struct {
	ControllerID string          `json:"controller_id"` // UUID; MQTT client id and user name
	Name         string          `json:"name"`
	Secret       string          `json:"secret"` // MQTT password
	MQTT         V2MQTT          `json:"mqtt"`
	Doors        []V2ClaimedDoor `json:"doors"` // by number
}

// V2MQTT is the service's own endpoint for controllers, on the host that the claim was
// sent to.
type V2MQTT struct {
	Port int  `json:"port"`
	TLS  bool `json:"tls"`
}

// V2ClaimedDoor is a door that is enrolled at the controller.
type V2ClaimedDoor struct {
	DoorID string `json:"door_id"`
	Number int    `json:"number"` // 1 to 32
	Name   string `json:"name"`
}

// V2Problem is an error (RFC 9457).
type V2Problem struct {
	Title  string `json:"title"` // the status in words; its type is about:blank
	Status int    `json:"status"`
	Detail string `json:"detail"` // what a person can do about it
	Code   string `json:"code"`   // for programs: invalid, not_found, too_many and so on
}
