package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"lintel"
	"lintel/api"
	"lintel/control"
)

// maxBody is the longest request body in bytes.
const maxBody = 16 << 10

// readToggle reads a toggle's body strictly: one JSON object in UTF-8 without
// duplicate names, both fields present and allowed; unknown ones are ignored.
// status is 0, or the status that tells what is wrong.
func readToggle(r *http.Request) (request control.Request, status int) {
	body, status := readJSON(r)
	if status != 0 {
		return control.Request{}, status
	}
	var fields struct {
		DoorID    *string `json:"door_id"`
		DoorState *string `json:"door_state"`
	}
	if json.Unmarshal(body, &fields) != nil || fields.DoorID == nil || fields.DoorState == nil {
		return control.Request{}, http.StatusBadRequest
	}
	door, err := lintel.ParseID(*fields.DoorID)
	if err != nil {
		return control.Request{}, http.StatusBadRequest
	}
	switch *fields.DoorState {
	case api.V1Open:
		return control.Request{Door: door, Action: lintel.ActionOpen}, 0
	case api.V1Closed:
		return control.Request{Door: door, Action: lintel.ActionClose}, 0
	}
	return control.Request{}, http.StatusBadRequest
}

// readJSON returns a body that says it is JSON, or the status to refuse it with.
func readJSON(r *http.Request) (body []byte, status int) {
	if !isJSON(r.Header) {
		return nil, http.StatusUnsupportedMediaType
	}
	if r.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// isJSON reports whether a request body is announced as JSON in UTF-8, as it is.
func isJSON(h http.Header) bool {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}
