package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/config"
	"lintel/conformance"
	"lintel/secret"
)

// conformanceOptions are the flags of the conformance command.
type conformanceOptions struct {
	broker      string
	controller  string
	secretStdin bool
	door        int
	move        bool
	quick       bool
	timeout     time.Duration
	travel      time.Duration
	asJSON      bool
	junit       string
	tlsCert     string
	tlsKey      string
}

func conformanceCommand() *cobra.Command {
	var o conformanceOptions
	cmd := &cobra.Command{
		Use:   "conformance --broker ADDR --controller ID",
		Short: "Judge a controller's firmware by the rules of the controller protocol",
		Long: `Play the service against one controller, and say which rules of
docs/controller-protocol.md it keeps. docs/conformance.md lists them.

The command listens at --broker itself: no Lintel runs for it. Give the firmware
that address, the ID and the secret.

With --move the door moves several times, between its ends: make sure that nobody is
near it. Without --move the rules for which a controller must move the door are left
out. Firmware that breaks a rule may move the door all the same.

The exit code is 0 when no rule fails, else 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runConformance(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.broker, "broker", "127.0.0.1:1883", "Address to listen on for MQTT.")
	flags.StringVar(&o.controller, "controller", "", "ID of the controller, a UUID; made and printed when left out.")
	flags.BoolVar(&o.secretStdin, "secret-stdin", false, "Read the controller's secret from standard input instead of making one.")
	flags.IntVar(&o.door, "door", 1, "Number of the door that commands are for.")
	flags.BoolVar(&o.move, "move", false, "Let the door move.")
	flags.BoolVar(&o.quick, "quick", false, "Leave out the rules that take half a minute and more.")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "How long to wait for the controller to connect.")
	flags.DurationVar(&o.travel, "travel", 30*time.Second, "Longest time that the door takes for a full movement.")
	flags.BoolVar(&o.asJSON, "json", false, "Print one JSON object a line: first the credentials, then each result.")
	flags.StringVar(&o.junit, "junit", "", "Write the results to this file too, as JUnit XML.")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "PEM file with a certificate, for TLS.")
	flags.StringVar(&o.tlsKey, "tls-key", "", "PEM file with its key.")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

func runConformance(cmd *cobra.Command, o conformanceOptions) error {
	cfg, err := conformanceConfig(cmd, o)
	if err != nil {
		return err
	}
	tlsConfig, err := serverTLS(config.Config{TLSCert: o.tlsCert, TLSKey: o.tlsKey})
	if err != nil {
		return err
	}
	listener, err := listen("broker", o.broker, tlsConfig)
	if err != nil {
		return err
	}
	if err := printPeer(cmd.OutOrStdout(), o, cfg, listener.Addr()); err != nil {
		return err
	}
	cfg.Judged = func(r conformance.Result) { printResult(cmd.OutOrStdout(), o.asJSON, r) }
	report, err := conformance.Run(cmd.Context(), listener, cfg)
	switch {
	case cmd.Context().Err() != nil:
		return errors.New("interrupted before every rule was judged")
	case err != nil:
		return err
	}
	return conclude(cmd, o, report)
}

func conformanceConfig(cmd *cobra.Command, o conformanceOptions) (conformance.Config, error) {
	if o.door < 1 || o.door > lintel.MaxDoors || o.timeout <= 0 || o.travel <= 0 {
		return conformance.Config{}, fmt.Errorf("--door is 1 to %d, --timeout and --travel are more than 0", lintel.MaxDoors)
	}
	id := cmp.Or(o.controller, string(lintel.NewID()))
	if parsed, err := lintel.ParseID(id); err != nil || string(parsed) != id {
		return conformance.Config{}, fmt.Errorf("--controller %q is not a UUID in canonical form", id)
	}
	given, err := controllerSecret(cmd.InOrStdin(), o.secretStdin)
	return conformance.Config{
		Controller: lintel.ID(id), Secret: given, Door: o.door, Move: o.move, Quick: o.quick, Timeout: o.timeout, Travel: o.travel,
		Now: steadyClock(), Wall: time.Now, Log: newLog(slog.LevelError),
	}, err
}

// controllerSecret makes a secret, or reads it.
func controllerSecret(in io.Reader, fromStdin bool) (string, error) {
	if !fromStdin {
		return secret.New(secret.ControllerSecret), nil
	}
	text, err := io.ReadAll(io.LimitReader(in, 4096))
	given := strings.TrimRight(string(text), "\r\n")
	if err == nil && !secret.Is(secret.ControllerSecret, given) {
		err = fmt.Errorf("--secret-stdin: not a controller's secret: %s and 43 characters", secret.ControllerSecret)
	}
	return given, err
}

// printPeer prints what to enter in the firmware. A secret that was given is not shown.
func printPeer(out io.Writer, o conformanceOptions, cfg conformance.Config, address net.Addr) error {
	shown := cfg.Secret
	if o.secretStdin {
		shown = ""
	}
	if o.asJSON {
		peer := struct {
			credentials
			Broker string `json:"broker"`
		}{credentials{ControllerID: string(cfg.Controller), Name: "Conformance", Secret: shown, Doors: []doorListed{}}, address.String()}
		for n := range cfg.Door {
			peer.Doors = append(peer.Doors, doorListed{Number: n + 1})
		}
		return printJSON(out, peer)
	}
	fmt.Fprintf(out, "MQTT endpoint                 %s\nMQTT client id and user name  %s\n", reachable(o.broker, address), cfg.Controller)
	if shown != "" {
		fmt.Fprintf(out, "MQTT password                 %s\n", shown)
	}
	if cfg.Move {
		fmt.Fprintf(out, "\nDoor %d WILL MOVE several times. Make sure that nobody is near it.\n", cfg.Door)
	}
	_, err := fmt.Fprintf(out, "\nWaiting up to %s for the controller to connect. Ctrl-C ends it.\n\n", cfg.Timeout)
	return err
}

// reachable is a listener's address as firmware is told it: where it listens on every
// address of this machine, which of them is for a person to say.
func reachable(option string, address net.Addr) string {
	host, _, _ := net.SplitHostPort(option) // listen has checked it
	_, port, _ := net.SplitHostPort(address.String())
	if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
		return "port " + port + " of this machine's address on your network"
	}
	return address.String()
}

func printResult(out io.Writer, asJSON bool, r conformance.Result) {
	if asJSON {
		_ = printJSON(out, r)
		return
	}
	fmt.Fprintf(out, "%-4s  %-16s  %-26s  %s\n", r.Outcome, r.Rule, r.Section, cmp.Or(printable(r.Seen), r.Says))
}

// conclude writes the JUnit file and says how it went.
func conclude(cmd *cobra.Command, o conformanceOptions, report conformance.Report) error {
	if o.junit != "" {
		var text strings.Builder
		if err := report.WriteJUnit(&text); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
		if err := os.WriteFile(o.junit, []byte(text.String()), 0o644); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if !o.asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "\n%d pass, %d fail, %d skipped\n",
			report.Count(conformance.Pass), report.Count(conformance.Fail), report.Count(conformance.Skip))
	}
	if n := report.Count(conformance.Fail); n > 0 {
		return fmt.Errorf("rules that do not hold: %d", n)
	}
	return nil
}
