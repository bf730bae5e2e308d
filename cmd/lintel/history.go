package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/store"
)

// commandListed is a command as history prints it in JSON.
type commandListed struct {
	ID          lintel.ID     `json:"id"`
	DoorID      lintel.ID     `json:"door_id"`
	Action      lintel.Action `json:"action"`
	PersonID    lintel.ID     `json:"person_id"`
	TokenID     lintel.ID     `json:"token_id"`
	RequestedAt time.Time     `json:"requested_at"`
	Status      lintel.Status `json:"status"`
	Code        int           `json:"code,omitempty"`
	Reason      string        `json:"reason,omitempty"`
	SettledAt   *time.Time    `json:"settled_at"`
	LateCode    int           `json:"late_code,omitempty"`
	LateReason  string        `json:"late_reason,omitempty"`
	LateAt      *time.Time    `json:"late_at,omitempty"`
}

// eventListed is a door's change as history prints it in JSON.
type eventListed struct {
	Event      string    `json:"event"`
	DoorID     lintel.ID `json:"door_id"`
	Session    int64     `json:"session"`
	Sequence   int64     `json:"sequence"`
	Value      string    `json:"value"`
	Source     string    `json:"source"`
	Cause      string    `json:"cause"`
	CommandID  lintel.ID `json:"command_id,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	OccurredAt time.Time `json:"occurred_at"`
	ReceivedAt time.Time `json:"received_at"`
}

func historyCommand() *cobra.Command {
	var door string
	var limit int
	var events, asJSON bool
	cmd := &cobra.Command{
		Use:   "history [--door ID] [--events]",
		Short: "List commands and their outcomes, or a door's changes, newest first",
		Args:  cobra.NoArgs,
	}
	cmd.Flags().StringVar(&door, "door", "", "Only this door.")
	cmd.Flags().IntVar(&limit, "limit", 50, "At most this many.")
	cmd.Flags().BoolVar(&events, "events", false, "List the door's changes as its controller reported them.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line.")
	return withStore(cmd, func(ctx context.Context, s *store.Store, _ []string) error {
		var id lintel.ID
		if door != "" {
			var err error
			if id, err = lintel.ParseID(door); err != nil {
				return err
			}
		}
		switch {
		case limit < 1:
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--limit is at least 1"}
		case events && id == "":
			return &lintel.Error{Code: lintel.CodeInvalid, Message: "--events needs --door"}
		case events:
			return listEvents(ctx, cmd, s, id, limit, asJSON)
		}
		return listCommands(ctx, cmd, s, id, limit, asJSON)
	})
}

func listCommands(ctx context.Context, cmd *cobra.Command, s *store.Store, door lintel.ID, limit int, asJSON bool) error {
	commands, err := s.Commands(ctx, door, limit)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, c := range commands {
		if asJSON {
			if err := printJSON(cmd.OutOrStdout(), listedCommand(c)); err != nil {
				return err
			}
			continue
		}
		late := ""
		if c.Outcome.Late != nil {
			late = strings.TrimSpace(fmt.Sprintf("answered %d late %s", c.Outcome.Late.Code, c.Outcome.Late.Reason))
		}
		rows = append(rows, []string{c.RequestedAt.Format(time.RFC3339), string(c.DoorID), string(c.Action),
			string(c.Outcome.Status), codeListed(c.Outcome.Code), c.Outcome.Reason, late})
	}
	if asJSON {
		return nil
	}
	return table(cmd.OutOrStdout(), []string{"REQUESTED", "DOOR", "ACTION", "STATUS", "CODE", "REASON", "LATE"}, rows)
}

// codeListed is a controller's answer code, or a dash where it gave none.
func codeListed(code int) string {
	if code == 0 {
		return "-"
	}
	return fmt.Sprint(code)
}

func listedCommand(c lintel.Command) commandListed {
	listed := commandListed{
		ID: c.ID, DoorID: c.DoorID, Action: c.Action, PersonID: c.PersonID, TokenID: c.TokenID, RequestedAt: c.RequestedAt,
		Status: c.Outcome.Status, Code: c.Outcome.Code, Reason: c.Outcome.Reason,
	}
	if !c.Outcome.SettledAt.IsZero() {
		listed.SettledAt = &c.Outcome.SettledAt
	}
	if late := c.Outcome.Late; late != nil {
		listed.LateCode, listed.LateReason, listed.LateAt = late.Code, late.Reason, &late.At
	}
	return listed
}

func listEvents(ctx context.Context, cmd *cobra.Command, s *store.Store, door lintel.ID, limit int, asJSON bool) error {
	events, err := s.Events(ctx, door, limit)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, e := range events {
		if asJSON {
			err := printJSON(cmd.OutOrStdout(), eventListed{
				Event: e.ID, DoorID: e.DoorID, Session: e.Session, Sequence: e.Sequence, Value: e.State.Value, Source: e.State.Source,
				Cause: e.Cause, CommandID: e.CommandID, Reason: e.Reason, OccurredAt: e.OccurredAt, ReceivedAt: e.ReceivedAt,
			})
			if err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{e.OccurredAt.Format(time.RFC3339), e.State.Value, e.State.Source, e.Cause, string(e.CommandID), e.Reason})
	}
	if asJSON {
		return nil
	}
	return table(cmd.OutOrStdout(), []string{"OCCURRED", "STATE", "SOURCE", "CAUSE", "COMMAND", "REASON"}, rows)
}
