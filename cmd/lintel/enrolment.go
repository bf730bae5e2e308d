package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/enrol"
	"lintel/store"
)

// enrolment is package enrol on a database, beside a running service or without one.
func enrolment(s *store.Store) *enrol.Service {
	return enrol.New(enrol.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, s)
}

// codeMade is a one-time code as printed, once.
type codeMade struct {
	ControllerID string    `json:"controller_id"`
	Code         string    `json:"code"`
	ExpiresAt    time.Time `json:"expires_at"`
}

func printCode(cmd *cobra.Command, asJSON bool, controller lintel.ID, c enrol.Code, text string) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), codeMade{string(controller), c.Code, c.ExpiresAt})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), text, c.Code, c.ExpiresAt.Local().Format("2 Jan 15:04 MST"))
	return err
}

const claimText = `On the machine that is to be the controller, within its time (until %[2]s), once:

  lintel agent --claim %[1]s --server https://ADDRESS-OF-THIS-SERVICE

Hardware that has the controller's credentials by then loses them.
`

const releaseText = `Give this code to whoever takes the controller over (until %[2]s):

  %[1]s

They use it with "lintel controller take". Until then nothing changes, and
"lintel controller keep" takes the offer back. Then it is gone from your account, with
its doors and their history.
`

// ownersController gives a command about one controller of one account its flags, and
// runs it with both.
func ownersController(cmd *cobra.Command, asJSON *bool, run func(ctx context.Context, s *store.Store, controller, owner lintel.ID) error) *cobra.Command {
	var user string
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the owner.")
	cmd.Flags().BoolVar(asJSON, "json", false, "Print JSON.")
	_ = cmd.MarkFlagRequired("user")
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		id, err := lintel.ParseID(args[0])
		if err != nil {
			return err
		}
		owner, err := s.PersonByEmail(ctx, user)
		if err != nil {
			return err
		}
		return run(ctx, s, id, owner.ID)
	})
}

func controllerCodeCommand() *cobra.Command {
	var asJSON bool
	life := enrol.ClaimFor
	cmd := &cobra.Command{
		Use:   "code CONTROLLER-ID --user OWNER",
		Short: "Make a one-time code by which hardware gets a controller's credentials",
	}
	cmd.Flags().DurationVar(&life, "valid", life, "How long the code lives, 1m to 1h.")
	return ownersController(cmd, &asJSON, func(ctx context.Context, s *store.Store, controller, owner lintel.ID) error {
		made, err := enrolment(s).NewClaim(ctx, controller, owner, life)
		if err != nil {
			return err
		}
		return printCode(cmd, asJSON, controller, made, claimText)
	})
}

func controllerReleaseCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "release CONTROLLER-ID --user OWNER",
		Short: "Offer a controller to another account, by a one-time code",
	}
	return ownersController(cmd, &asJSON, func(ctx context.Context, s *store.Store, controller, owner lintel.ID) error {
		made, err := enrolment(s).Release(ctx, controller, owner)
		if err != nil {
			return err
		}
		return printCode(cmd, asJSON, controller, made, releaseText)
	})
}

func controllerKeepCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "keep CONTROLLER-ID --user OWNER",
		Short: "Take the offer of a controller back",
	}
	return ownersController(cmd, &asJSON, func(ctx context.Context, s *store.Store, controller, owner lintel.ID) error {
		if err := enrolment(s).Keep(ctx, controller, owner); err != nil {
			return err
		}
		return done(cmd, asJSON, "kept", "controller_id", string(controller))
	})
}

