package tasmota

import (
	"encoding/json"
	"strings"

	"lintel/door"
	"lintel/driver"
)

// Receive implements driver.Device. A switch is ON while its contact is closed,
// which is the closed door.
func (d device) Receive(m driver.Message) []door.Input {
	if !d.sensor || len(m.Payload) > maxPayload {
		return nil
	}
	if topic, ok := strings.CutPrefix(m.Topic, "tele/"+d.base+"/"); ok {
		return telemetry(topic, m.Payload)
	}
	if topic, ok := strings.CutPrefix(m.Topic, "stat/"+d.base+"/"); ok {
		return answer(topic, m.Payload)
	}
	return nil
}

// telemetry is what comes by itself: LWT, and SENSOR every TelePeriod and, under
// SwitchMode 15 and 16, at each change.
func telemetry(topic string, payload []byte) []door.Input {
	switch topic {
	case "LWT":
		if string(payload) == "Offline" {
			return sensed(door.Lost)
		}
	case "SENSOR":
		var sensors switches
		if json.Unmarshal(payload, &sensors) == nil {
			return position(sensors.Switch1)
		}
	}
	return nil
}

// answer is what comes for a command or for a detached switch (SetOption114). Its
// topic is SWITCH1 instead of RESULT under SetOption4, and STATUS8 instead of
// STATUS10 from older firmware.
func answer(topic string, payload []byte) []door.Input {
	switch topic {
	case "RESULT", "SWITCH1":
		var result struct {
			Switch1 struct{ Action string }
		}
		if json.Unmarshal(payload, &result) == nil {
			return position(result.Switch1.Action)
		}
	case "STATUS10", "STATUS8":
		var status struct{ StatusSNS switches }
		if json.Unmarshal(payload, &status) == nil {
			return position(status.StatusSNS.Switch1)
		}
	}
	return nil
}

type switches struct{ Switch1 string }

// position knows ON and OFF. TOGGLE, HOLD and the like are of other switch modes
// and do not say where a contact is.
func position(state string) []door.Input {
	switch state {
	case "ON":
		return sensed(door.At)
	case "OFF":
		return sensed(door.Away)
	}
	return nil
}

func sensed(r door.Reading) []door.Input {
	return []door.Input{door.Sensed{End: door.ClosedEnd, Reading: r}}
}
