package firmware

import "lintel/door"

// opener is a door whose firmware knows how it moves: from the opener's own bus, or
// from sensors at both ends.
type opener struct {
	device  *Device
	value   door.Value
	last    door.Direction // the last movement
	changed func()         // called after each change of value
}

// sensed follows the door from end to end.
func (o *opener) sensed(end door.End, there bool) {
	switch {
	case there && end == door.ClosedEnd:
		o.is(door.Closed, door.Down)
	case there:
		o.is(door.Open, door.Up)
	case end == door.ClosedEnd && o.value == door.Closed:
		o.is(door.Opening, door.Up)
	case end == door.OpenEnd && o.value == door.Open:
		o.is(door.Closing, door.Down)
	}
}

func (o *opener) is(v door.Value, last door.Direction) {
	o.last = last
	if o.value != v {
		o.value = v
		o.changed()
	}
}

func (o *opener) moves() bool { return o.value == door.Opening || o.value == door.Closing }

// drive is an opener with a command for each way, and one to stop. A door that
// leaves an end says so itself.
func (o *opener) drive(e door.Effect) {
	if o.device.Faults.Ignores {
		return
	}
	o.device.actuate(e)
	switch {
	case e == door.DriveStop && o.moves():
		o.is(door.Stopped, o.last)
	case e == door.DriveOpen && (o.value == door.Stopped || o.value == door.Closing):
		o.is(door.Opening, door.Up)
	case e == door.DriveClose && (o.value == door.Stopped || o.value == door.Opening):
		o.is(door.Closing, door.Down)
	}
}

// press is an opener's one button.
func (o *opener) press() {
	if o.device.Faults.Ignores {
		return
	}
	o.device.actuate(door.Pulse)
	switch {
	case o.moves():
		o.is(door.Stopped, o.last)
	case o.value == door.Stopped && o.last == door.Down:
		o.is(door.Opening, door.Up)
	case o.value == door.Stopped:
		o.is(door.Closing, door.Down)
	}
}

// actuate moves the one door of a device.
func (d *Device) actuate(e door.Effect) {
	if !d.Faults.Ignores {
		_ = d.door.Actuate(1, e) // which fails for a door that is not there
	}
}
