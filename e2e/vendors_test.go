package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// device is an emulated firmware at the service's MQTT endpoint: it connects by
// TCP and does what the firmware is known to do.
type device struct {
	t    *testing.T
	mqtt paho.Client
	base string

	mu    sync.Mutex // guards what follows
	state string
	log   []string // commands as they arrived, with what was done
}

// vendor is what lintel controller add --driver --json prints.
type vendor struct {
	credentials
	Driver string `json:"driver"`
	Setup  string `json:"setup"`

	Publishes []string `json:"publishes"` // with --upstream
	Commands  []string `json:"commands"`
}

func (h *house) addVendor(driver string, args ...string) vendor {
	h.t.Helper()
	arguments := append([]string{"controller", "add", "--data", h.Data, "--json", "--user", h.Email, "--name", driver, "--driver", driver}, args...)
	v := parsed[vendor](h.t, lintel(h.t, arguments...))
	if !strings.Contains(v.Setup, v.Secret) || !strings.Contains(v.Setup, v.ID) {
		h.t.Errorf("the printed settings lack the credentials:\n%s", v.Setup)
	}
	return v
}

// plug connects a device with a firmware's own client id and will.
func (h *house) plug(v vendor, base, clientID, will, gone string) *device {
	h.t.Helper()
	return plugInto(h.t, base, paho.NewClientOptions().AddBroker("tcp://"+h.MQTT).SetClientID(clientID).
		SetUsername(v.ID).SetPassword(v.Secret).SetWill(will, gone, 1, false))
}

// plugInto connects a device to any broker.
func plugInto(t *testing.T, base string, options *paho.ClientOptions) *device {
	t.Helper()
	d := &device{t: t, base: base, state: "unknown"}
	d.mqtt = paho.NewClient(options.SetProtocolVersion(4).SetAutoReconnect(false))
	d.wait(d.mqtt.Connect())
	t.Cleanup(func() { d.mqtt.Disconnect(0) })
	return d
}

func (d *device) wait(token paho.Token) {
	d.t.Helper()
	if !token.WaitTimeout(patience) || token.Error() != nil {
		d.t.Fatalf("the broker does not answer: %v", token.Error())
	}
}

// say publishes as firmware does: retained, which must not matter.
func (d *device) say(topic, payload string) { d.mqtt.Publish(d.base+topic, 0, true, payload) }

// did notes a command.
func (d *device) did(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, what)
}

func (d *device) commands() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.log...)
}

// is changes the state and says so.
func (d *device) is(topic, state string) {
	d.mu.Lock()
	d.state = state
	d.mu.Unlock()
	d.say(topic, state)
}

func (d *device) now() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// ratgdo plays its MQTT firmware: states on change and after a query only, and
// from "stopped" a blind toggle.
func (d *device) ratgdo(t *testing.T, state string) {
	t.Helper()
	d.mu.Lock()
	d.state = state
	d.mu.Unlock()
	move := func(through, to string) {
		d.is("/status/door", through)
		time.AfterFunc(50*time.Millisecond, func() { d.is("/status/door", to) })
	}
	d.wait(d.mqtt.Subscribe(d.base+"/command/#", 0, func(_ paho.Client, m paho.Message) {
		if m.Retained() {
			t.Error("a retained command arrived")
		}
		command := strings.TrimPrefix(m.Topic(), d.base+"/command") + " " + string(m.Payload())
		now := d.now()
		switch {
		case string(m.Payload()) == "query":
			d.say("/status/door", "unknown")
			d.say("/status/door", now)
			return
		case command == "/door open" && now != "open" && now != "opening":
			move("opening", "open")
		case command == "/door close" && now != "closed" && now != "closing":
			move("closing", "closed")
		}
		d.did(command + " at " + now)
	}))
	d.say("/status/availability", "online")
}

// TestRatgdo opens and closes a door at the firmware's own topics, and refuses
// where the firmware would toggle blindly.
func TestRatgdo(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	const base = "home/garage/GlassDoor"
	v := h.addVendor("ratgdo", "--base", base, "--travel", "2s")
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusNotFound {
		t.Errorf("before it connects: %d", r.Status)
	}
	d := h.plug(v, base, "GlassDoor", base+"/status/availability", "offline")
	d.ratgdo(t, "closed")
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusOK {
		t.Fatalf("open: %d %s %q", r.Status, r.Body, r.Header.Get("Lintel-Reason"))
	}
	h.awaitDoor(v.door(), "open/opener/true/OPEN")
	if r := h.toggle(v.door(), "CLOSED"); r.Status != http.StatusOK {
		t.Fatalf("close: %d %s", r.Status, r.Body)
	}
	h.awaitDoor(v.door(), "closed/opener/true/CLOSED")
	if got := strings.Join(d.commands(), ", "); got != "/door open at closed, /door close at open" {
		t.Errorf("it was told %s", got)
	}
	d.is("/status/door", "stopped")
	eventually(t, "the stop to be seen", func() bool { return !strings.HasPrefix(h.listed(v.door()).String(), "closed") })
	if r := h.toggle(v.door(), "CLOSED"); r.Status != http.StatusPreconditionRequired {
		t.Errorf("from stopped: %d %s", r.Status, r.Body)
	}
	if got := len(d.commands()); got != 2 {
		t.Errorf("it was told %v", d.commands())
	}
	d.mqtt.Disconnect(0)
	eventually(t, "the device to be offline", func() bool { return h.toggle(v.door(), "OPEN").Status == http.StatusNotFound })
	var moved []string
	for _, e := range h.events(v.door()) {
		moved = append(moved, e.Value+" by "+e.Cause)
	}
	if got := strings.Join(moved, ", "); !strings.Contains(got, "opening by command") || !strings.Contains(got, "closing by command") {
		t.Errorf("the history says %s", got)
	}
}

