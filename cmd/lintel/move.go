package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lintel/client"
)

// moveListed is what open and close print in JSON, once the door is known.
type moveListed struct {
	DoorID    string `json:"door_id"`
	Name      string `json:"name"`
	Asked     string `json:"asked"`      // OPEN or CLOSED
	Status    int    `json:"status"`     // of the server's answer; 0 for none
	CommandID string `json:"command_id"` // empty when nothing was recorded
	Reason    string `json:"reason"`     // of the controller, in a word; empty for none
	Value     string `json:"value"`      // where the door was last seen
	Seen      bool   `json:"seen"`       // it was seen there; only with --wait
	ExitCode  int    `json:"exit_code"`
}

// toggleLimit is longer than a server with the longest deadline waits.
const toggleLimit = 2 * time.Minute

// way is one of the two ways to move a door, with its words.
type way struct {
	verb, there string
	want        client.State
}

func openCommand() *cobra.Command {
	return moveCommand(way{"open", "open", client.Opened}, "Open a door")
}

func closeCommand() *cobra.Command {
	return moveCommand(way{"close", "closed", client.Closed}, "Close a door")
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
` + w.there + `; without it, it ends when the controller has taken the request.`,
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
	doors, err := m.list(m.cmd.Context())
	if err != nil {
		return err
	}
	door, err := findDoor(doors, asked)
	if err != nil {
		return err
	}
	sdk, err := m.doors(savedTokens{remote: m.remote})
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

// move asks for the movement, waits for it if it should, and notes what happened.
func (m movement) move(sdk *client.Client, door client.Door, line *moveListed) error {
	receipt, err := m.ask(sdk, door)
	if err != nil {
		if e, ok := errors.AsType[*client.Error](err); ok {
			line.Status, line.CommandID, line.Reason = e.Status, e.CommandID, e.Reason
		}
		return m.moveError(err)
	}
	line.Status, line.CommandID, line.Reason = receipt.Status, receipt.CommandID, receipt.Reason
	name := printable(door.Name)
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

func (m movement) ask(sdk *client.Client, door client.Door) (client.Receipt, error) {
	ctx, cancel := context.WithTimeout(m.cmd.Context(), toggleLimit)
	defer cancel()
	return sdk.Move(ctx, door.ID, m.want)
}

// moveError is what a person is told. After no answer, the door may move.
func (m movement) moveError(err error) error {
	if errors.Is(err, client.ErrNoAnswer) {
		return m.netError("the door may move or not, look with lintel doors", err)
	}
	return serverError(m.origin, err)
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
	return last, m.callError(err)
}

// say prints a sentence for people, who did not ask for JSON.
func (m movement) say(format string, args ...any) {
	if !m.json {
		fmt.Fprintf(m.cmd.OutOrStdout(), format, args...)
	}
}
