package firmware

import (
	"fmt"
	"strings"
	"time"

	"lintel/door"
)

// garadget is firmware 1.26: one relay at the opener's button, and one detector that
// sees the closed door. What else it says is reckoned.
type garadget struct {
	*Device
	status string
	since  time.Time
	due    *time.Timer // when it reckons that a movement has ended
}

// Garadget returns a device. Base is its name.
func Garadget(c Config) *Device {
	topic := "garadget/" + c.Base
	d := newDevice(c, profile{
		clientID: c.Base, keepAlive: 15 * time.Second,
		will:       message{topic + "/LWT", "Offline", 0, true},
		subscribes: []string{topic + "/command", topic + "/set-config"},
		retry:      5 * time.Second, retryMost: time.Minute, sensors: 1,
	})
	g := &garadget{Device: d, status: "open", since: c.Now()} // which is what it says before it has looked
	d.does = g
	return d
}

// mtt is its setting for the longest time that the door moves.
func (g *garadget) mtt() time.Duration { return g.Travel + g.Travel/6 }

// rlp is its pause between two presses.
const rlp = time.Second

func (g *garadget) connected() {
	g.retain("garadget/"+g.Base+"/LWT", "Online")
	if !g.Faults.LosesReports {
		g.report()
	}
}

func (g *garadget) report() {
	g.retain("garadget/"+g.Base+"/status", fmt.Sprintf(`{"status":"%s","time":"%ds","sensor":%d,"bright":12,"signal":-61}`,
		g.status, int((g.Now().Sub(g.since)+g.Faults.StaleTime).Seconds()), map[bool]int{true: 84, false: 6}[g.status == "closed"]))
}

// is changes the status, and once mtt is over again, if then is not empty.
func (g *garadget) is(status, then string) {
	if g.due != nil {
		g.due.Stop()
	}
	g.status, g.since = status, g.Now()
	g.unasked(g.report)()
	if then != "" {
		since := g.since
		g.due = g.after(g.mtt(), func() {
			if g.status == status && g.since.Equal(since) {
				g.is(then, "")
			}
		})
	}
}

func (g *garadget) sensed(_ door.End, there bool) {
	switch {
	case there:
		g.is("closed", "")
	case g.status == "closed":
		g.is("opening", "open")
	}
}

func (g *garadget) told(topic, payload string) {
	if topic != "garadget/"+g.Base+"/command" {
		return
	}
	moving := g.status == "opening" || g.status == "closing"
	switch {
	case payload == "get-status":
		g.report()
	case strings.HasPrefix(payload, "open") && g.status != "open" && g.status != "opening":
		g.press(map[bool]int{true: 2, false: 1}[g.status == "stopped"])
		if g.status != "closed" { // from there, the detector says so
			g.is("opening", "open")
		}
	case strings.HasPrefix(payload, "clos") && g.status != "closed" && g.status != "closing":
		g.press(map[bool]int{true: 2, false: 1}[g.status == "opening"])
		g.is("closing", "stopped")
	case strings.HasPrefix(payload, "stop") && moving:
		g.press(map[bool]int{true: 2, false: 1}[g.status == "closing"])
		g.is("stopped", "")
	}
}

// press presses the button, some times.
func (g *garadget) press(times int) {
	g.actuate(door.Pulse)
	if times > 1 {
		g.after(rlp, func() { g.press(times - 1) })
	}
}
