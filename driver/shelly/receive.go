package shelly

import (
	"encoding/json"

	"lintel/door"
	"lintel/driver"
)

// frame is a notification or an answer of the device.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Src    string          `json:"src"`
	Dst    string          `json:"dst"`
	Method string          `json:"method"`
	Params struct {
		Input *input `json:"input:0"`
	} `json:"params"`
	Result *input          `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// input is the status of the first input, or a part of it. State is null where
// the input is set up as a button, and absent where it did not change.
type input struct {
	ID    *int            `json:"id"`
	State json.RawMessage `json:"state"`
}

// Receive implements driver.Device. An input is true while its contact is
// closed, which is the closed door.
func (d device) Receive(m driver.Message) []door.Input {
	if !d.sensor || len(m.Payload) > maxPayload {
		return nil
	}
	switch m.Topic {
	case d.base + "/online":
		return offline(m.Payload)
	case d.base + "/events/rpc":
		return d.notified(m.Payload)
	case d.base + "/status/input:0":
		var status input
		if json.Unmarshal(m.Payload, &status) == nil {
			return status.inputs()
		}
	case source(d.base) + "/rpc":
		return d.answered(m.Payload)
	}
	return nil
}

// notified reads a change, which has only what changed and is laid over what is
// known, or the full status, in which an input that is missing is gone.
func (d device) notified(payload []byte) []door.Input {
	var f frame
	if json.Unmarshal(payload, &f) != nil || f.Src != d.id || f.Error != nil {
		return nil
	}
	switch {
	case f.Method != "NotifyStatus" && f.Method != "NotifyFullStatus":
		return nil
	case f.Params.Input != nil:
		return f.Params.Input.inputs()
	case f.Method == "NotifyFullStatus":
		return sensed(door.Lost)
	}
	return nil
}

// answered reads the answer to askInput. That a pulse was taken says nothing
// about the door, and an error says nothing at all.
func (d device) answered(payload []byte) []door.Input {
	var f frame
	if json.Unmarshal(payload, &f) != nil || f.Src != d.id || f.Dst != source(d.base) || f.Error != nil {
		return nil
	}
	if string(f.ID) != "1" || f.Result == nil {
		return nil
	}
	return f.Result.inputs()
}

// inputs is what a status says. An input without a state is set up as a button
// and cannot show where the door is.
func (i input) inputs() []door.Input {
	if i.ID == nil || *i.ID != 0 {
		return nil
	}
	switch string(i.State) {
	case "true":
		return sensed(door.At)
	case "false":
		return sensed(door.Away)
	case "null":
		return sensed(door.Lost)
	}
	return nil
}

// offline is the will of both generations; true is not news, for who is
// connected is known without it.
func offline(payload []byte) []door.Input {
	if string(payload) == "false" {
		return sensed(door.Lost)
	}
	return nil
}

func sensed(r door.Reading) []door.Input {
	return []door.Input{door.Sensed{End: door.ClosedEnd, Reading: r}}
}
