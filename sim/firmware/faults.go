package firmware

import "time"

// Faults are what firmware is known to do that makes it hard to drive, and what happens
// to any. The zero value has none of it: a firmware that answers at once and obeys. A
// fault that a firmware does not have changes nothing there.
//
// Not among them is what each emulator always does, as its firmware: it obeys a retained
// command at its next connection, and it writes online and offline its own way.
type Faults struct {
	Ignores      bool // every one: commands are taken, and the door does not move
	LosesReports bool // every one: what it says of a change unasked never arrives; of OpenGarage, every OUT/JSON; of Garadget and Shelly, also what they say when they connect

	Guard    time.Duration // ratgdo: after its first connection it ignores all it is told, for RatgdoGuard, and never again
	LateWill bool          // ratgdo: the will of its old connection comes after the new one's "online"

	Alarm time.Duration // OpenGarage: it beeps before each movement, for OpenGarageAlarm; Konnected on ESPHome before it closes, and says closing all the while
	Waits bool          // OpenGarage: it says where its door is with its next periodic report only, not when it connects

	StaleTime time.Duration // Garadget: how much too long ago its status says that it began

	Deltas bool // Tasmota, Shelly Gen2: it also sends messages with a part of its state, which say nothing of the door
}

// The firmware's own times for faults.
const (
	RatgdoGuard     = 10 * time.Second
	OpenGarageAlarm = 5 * time.Second // option Sound Alarm; Konnected's warning is as long
)

// unasked is a report of a change, which is lost with LosesReports. What the device sees
// at power on is no change.
func (d *Device) unasked(report func()) func() {
	return func() {
		if !d.Faults.LosesReports || d.seen < d.has.sensors {
			report()
		}
	}
}
