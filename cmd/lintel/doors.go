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

	"lintel/client"
)

// doorSeen is a door as doors prints it in JSON.
type doorSeen struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Number       int        `json:"number"`
	ControllerID string     `json:"controller_id"`
	State        string     `json:"state"` // OPEN or CLOSED
	Value        string     `json:"value"`
	Source       string     `json:"source"`
	Fresh        bool       `json:"fresh"`
	Since        *time.Time `json:"since"`
	ObservedAt   *time.Time `json:"observed_at"`
}

// listLimit is how long the list of doors may take, once there is a token.
const listLimit = 30 * time.Second

func doorsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "doors", Short: "List your doors at a server, and where they are"}
	cmd.Long = "List your doors at a server, and where they are. \"(not fresh)\" says that a door was last heard of too long ago to say where it is now."
	usageErrors(cmd, cobra.NoArgs)
	flags := addRemoteFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := newRemote(flags)
		if err != nil {
			return err
		}
		doors, err := r.list(cmd.Context())
		if err != nil {
			return err
		}
		if flags.json {
			return printDoors(cmd.OutOrStdout(), doors)
		}
		var rows [][]string
		for _, d := range doors {
			rows = append(rows, []string{printable(d.Name), shownState(d), shownTime(d.Since), printable(d.ControllerID), printable(d.ID)})
		}
		return table(cmd.OutOrStdout(), []string{"NAME", "STATE", "SINCE", "CONTROLLER", "ID"}, rows)
	}
	return cmd
}

// list asks the server for the doors, and puts them in order.
func (r *remote) list(ctx context.Context) ([]client.Door, error) {
	sdk, err := r.doors(savedTokens{remote: r}, listLimit)
	if err != nil {
		return nil, err
	}
	doors, err := sdk.Doors(ctx)
	if err != nil {
		return nil, r.listError(err)
	}
	slices.SortFunc(doors, func(a, b client.Door) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	return doors, nil
}

// listError is what a person is told when doors could not be listed.
func (r *remote) listError(err error) error {
	if errors.Is(err, client.ErrNoAnswer) {
		return r.netError("cannot reach the server", err)
	}
	return serverError(r.origin, scopeRead, err)
}

func printDoors(w io.Writer, doors []client.Door) error {
	for _, d := range doors {
		err := printJSON(w, doorSeen{
			ID: d.ID, Name: d.Name, Number: d.Number, ControllerID: d.ControllerID, State: string(d.State),
			Value: d.Value, Source: d.Source, Fresh: d.Fresh, Since: timeOrNull(d.Since), ObservedAt: timeOrNull(d.ObservedAt),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func shownState(d client.Door) string {
	value := printable(d.Value)
	if !d.Fresh {
		value += " (not fresh)"
	}
	return value
}

func shownTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.RFC3339)
}

// findDoor returns the door that a person means: by its id, else by its name, in
// any letter case if need be, else by the beginning of a name, else by a part of
// one. What fits several doors moves none.
func findDoor(doors []client.Door, asked string) (client.Door, error) {
	if strings.TrimSpace(asked) == "" {
		return client.Door{}, exitf(exitUsage, "the name of the door is empty") // it is a part of every name
	}
	lower := strings.ToLower(asked)
	plain := strings.ReplaceAll(lower, "-", "")
	for _, fits := range []func(d client.Door) bool{
		func(d client.Door) bool { return strings.ReplaceAll(strings.ToLower(d.ID), "-", "") == plain },
		func(d client.Door) bool { return d.Name == asked },
		func(d client.Door) bool { return strings.EqualFold(d.Name, asked) },
		func(d client.Door) bool { return strings.HasPrefix(strings.ToLower(d.Name), lower) },
		func(d client.Door) bool { return strings.Contains(strings.ToLower(d.Name), lower) },
	} {
		var found []client.Door
		for _, d := range doors {
			if fits(d) {
				found = append(found, d)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return client.Door{}, exitf(exitNoDoor, "%q could be any of these; nothing was moved:\n%s", asked, candidates(found))
		}
	}
	if len(doors) == 0 {
		return client.Door{}, exitf(exitNoDoor, "there is no door in your account")
	}
	return client.Door{}, exitf(exitNoDoor, "no door is called %q; there are:\n%s", asked, candidates(doors))
}

func candidates(doors []client.Door) string {
	var lines []string
	for _, d := range doors {
		lines = append(lines, fmt.Sprintf("  %s  %s", printable(d.ID), printable(d.Name)))
	}
	return strings.Join(lines, "\n")
}

// completionLimit is how long the shell waits for the names of doors.
const completionLimit = 2 * time.Second

// completeDoors offers the names of doors to the shell, and nothing where that
// fails. It never refreshes a token: what ends after two seconds must not spend one.
func completeDoors(flags *remoteFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r, err := newRemote(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionLimit)
		defer cancel()
		sdk, err := r.doors(savedTokens{remote: r, only: true}, completionLimit)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		doors, _ := sdk.Doors(ctx) // a completion says nothing about what fails
		return offered(doors, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// offered are the names that begin so; a name of several doors is offered as
// their ids.
func offered(doors []client.Door, begun string) []string {
	count := map[string]int{}
	for _, d := range doors {
		count[d.Name]++
	}
	var names []string
	for _, d := range doors {
		name := printable(d.Name)
		if count[d.Name] > 1 {
			name = cobra.CompletionWithDesc(printable(d.ID), name)
		}
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(begun)) {
			names = append(names, name)
		}
	}
	return names
}
