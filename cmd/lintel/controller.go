package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/secret"
	"lintel/store"
)

// credentials are what a controller needs to connect, as printed once.
type credentials struct {
	ControllerID string       `json:"controller_id"`
	Name         string       `json:"name"`
	Secret       string       `json:"secret"`
	Doors        []doorListed `json:"doors"`
}

type doorListed struct {
	DoorID string `json:"door_id"`
	Number int    `json:"number"`
	Name   string `json:"name"`
}

func controllerCommand() *cobra.Command {
	return group("controller", "Manage controllers", controllerAddCommand(), controllerListCommand(), controllerRotateCommand(), controllerRevokeCommand(),
		controllerDriversCommand(), controllerCodeCommand(), controllerReleaseCommand(), controllerKeepCommand(), controllerTakeCommand(), controllerEventsCommand())
}

func controllerAddCommand() *cobra.Command {
	var user, name string
	var doors []string
	var count int
	var asJSON, claim bool
	var hardware vendorOptions
	cmd := &cobra.Command{
		Use:   "add --user EMAIL --name NAME [--door NAME]...",
		Short: "Enrol a controller and print its credentials once",
		Long: `Enrol a controller and print its credentials once.

Without --driver the controller speaks Lintel's own protocol. With it, it is the
firmware of somebody else, which connects to Lintel's MQTT endpoint instead of
another broker; what to enter on its pages is printed. With --upstream it stays at
the broker that serve --mqtt-upstream names. Such a controller has one
door. Drivers: ` + driverNames() + `;
"lintel controller drivers" says what each can do.`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the owner; may be left out where there is one account only.")
	cmd.Flags().StringVar(&name, "name", "", "Name of the controller, as messages show it.")
	cmd.Flags().StringArrayVar(&doors, "door", []string{"Garage door"}, "Name of a door; repeat it for more, numbered in this order.")
	cmd.Flags().IntVar(&count, "count", 1, "Enrol this many, with a number behind the name.")
	cmd.Flags().BoolVar(&claim, "claim", false, "Print a one-time code for \"lintel agent --claim\" instead of credentials.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line.")
	hardware.flags(cmd)
	_ = cmd.MarkFlagRequired("name")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		person, err := soleOwner(ctx, s, user)
		if err != nil {
			return err
		}
		if count < 1 || count > 100_000 {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--count is 1 to 100000"}
		}
		if err := hardware.check(cmd, count); err != nil {
			return err
		}
		if claim {
			return enrolForClaim(cmd, s, person.ID, name, doors, count, hardware, asJSON)
		}
		if hardware.driver != "" {
			return enrolVendor(cmd, s, person.ID, name, doors, hardware, asJSON)
		}
		for i := range count {
			numbered := name
			if count > 1 {
				numbered = fmt.Sprintf("%s %d", name, i+1)
			}
			c, err := enrolNative(ctx, s, person.ID, numbered, doors)
			if err != nil {
				return err
			}
			if err := printCredentials(cmd, c, asJSON); err != nil {
				return err
			}
		}
		return nil
	})
}

func printCredentials(cmd *cobra.Command, c credentials, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), c)
	}
	fmt.Fprintf(cmd.OutOrStdout(), `controller  %s
MQTT client id and user name  %s
MQTT password                 %s
topics                        lintel/v1/%s/...
`, c.Name, c.ControllerID, c.Secret, c.ControllerID)
	for _, d := range c.Doors {
		fmt.Fprintf(cmd.OutOrStdout(), "door %-2d %s  %s\n", d.Number, d.DoorID, d.Name)
	}
	fmt.Fprintln(cmd.OutOrStdout(), "\nThe password is not stored and will not be shown again.")
	return nil
}

// enrolNative stores a new controller with a secret of its own.
func enrolNative(ctx context.Context, s *store.Store, owner lintel.ID, name string, doorNames []string) (credentials, error) {
	return enrolAs(ctx, s, lintel.Controller{OwnerID: owner, Name: name}, doorNames)
}

// enrolAs is enrolNative for a controller with a driver, or without one.
func enrolAs(ctx context.Context, s *store.Store, c lintel.Controller, doorNames []string) (credentials, error) {
	if len(doorNames) == 0 || len(doorNames) > lintel.MaxDoors {
		return credentials{}, &lintel.Error{Code: lintel.CodeInvalid, Message: fmt.Sprintf("a controller has 1 to %d doors", lintel.MaxDoors)}
	}
	checks := []error{lintel.CheckName("controller's name", c.Name)}
	for _, doorName := range doorNames {
		checks = append(checks, lintel.CheckName("door's name", doorName))
	}
	if err := errors.Join(checks...); err != nil {
		return credentials{}, err
	}
	c.ID, c.CreatedAt = lintel.NewID(), time.Now()
	made := credentials{ControllerID: string(c.ID), Name: c.Name, Secret: secret.New(secret.ControllerSecret)}
	var doors []lintel.Door
	for i, doorName := range doorNames {
		d := lintel.Door{ID: lintel.NewID(), ControllerID: c.ID, Number: i + 1, Name: doorName}
		doors = append(doors, d)
		made.Doors = append(made.Doors, doorListed{string(d.ID), d.Number, d.Name})
	}
	return made, s.AddController(ctx, c, secret.Hash(made.Secret), doors)
}

