package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/driver"
	"lintel/store"
)

// vendorOptions are the flags of "controller add" for the firmware of others.
type vendorOptions struct {
	driver string
	base   string
	entity string
	travel time.Duration
	sensor bool
	sole   bool
	host   string
	port   int
	useTLS bool
}

func (o *vendorOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.driver, "driver", "", "Firmware of the hardware: "+driverNames()+".")
	cmd.Flags().StringVar(&o.base, "base", "", "With --driver: the device's base topic or name, as its own page has it.")
	cmd.Flags().StringVar(&o.entity, "entity", "", "With --driver esphome: the cover's object id.")
	cmd.Flags().DurationVar(&o.travel, "travel", 20*time.Second, "With --driver: longest time that the door takes to move, 1s to 2m.")
	cmd.Flags().BoolVar(&o.sensor, "sensor", false, "With --driver tasmota, shelly or shelly1: a reed sensor at the closed end is wired. With opengarage: a plain opener with one button, not Security+.")
	cmd.Flags().BoolVar(&o.sole, "sole-control", false, "With --driver: nothing else moves the door, no wall button and no remote control. Only then can a door with one button and one sensor be closed.")
	o.endpointFlags(cmd)
}

// endpointFlags are for the printed settings only.
func (o *vendorOptions) endpointFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.host, "mqtt-host", "", "With --driver: address of this service as the device reaches it, for the printed settings.")
	cmd.Flags().IntVar(&o.port, "mqtt-port", 1883, "With --driver: port of the MQTT endpoint, for the printed settings.")
	cmd.Flags().BoolVar(&o.useTLS, "mqtt-tls", false, "With --driver: the endpoint speaks TLS, for the printed settings.")
}

// check refuses flags that would be ignored.
func (o *vendorOptions) check(cmd *cobra.Command, count int) error {
	if o.driver != "" && count != 1 {
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "--count is for controllers without --driver"}
	}
	for _, name := range []string{"base", "entity", "travel", "sensor", "sole-control", "mqtt-host", "mqtt-port", "mqtt-tls"} {
		if o.driver == "" && cmd.Flags().Changed(name) {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--" + name + " goes with --driver"}
		}
	}
	return nil
}

// vendorCredentials are credentials with what to enter where.
type vendorCredentials struct {
	credentials
	Driver string `json:"driver"`
	Setup  string `json:"setup"`
}

// enrolVendor enrols a device with a driver and prints what to enter on its pages.
func enrolVendor(cmd *cobra.Command, s *store.Store, owner lintel.ID, name string, doors []string, o vendorOptions, asJSON bool) error {
	kind, err := driverNamed(o.driver)
	if err != nil {
		return err
	}
	chosen := driver.Settings{Base: o.base, Entity: o.entity, Travel: o.travel, Sensor: o.sensor, Sole: o.sole}
	switch {
	case len(doors) != 1:
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "a controller with a driver has one door"}
	case o.travel < time.Second || o.travel > 2*time.Minute:
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "--travel is 1s to 2m"}
	}
	if err := kind.Check(chosen); err != nil {
		return err
	}
	settings, err := json.Marshal(chosen)
	if err != nil {
		return err
	}
	made, err := enrolAs(cmd.Context(), s, lintel.Controller{OwnerID: owner, Name: name, Driver: kind.Name(), Settings: string(settings)}, doors)
	if err != nil {
		return err
	}
	return printVendor(cmd, made, kind, chosen, o, asJSON)
}

// printVendor prints what to enter on a firmware's pages.
func printVendor(cmd *cobra.Command, made credentials, kind driver.Driver, chosen driver.Settings, o vendorOptions, asJSON bool) error {
	host := o.host
	if host == "" {
		host = "ADDRESS-OF-THIS-SERVICE"
	}
	setup := kind.Setup(chosen, driver.Login{Host: host, Port: o.port, TLS: o.useTLS, Username: made.ControllerID, Password: made.Secret})
	if asJSON {
		return printJSON(cmd.OutOrStdout(), vendorCredentials{made, kind.Name(), setup})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "controller  %s\ndoor        %s  %s\n\n%s\nThe password is not stored and will not be shown again.\n",
		made.ControllerID, made.Doors[0].DoorID, made.Doors[0].Name, setup)
	return nil
}
