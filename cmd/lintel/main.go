// Command lintel is the door control service, its administration, its agent for GPIO
// lines, and its simulator.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"lintel"
)

// version is set by make build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends at once
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lintel:", sentence(err))
		os.Exit(exitCode(err))
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "lintel",
		Short:         "Self-hosted door control",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(demoCommand(), serveCommand(), agentCommand(), simCommand(), conformanceCommand(), controllerCommand(), tokenCommand(), userCommand(), oauthClientCommand(), historyCommand(),
		loginCommand(), logoutCommand(), doorsCommand(), openCommand(), closeCommand())
	return cmd
}

// sentence is what a person at the terminal sees: an administrator may see the
// cause behind it.
func sentence(err error) string {
	if lintel.CodeOf(err) != lintel.CodeInternal {
		return lintel.MessageOf(err)
	}
	return err.Error()
}

func newLog(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}