// played is one firmware, as it is known to behave, and what it should be told.
type played struct {
	driver string
	args   []string
	base   string
	will   string
	gone   string
	listen string // its subscription
	// told takes a command; by calling the device's methods it moves the door.
	told func(d *device, topic, payload string)
	// ready says where the door is, as the firmware does when it connects.
	ready  func(d *device)
	closed string // as sync shows it
	open   string
	closes bool // a close is possible: else it is refused
	want   string
}

// moves goes through states, 50 ms apart, by saying them.
func (d *device) moves(say ...func()) {
	for i, one := range say {
		time.AfterFunc(time.Duration(i)*50*time.Millisecond, one)
	}
}

func firmwares() []played {
	input := func(on bool) string {
		return `{"src":"shellyplus1-a","dst":"shellyplus1-a/events","method":"NotifyStatus","params":{"ts":1.5,"input:0":{"id":0,"state":` + map[bool]string{true: "true", false: "false"}[on] + `}}}`
	}
	return []played{
		{driver: "esphome", args: []string{"--base", "garage", "--entity", "door"}, base: "garage", will: "garage/status", gone: "offline",
			listen: "garage/cover/door/command", closed: "closed/opener/true/CLOSED", open: "open/opener/true/OPEN", closes: true,
			ready: func(d *device) {
				d.say("/status", "online")
				d.say("/cover/door/position/state", "0")
				d.say("/cover/door/state", "closed")
			},
			told: func(d *device, topic, payload string) {
				state := func(s string) func() { return func() { d.say("/cover/door/state", s) } }
				at := func(p string) func() { return func() { d.say("/cover/door/position/state", p) } }
				if payload == "OPEN" {
					d.moves(state("opening"), at("50"), at("100"), state("open"))
				} else {
					d.moves(state("closing"), at("50"), at("0"), state("closed"))
				}
			},
			want: "garage/cover/door/command OPEN, garage/cover/door/command CLOSE"},
		{driver: "opengarage", args: []string{"--base", "My OpenGarage"}, base: "My OpenGarage", will: "My OpenGarage/OUT/STATUS", gone: "offline",
			listen: "My OpenGarage/IN/#", closed: "closed/opener/true/CLOSED", open: "open/opener/true/OPEN", closes: true,
			ready: func(d *device) {
				d.say("/OUT/STATUS", "online")
				d.say("/OUT/JSON", `{"dist":45,"secv":2,"door":0,"vehicle":2,"name":"My "Open"Garage"}`)
			},
			told: func(d *device, _, payload string) {
				at := func(n string) func() {
					return func() { d.say("/OUT/JSON", `{"dist":45,"secv":2,"door":`+n+`,"vehicle":2,"name":"My"}`) }
				}
				if payload == "open" {
					d.moves(at("4"), at("1"))
				} else {
					d.moves(at("3"), at("0"))
				}
			},
			want: "My OpenGarage/IN/STATE open, My OpenGarage/IN/STATE close"},
		{driver: "garadget", args: []string{"--base", "Main Door", "--sole-control"}, base: "garadget/Main Door", will: "garadget/Main Door/LWT", gone: "Offline",
			listen: "garadget/Main Door/command", closed: "closed/sensor/true/CLOSED", open: "open/inferred/true/OPEN", closes: true,
			ready: func(d *device) { d.say("/LWT", "Online") },
			told: func(d *device, _, payload string) {
				status := func(s string) func() {
					return func() { d.say("/status", `{"status":"`+s+`","time":"10m","sensor":84,"bright":12,"signal":-61}`) }
				}
				switch payload {
				case "get-status":
					status("closed")()
				case "open":
					d.moves(status("opening"), status("open"))
				case "close":
					d.moves(status("closing"), status("closed"))
				}
			},
			want: "garadget/Main Door/command get-status, garadget/Main Door/command open, garadget/Main Door/command close"},
		{driver: "tasmota", args: []string{"--base", "tasmota_A1B2C3", "--sensor"}, base: "", will: "tele/tasmota_A1B2C3/LWT", gone: "Offline",
			listen: "cmnd/tasmota_A1B2C3/#", closed: "closed/sensor/true/CLOSED", open: "open/inferred/true/OPEN",
			ready: func(d *device) { d.say("tele/tasmota_A1B2C3/LWT", "Online") },
			told: func(d *device, topic, _ string) {
				switch {
				case strings.HasSuffix(topic, "/STATUS"):
					d.say("stat/tasmota_A1B2C3/STATUS10", `{"StatusSNS":{"Time":"2026-01-01T00:00:00","Switch1":"ON"}}`)
				case strings.HasSuffix(topic, "/POWER"):
					d.say("stat/tasmota_A1B2C3/RESULT", `{"POWER":"ON"}`)
					d.say("stat/tasmota_A1B2C3/RESULT", `{"Switch1":{"Action":"OFF"}}`)
				}
			},
			want: "cmnd/tasmota_A1B2C3/STATUS 10, cmnd/tasmota_A1B2C3/POWER ON"},
		{driver: "shelly", args: []string{"--base", "shellyplus1-a", "--sensor", "--sole-control"}, base: "shellyplus1-a", will: "shellyplus1-a/online", gone: "false",
			listen: "shellyplus1-a/rpc", closed: "closed/sensor/true/CLOSED", open: "open/inferred/true/OPEN", closes: true,
			ready: func(d *device) { d.say("/online", "true") },
			told: func(d *device, _, payload string) {
				switch {
				case strings.Contains(payload, "Input.GetStatus"):
					d.say("/lintel/rpc", `{"id":1,"src":"shellyplus1-a","dst":"shellyplus1-a/lintel","result":{"id":0,"state":true}}`)
				case d.now() == "away":
					d.is("/status/none", "at")
					d.moves(func() { d.say("/events/rpc", input(true)) })
				default:
					d.is("/status/none", "away")
					d.moves(func() { d.say("/events/rpc", input(false)) })
				}
			},
			want: `shellyplus1-a/rpc {"id":1,"src":"shellyplus1-a/lintel","method":"Input.GetStatus","params":{"id":0}}, ` +
				`shellyplus1-a/rpc {"id":2,"src":"shellyplus1-a/lintel","method":"Switch.Set","params":{"id":0,"on":true,"toggle_after":1}}, ` +
				`shellyplus1-a/rpc {"id":2,"src":"shellyplus1-a/lintel","method":"Switch.Set","params":{"id":0,"on":true,"toggle_after":1}}`},
		{driver: "shelly1", args: []string{"--base", "shelly1-68C63AFA0C2B", "--sensor"}, base: "shellies/shelly1-68C63AFA0C2B",
			will: "shellies/shelly1-68C63AFA0C2B/online", gone: "false",
			listen: "shellies/shelly1-68C63AFA0C2B/relay/0/command", closed: "closed/sensor/true/CLOSED", open: "open/inferred/true/OPEN",
			ready: func(d *device) { d.say("/online", "true"); d.say("/input/0", "1") },
			told:  func(d *device, _, _ string) { d.say("/relay/0", "on"); d.say("/input/0", "0") },
			want:  "shellies/shelly1-68C63AFA0C2B/relay/0/command on"},
	}
}

