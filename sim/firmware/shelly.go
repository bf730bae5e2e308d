package firmware

import (
	"encoding/json"
	"time"

	"lintel/door"
)

// shelly is Gen2: a relay at the opener's button, and a reed sensor at input 0.
type shelly struct {
	*Device
	closed bool
	on     bool
	pulse  *time.Timer
}

// Shelly returns a device. Base is its MQTT prefix, which is its id.
func Shelly(c Config) *Device {
	d := newDevice(c, profile{
		clientID: c.Base, keepAlive: time.Minute,
		will:       message{c.Base + "/online", "false", 0, true},
		subscribes: []string{c.Base + "/rpc", c.Base + "/rpc/#", c.Base + "/command", c.Base + "/command/#"},
		retry:      2 * time.Second, retryMost: time.Minute, sensors: 1,
	})
	s := &shelly{Device: d}
	d.does = s
	return d
}

// object is a JSON object.
type object map[string]any

func (s *shelly) connected() {
	s.retain(s.Base+"/online", "true")
	if !s.Faults.LosesReports {
		s.notify("NotifyFullStatus", object{"input:0": s.input(), "switch:0": s.relay("init")})
	}
}

func (s *shelly) input() object { return object{"id": 0, "state": s.closed} }

func (s *shelly) relay(source string) object {
	return object{"id": 0, "output": s.on, "source": source}
}

func (s *shelly) notify(method string, params object) {
	params["ts"] = float64(s.Now().UnixMilli()) / 1000
	s.send(s.Base+"/events/rpc", object{"src": s.Base, "dst": s.Base + "/events", "method": method, "params": params})
}

func (s *shelly) send(topic string, frame object) {
	if payload, err := json.Marshal(frame); err == nil {
		s.say(topic, string(payload))
	}
}

func (s *shelly) sensed(_ door.End, there bool) {
	s.closed = there
	if s.Faults.Deltas {
		s.notify("NotifyStatus", object{"input:0": object{"id": 0}, "sys": object{"uptime": 1}})
		s.notify("NotifyStatus", object{"input:1": object{"id": 1, "state": true}})
	}
	s.unasked(func() { s.notify("NotifyStatus", object{"input:0": s.input()}) })()
}

// call is a request.
type call struct {
	ID     json.RawMessage
	Src    string
	Method string
	Params struct {
		ID          int
		On          bool
		ToggleAfter float64 `json:"toggle_after"` // seconds
	}
}

// told answers to the topic that the request names.
func (s *shelly) told(topic, payload string) {
	var c call
	if topic != s.Base+"/rpc" || json.Unmarshal([]byte(payload), &c) != nil || c.Src == "" {
		return
	}
	answer := object{"id": c.ID, "src": s.Base, "dst": c.Src}
	switch {
	case c.Params.ID != 0:
		answer["error"] = object{"code": -105, "message": "Argument 'id', value not found!"}
	case c.Method == "Input.GetStatus":
		answer["result"] = s.input()
	case c.Method == "Switch.GetStatus":
		answer["result"] = s.relay("MQTT")
	case c.Method == "Switch.Set":
		answer["result"] = object{"was_on": s.on}
		s.turn(c.Params.On, time.Duration(c.Params.ToggleAfter*float64(time.Second)))
	default:
		answer["error"] = object{"code": 404, "message": "No handler for " + c.Method}
	}
	s.send(c.Src+"/rpc", answer)
}

// turn presses the button when the relay closes; after a while it may turn back.
func (s *shelly) turn(on bool, back time.Duration) {
	if on && !s.on {
		s.actuate(door.Pulse)
	}
	if s.pulse != nil {
		s.pulse.Stop()
	}
	if s.on != on {
		s.on = on
		s.notify("NotifyStatus", object{"switch:0": s.relay("MQTT")})
	}
	if back > 0 {
		s.pulse = s.after(back, func() { s.turn(!on, 0) })
	}
}
