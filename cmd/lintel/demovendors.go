package main

import (
	"time"

	"lintel/driver"
	"lintel/sim"
	"lintel/sim/firmware"
)

// demoVendor is one emulated device and how it is enrolled.
type demoVendor struct {
	driver   string
	settings driver.Settings
	emulate  func(firmware.Config) *firmware.Device
}

// name returns the driver's name, or nothing for hardware without one.
func (v *demoVendor) name() string {
	if v == nil {
		return ""
	}
	return v.driver
}

// device returns the device with the credentials of a unit.
func (v *demoVendor) device(broker string, u sim.Unit, now func() time.Time) *firmware.Device {
	return v.emulate(firmware.Config{
		Broker: broker, Username: u.ID, Password: u.Secret,
		Base: v.settings.Base, Entity: v.settings.Entity, Travel: demoTravel, Now: now,
	})
}

// vendorHouse has one device for each driver, all of which open and close: those with
// one button and one sensor are enrolled as moved by nothing else.
func vendorHouse() []demoDoor {
	const longest = demoTravel + time.Second // what is enrolled is the longest time, with room to arrive
	one := func(name, driverName string, s driver.Settings, emulate func(firmware.Config) *firmware.Device) demoDoor {
		s.Travel = longest
		return demoDoor{hardware: name, name: name + " door", behaviour: sim.Works, vendor: &demoVendor{driverName, s, emulate}}
	}
	return []demoDoor{
		one("Ratgdo", "ratgdo", driver.Settings{Base: "home/garage/ratgdo"}, firmware.Ratgdo),
		one("ESPHome", "esphome", driver.Settings{Base: "garage", Entity: "door"}, firmware.ESPHome),
		one("OpenGarage", "opengarage", driver.Settings{Base: "My OpenGarage"}, firmware.OpenGarage),
		one("Garadget", "garadget", driver.Settings{Base: "Main Door", Sole: true}, firmware.Garadget),
		one("Tasmota", "tasmota", driver.Settings{Base: "tasmota_A1B2C3", Sensor: true, Sole: true}, firmware.Tasmota),
		one("Shelly", "shelly", driver.Settings{Base: "shellyplus1-a8032ab12345", Sensor: true, Sole: true}, firmware.Shelly),
	}
}