// TestFirmwares moves the door of each firmware, as it is known to behave, and
// refuses where nobody could know which way it would go.
func TestFirmwares(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	for _, f := range firmwares() {
		t.Run(f.driver, func(t *testing.T) {
			v := h.addVendor(f.driver, append(f.args, "--travel", "1s")...)
			d := h.plug(v, f.base, "id-of-"+f.driver, f.will, f.gone)
			d.wait(d.mqtt.Subscribe(f.listen, 0, func(_ paho.Client, m paho.Message) {
				if m.Retained() {
					t.Error("a retained command arrived")
				}
				d.did(m.Topic() + " " + string(m.Payload()))
				f.told(d, m.Topic(), string(m.Payload()))
			}))
			f.ready(d)
			h.awaitDoor(v.door(), f.closed)
			if r := h.toggle(v.door(), "OPEN"); r.Status != http.StatusOK {
				t.Fatalf("open: %d %q", r.Status, r.Header.Get("Lintel-Reason"))
			}
			h.awaitDoor(v.door(), f.open)
			want := http.StatusPreconditionRequired
			if f.closes {
				want = http.StatusOK
			}
			if r := h.toggle(v.door(), "CLOSED"); r.Status != want {
				t.Errorf("close: %d %q, want %d", r.Status, r.Header.Get("Lintel-Reason"), want)
			}
			if f.closes {
				h.awaitDoor(v.door(), f.closed)
			}
			if got := strings.Join(d.commands(), ", "); got != f.want {
				t.Errorf("it was told\n%s\nwant\n%s", got, f.want)
			}
		})
	}
}