// controllerListed is a controller as list prints it in JSON.
type controllerListed struct {
	ControllerID  string        `json:"controller_id"`
	Name          string        `json:"name"`
	Owner         string        `json:"owner_email"`
	Driver        string        `json:"driver,omitempty"`   // empty where it speaks the controller protocol
	Base          string        `json:"base,omitempty"`     // topic or name of a device with a driver
	Upstream      bool          `json:"upstream,omitempty"` // it stays at the owner's own broker
	Revoked       bool          `json:"revoked"`
	Transferred   bool          `json:"transferred"`     // to another owner, under another id
	LastContactAt *time.Time    `json:"last_contact_at"` // null for never
	Doors         []doorInStore `json:"doors"`
	*abilities                  // of one with a driver
}

type doorInStore struct {
	doorListed
	StoredState string `json:"stored_state"`
}

func printControllers(w io.Writer, devices []store.Device) error {
	for _, device := range devices {
		listed := controllerListed{
			ControllerID: string(device.ID), Name: device.Name, Owner: device.OwnerEmail, Driver: device.Driver, Revoked: device.Revoked, Transferred: device.Transferred,
			LastContactAt: timeOrNull(device.LastContactAt), Doors: []doorInStore{},
			abilities: abilitiesNamed(device.Driver),
		}
		if _, settings, err := readDriver(device.Driver, device.Settings); device.Driver != "" && err == nil {
			listed.Base, listed.Upstream = settings.Base, settings.Upstream
		}
		for _, d := range device.Doors {
			listed.Doors = append(listed.Doors, doorInStore{doorListed{string(d.ID), d.Number, d.Name}, d.State.Value})
		}
		if err := printJSON(w, listed); err != nil {
			return err
		}
	}
	return nil
}

// status says in a word whether a controller is in use.
func status(d store.Device) string {
	switch {
	case d.Transferred:
		return "transferred"
	case d.Revoked:
		return "revoked"
	}
	return "enrolled"
}

func controllerListCommand() *cobra.Command {
	var user string
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List controllers and their doors", Args: cobra.NoArgs}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of an owner: only that account's.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line, for each controller.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		devices, err := s.AllDevices(ctx)
		if err != nil {
			return err
		}
		if user != "" {
			devices = slices.DeleteFunc(devices, func(d store.Device) bool { return !strings.EqualFold(d.OwnerEmail, user) })
		}
		if asJSON {
			return printControllers(cmd.OutOrStdout(), devices)
		}
		var rows [][]string
		for _, device := range devices {
			contact := "never"
			if !device.LastContactAt.IsZero() {
				contact = device.LastContactAt.Format(time.RFC3339)
			}
			for _, d := range device.Doors {
				rows = append(rows, []string{string(device.ID), device.Name, device.OwnerEmail, cmp.Or(device.Driver, "-"), contact, status(device), string(d.ID), d.Name, d.State.Value})
			}
		}
		return table(cmd.OutOrStdout(), []string{"CONTROLLER", "NAME", "OWNER", "DRIVER", "LAST-CONTACT", "STATUS", "DOOR", "NAME", "STORED-STATE"}, rows)
	})
}

func controllerRotateCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rotate CONTROLLER-ID",
		Short: "Give a controller a new secret, print it once, and end its connection",
		Args:  cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		id, err := lintel.ParseID(args[0])
		if err != nil {
			return err
		}
		if err := hasSecret(ctx, s, id); err != nil {
			return err
		}
		made, err := enrolment(s).Rotate(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), map[string]string{"controller_id": string(id), "secret": made})
		}
		fmt.Fprintf(cmd.OutOrStdout(), "MQTT password  %s\n\nThe password is not stored and will not be shown again.\n", made)
		return nil
	})
}

func controllerRevokeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke CONTROLLER-ID",
		Short: "Refuse a controller for good and end its connection",
		Long: `Refuse a controller for good and end its connection. Its doors are gone for everybody;
their history stays. Hardware that is to come back is enrolled anew, or claims the
controller again with a code of "lintel controller code" while it is not revoked.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		id, err := lintel.ParseID(args[0])
		if err != nil {
			return err
		}
		if err := s.RevokeController(ctx, id, time.Now()); err != nil {
			return err
		}
		if err := noteController(ctx, s, id, lintel.ControllerRevoked); err != nil {
			return err
		}
		return done(cmd, asJSON, "revoked", "controller_id", string(id))
	})
}