func controllerTakeCommand() *cobra.Command {
	var user string
	var asJSON bool
	var hardware vendorOptions
	cmd := &cobra.Command{
		Use:   "take CODE --user NEW-OWNER",
		Short: "Take over a controller that its owner released, and print its new credentials once",
		Long: `Take over a controller that its owner released, and print its new credentials once.

It begins anew, with new ids and a new secret: nothing of the old owner's is about it
any more, and its hardware is shut out until it has the new credentials.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the new owner.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	_ = cmd.MarkFlagRequired("user")
	hardware.endpointFlags(cmd)
	return withStore(cmd, func(ctx context.Context, s *store.Store, args []string) error {
		person, err := s.PersonByEmail(ctx, user)
		if err != nil {
			return err
		}
		taken, err := enrolment(s).Take(ctx, args[0], person.ID)
		if err != nil {
			return err
		}
		made := credentials{ControllerID: string(taken.ID), Name: taken.Name, Secret: taken.Secret}
		for _, d := range taken.Doors {
			made.Doors = append(made.Doors, doorListed{string(d.ID), d.Number, d.Name})
		}
		if taken.Driver == "" {
			return printCredentials(cmd, made, asJSON)
		}
		kind, settings, err := readDriver(taken.Driver, taken.Settings)
		if err != nil {
			return err
		}
		return printVendor(cmd, made, kind, settings, hardware, asJSON)
	})
}

// happened is something that happened to a controller as events prints it in JSON.
type happened struct {
	ControllerID string                     `json:"controller_id"`
	Name         string                     `json:"name"`
	Kind         lintel.ControllerEventKind `json:"kind"`
	Detail       string                     `json:"detail"`
	At           time.Time                  `json:"at"`
}

func controllerEventsCommand() *cobra.Command {
	var user string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "events --user OWNER",
		Short: "List what happened to an account's controllers, newest first",
		Args:  cobra.NoArgs,
	}
	cmd.Flags().StringVar(&user, "user", "", "E-mail address of the owner.")
	cmd.Flags().IntVar(&limit, "limit", 50, "At most this many.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line.")
	_ = cmd.MarkFlagRequired("user")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		if limit < 1 {
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--limit is at least 1"}
		}
		person, err := s.PersonByEmail(ctx, user)
		if err != nil {
			return err
		}
		events, err := s.ControllerEvents(ctx, person.ID, limit)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, e := range events {
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), happened{string(e.ControllerID), e.Name, e.Kind, e.Detail, e.At}); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{e.At.Format(time.RFC3339), e.Name, string(e.Kind), e.Detail})
		}
		if asJSON {
			return nil
		}
		return table(cmd.OutOrStdout(), []string{"AT", "CONTROLLER", "WHAT", "DETAIL"}, rows)
	})
}

// enrolForClaim enrols a controller whose credentials nobody has until hardware claims
// it, and prints the code for that.
func enrolForClaim(cmd *cobra.Command, s *store.Store, owner lintel.ID, name string, doors []string, count int, o vendorOptions, asJSON bool) error {
	if count != 1 || o.driver != "" {
		return &lintel.Error{Code: lintel.CodeInvalid, Message: "--claim is for one controller, without --driver"}
	}
	made, err := enrolNative(cmd.Context(), s, owner, name, doors)
	if err != nil {
		return err
	}
	id := lintel.ID(made.ControllerID)
	code, err := enrolment(s).NewClaim(cmd.Context(), id, owner, enrol.ClaimFor)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), struct {
			codeMade
			Name  string       `json:"name"`
			Doors []doorListed `json:"doors"`
		}{codeMade{made.ControllerID, code.Code, code.ExpiresAt}, made.Name, made.Doors})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "controller  %s  %s\n", made.ControllerID, made.Name)
	for _, d := range made.Doors {
		fmt.Fprintf(cmd.OutOrStdout(), "door %-2d     %s  %s\n", d.Number, d.DoorID, d.Name)
	}
	fmt.Fprintln(cmd.OutOrStdout())
	return printCode(cmd, asJSON, id, code, claimText)
}

// noteController tells a controller's owner what the operator did to it.
func noteController(ctx context.Context, s *store.Store, id lintel.ID, kind lintel.ControllerEventKind) error {
	return s.AddControllerEvent(ctx, lintel.ControllerEvent{ID: lintel.NewID(), ControllerID: id, Kind: kind, At: time.Now()}, 0)
}
