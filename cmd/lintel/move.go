package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/client"
)

// moveListed is what open and close print in JSON, once the door is known.
type moveListed struct {
	DoorID    string `json:"door_id"`
	Name      string `json:"name"`       // empty for a door given by its id, which is not looked up without --wait
	Asked     string `json:"asked"`      // OPEN or CLOSED
	Status    int    `json:"status"`     // of the server's answer; 0 for none
	CommandID string `json:"command_id"` // empty when nothing was recorded
	Reason    string `json:"reason"`     // of the controller, in a word; empty for none
	Value     string `json:"value"`      // where the door was last seen; empty where it was not looked up
	Seen      bool   `json:"seen"`       // it was seen there; only with --wait
	ExitCode  int    `json:"exit_code"`
}

// toggleLimit is longer than a server with the longest deadline waits. It counts once
// there is a token.
const toggleLimit = 2 * time.Minute

// way is one of the two ways to move a door, with its words.
type way struct {
	verb, there, scope string
	want               client.State
}

func openCommand() *cobra.Command {
	return moveCommand(way{"open", "open", scopeOpen, client.Opened}, "Open a door")
}

func closeCommand() *cobra.Command {
	return moveCommand(way{"close", "closed", scopeClose, client.Closed}, "Close a door")
}

func moveCommand(w way, short string) *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   w.verb + " NAME|ID [--wait]",
		Short: short,
		Long: short + ` and say what its controller answered.

A name may be shortened to its beginning, or to a part of it, as long as it fits
one door only. With --wait the command says what the door does until it is seen
` + w.there + `; without it, it ends when the controller has taken the request.

A name and --wait need a sign-in that may see doors (scope READ). An id alone does not.`,
	}
	usageErrors(cmd, cobra.ExactArgs(1))
	flags := addRemoteFlags(cmd)
	cmd.Flags().BoolVar(&wait, "wait", false, "Wait until the door is seen "+w.there+".")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "How long to wait after the controller has taken the request.")
	cmd.ValidArgsFunction = completeDoors(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if timeout <= 0 {
			return exitf(exitUsage, "--timeout must be positive")
		}
		r, err := newRemote(flags)
		if err != nil {
			return err
		}
		m := movement{remote: r, way: w, cmd: cmd, wait: wait, timeout: timeout, json: flags.json}
		return m.run(args[0])
	}
	return cmd
}

// movement is one run of open or close.
type movement struct {
	*remote
	way
	cmd     *cobra.Command
	wait    bool
	timeout time.Duration
	json    bool
}

func (m movement) run(asked string) error {
	door, err := m.find(asked)
	if err != nil {
		return err
	}
	sdk, err := m.doors(savedTokens{remote: m.remote}, toggleLimit)
	if err != nil {
		return err
	}
	line := moveListed{DoorID: door.ID, Name: door.Name, Asked: string(m.want), Value: door.Value}
	err = m.move(sdk, door, &line)
	if err != nil {
		line.ExitCode = exitCode(err)
	}
	if m.json {
		return errors.Join(printJSON(m.cmd.OutOrStdout(), line), err)
	}
	return err
}

// find returns the door that a person means. An id is enough to move a door, so that
// nothing is listed for one: the sign-in may lack the scope for that.
func (m movement) find(asked string) (client.Door, error) {
	id, err := lintel.ParseID(asked)
	if err == nil && !m.wait {
		return client.Door{ID: string(id)}, nil
	}
	instead := "name the door by its id"
	switch {
	case err == nil:
		instead = "leave out --wait"
	case m.wait:
		instead += " and leave out --wait"
	}
	doors, err := m.list(m.cmd.Context())
	switch {
	case exitCode(err) == exitNoDoor: // without a door having been looked for: forbidden
		return client.Door{}, exitf(exitNoDoor, "%w; or %s", err, instead)
	case err != nil:
		return client.Door{}, err
	}
	return findDoor(doors, asked)
}

// move asks for the movement, waits for it if it should, and notes what happened.
func (m movement) move(sdk *client.Client, door client.Door, line *moveListed) error {
	receipt, err := sdk.Move(m.cmd.Context(), door.ID, m.want)
	if err != nil {
		if e, ok := errors.AsType[*client.Error](err); ok {
			line.Status, line.CommandID, line.Reason = e.Status, e.CommandID, e.Reason
		}
		return m.moveError(err)
	}
	line.Status, line.CommandID, line.Reason = receipt.Status, receipt.CommandID, receipt.Reason
	name := printable(firstOf(door.Name, door.ID))
	if !m.wait {
		if receipt.AlreadyThere() {
			m.say("%s: nothing to do, it is %s or on its way.\n", name, m.there)
			return nil
		}
		m.say("%s: the controller took the request to %s.\n", name, m.verb)
		return nil
	}
	last, err := m.await(sdk, door)
	line.Value = firstOf(last.Value, line.Value)
	if err != nil {
		return err
	}
	line.Seen = true
	m.say("%s is %s.\n", name, m.there)
	return nil
}

// moveError is what a person is told. After no answer, the door may move.
func (m movement) moveError(err error) error {
	if errors.Is(err, client.ErrNoAnswer) {
		return m.netError("the door may move or not, look with lintel doors", err)
	}
	return serverError(m.origin, m.scope, err)
}

// await says on standard error what the door does, until it is there.
func (m movement) await(sdk *client.Client, door client.Door) (client.Door, error) {
	ctx, cancel := context.WithTimeout(m.cmd.Context(), m.timeout)
	defer cancel()
	last, err := sdk.Await(ctx, door.ID, m.want, time.Second, func(d client.Door) {
		fmt.Fprintf(m.cmd.ErrOrStderr(), "%s: %s\n", printable(door.Name), shownState(d))
	})
	switch {
	case err == nil:
		return last, nil
	case m.cmd.Context().Err() != nil:
		return last, exitf(exitNotSeen, "ended before %s was seen %s; the controller took the request", printable(door.Name), m.there)
	case errors.Is(err, context.DeadlineExceeded):
		return last, exitf(exitNotSeen, "the controller took the request, but %s was not seen %s within %s; last seen: %s",
			printable(door.Name), m.there, m.timeout, firstOf(printable(last.Value), "nothing"))
	}
	return last, m.listError(err)
}

// say prints a sentence for people, who did not ask for JSON.
func (m movement) say(format string, args ...any) {
	if !m.json {
		fmt.Fprintf(m.cmd.OutOrStdout(), format, args...)
	}
}
