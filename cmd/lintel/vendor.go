package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/driver"
	"lintel/store"
	"lintel/upstream"
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

	upstream bool
}

func (o *vendorOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.driver, "driver", "", "Firmware of the hardware: "+driverNames()+".")
	cmd.Flags().StringVar(&o.base, "base", "", "With --driver: the device's base topic or name, as its own page has it; made of --name where it is left out.")
	cmd.Flags().StringVar(&o.entity, "entity", "", "With --driver esphome: the cover's object id.")
	cmd.Flags().DurationVar(&o.travel, "travel", 20*time.Second, "With --driver: longest time that the door takes to move, 1s to 2m.")
	cmd.Flags().BoolVar(&o.sensor, "sensor", false, "With --driver tasmota, shelly or shelly1: a reed sensor at the closed end is wired. With opengarage: a plain opener with one button, not Security+.")
	cmd.Flags().BoolVar(&o.sole, "sole-control", false, "With --driver: nothing else moves the door, no wall button and no remote control. Only then can a door with one button and one sensor be closed.")
	cmd.Flags().BoolVar(&o.upstream, "upstream", false, "With --driver: the device stays at the broker of serve --mqtt-upstream, with the login that it has there.")
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
	for _, name := range []string{"base", "entity", "travel", "sensor", "sole-control", "upstream", "mqtt-host", "mqtt-port", "mqtt-tls"} {
		if o.driver == "" && cmd.Flags().Changed(name) {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--" + name + " goes with --driver"}
		}
	}
	for _, name := range []string{"mqtt-host", "mqtt-port", "mqtt-tls"} {
		if o.upstream && cmd.Flags().Changed(name) {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--" + name + " is for devices that connect to this service, not with --upstream"}
		}
	}
	return nil
}

// vendorCredentials are credentials with what to enter where.
type vendorCredentials struct {
	credentials
	*abilities
	Setup string `json:"setup"`
}

// enrolVendor enrols a device with a driver and prints what to enter on its pages.
func enrolVendor(cmd *cobra.Command, s *store.Store, owner lintel.ID, name string, doors []string, o vendorOptions, asJSON bool) error {
	kind, err := driverNamed(o.driver)
	if err != nil {
		return err
	}
	if o.base == "" && !o.upstream {
		o.base = slug(name) // the printed settings say so: the device has no topics yet
	}
	chosen := driver.Settings{Base: o.base, Entity: o.entity, Travel: o.travel, Sensor: o.sensor, Sole: o.sole, Upstream: o.upstream}
	switch {
	case len(doors) != 1:
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "a controller with a driver has one door"}
	case o.travel < time.Second || o.travel > 2*time.Minute:
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "--travel is 1s to 2m"}
	}
	if err := kind.Check(chosen); err != nil {
		return err
	}
	if o.upstream {
		if err := onlyAtTheBroker(cmd.Context(), s, kind, chosen); err != nil {
			return err
		}
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
	if chosen.Upstream {
		return printUpstream(cmd, made, kind, chosen, asJSON)
	}
	host := o.host
	if host == "" {
		host = "ADDRESS-OF-THIS-SERVICE"
	}
	setup := kind.Setup(chosen, driver.Login{Host: host, Port: o.port, TLS: o.useTLS, Username: made.ControllerID, Password: made.Secret})
	if asJSON {
		return printJSON(cmd.OutOrStdout(), vendorCredentials{made, abilitiesOf(kind), setup})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "controller  %s\ndoor        %s  %s\n\n%s\nThe password is not stored and will not be shown again.\n",
		made.ControllerID, made.Doors[0].DoorID, made.Doors[0].Name, setup)
	return nil
}

// upstreamEnrolled is a device that stays at the owner's broker: it has no secret here.
type upstreamEnrolled struct {
	ControllerID string       `json:"controller_id"`
	Name         string       `json:"name"`
	Doors        []doorListed `json:"doors"`
	*abilities
	Publishes []string `json:"publishes"` // filters of what Lintel reads at the broker
	Commands  []string `json:"commands"`  // filters of what Lintel writes there
	Setup     string   `json:"setup"`
}

// printUpstream prints what matters for a device that stays at the owner's broker.
func printUpstream(cmd *cobra.Command, made credentials, kind driver.Driver, chosen driver.Settings, asJSON bool) error {
	reads, writes := kind.Topics(chosen).Publish, upstream.Writes(kind, chosen)
	setup := kind.Setup(chosen, driver.Login{})
	if asJSON {
		return printJSON(cmd.OutOrStdout(), upstreamEnrolled{made.ControllerID, made.Name, made.Doors, abilitiesOf(kind), reads, writes, setup})
	}
	var rules strings.Builder
	for _, filter := range reads {
		fmt.Fprintf(&rules, "  topic read %s\n", filter)
	}
	for _, filter := range writes {
		fmt.Fprintf(&rules, "  topic write %s\n", filter)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), `controller  %s
door        %s  %s

The device stays at your broker, with the login that it has there; "lintel serve" needs
--mqtt-upstream to find it. In an access list of
Mosquitto, Lintel's user needs these lines. Nobody but the device should write what
Lintel reads, and nobody but Lintel what it writes: whoever can moves the door.

%s
%s`, made.ControllerID, made.Doors[0].DoorID, made.Doors[0].Name, rules.String(), setup)
	return err
}

// slug makes a topic of a name: its letters and digits of ASCII, in lower case.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
