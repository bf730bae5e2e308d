package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/controller"
	"lintel/gpio"
	"lintel/secret"
)

// agentOptions are the flags of the agent command.
type agentOptions struct {
	config         string
	broker         string
	credentials    string
	claim          string
	server         string
	tls            brokerTLS
	allowPlaintext bool
	sample         bool
	check          bool
	release        bool
	verbose        bool
}

func agentCommand() *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use:   "agent [--config FILE] [--credentials FILE]",
		Short: "Run a controller on this machine's GPIO lines, as on a Raspberry Pi",
		Long: `Run one controller on this machine's GPIO lines.

The configuration file says how the doors are wired; --sample prints one. The file of
credentials says which controller this is and where its service is:

  lintel agent --claim CODE --server https://HOST

makes it, by a code that "lintel controller add --claim" printed, and exits. The line
that "lintel controller add --json" prints is such a file too, with --broker beside it.
It may be readable by its owner only. Doors are watched without a network too, and
connecting is tried again until it works.

docs/agent.md has the wiring, the whole configuration, and a systemd unit.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAgent(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.config, "config", "", "Configuration file. (default "+defaultWiring+")")
	flags.StringVar(&o.broker, "broker", "", "Address of the MQTT endpoint, HOST:PORT; by default the one in the credentials.")
	flags.StringVar(&o.credentials, "credentials", "", "File with the controller's credentials. (default "+defaultCredentials+")")
	flags.StringVar(&o.claim, "claim", "", "One-time code: get the controller's credentials for it, keep them, and exit.")
	flags.StringVar(&o.server, "server", "", "With --claim: address of the service, https://HOST[:PORT].")
	cmd.MarkFlagsRequiredTogether("claim", "server")
	o.tls.add(flags)
	flags.BoolVar(&o.allowPlaintext, "allow-plaintext", false, "Connect without TLS beyond this machine.")
	flags.BoolVar(&o.sample, "sample", false, "Print a sample configuration file and exit.")
	flags.BoolVar(&o.check, "check", false, "Check the configuration, and what else is given, and exit.")
	flags.BoolVar(&o.release, "release", false, "Make every output of the configuration inactive that can be, and exit.")
	flags.BoolVar(&o.verbose, "verbose", false, "Log every connection.")
	return cmd
}

// Where the agent looks for its files unless it is told otherwise.
const (
	defaultWiring      = "/etc/lintel-agent.toml"
	defaultCredentials = "/etc/lintel-agent/credentials.json"
)

func runAgent(cmd *cobra.Command, o agentOptions) error {
	if o.sample {
		_, err := io.WriteString(cmd.OutOrStdout(), agentSample)
		return err
	}
	if cmd.Flags().Changed("claim") {
		return runClaim(cmd, o)
	}
	wiring, err := agentWiring(cmp.Or(o.config, defaultWiring))
	if err != nil {
		err = fmt.Errorf("the configuration is not valid:\n%w", err)
	}
	if o.release { // whatever is wrong elsewhere, it is the last that may open a contact
		return errors.Join(err, gpio.Release(wiring, gpio.Chips()))
	}
	if err != nil {
		return err
	}
	for _, doubt := range wiring.Doubts() {
		fmt.Fprintln(cmd.ErrOrStderr(), "lintel: warning:", doubt)
	}
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	log := newLog(level)
	dialer, err := agentDialer(o, wiring)
	if err != nil {
		return err
	}
	if o.check {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "the configuration is valid")
		return err
	}
	manager, err := serviceManager(log)
	if err != nil {
		return err
	}
	log.Info("starting", "controller", dialer.ID, "doors", len(wiring.Doors), "broker", dialer.Broker)
	return agent{wiring: wiring, lines: gpio.Chips(), dialer: dialer, manager: manager, now: steadyClock(), log: log}.run(cmd.Context())
}

// runClaim claims a controller for this machine.
func runClaim(cmd *cobra.Command, o agentOptions) error {
	file := cmp.Or(o.credentials, defaultCredentials)
	made, err := claim(cmd.Context(), claimOptions{code: o.claim, server: o.server, ca: o.tls.ca, plaintext: o.allowPlaintext, file: file})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "This machine is now the controller %q, at %s. Its credentials are in %s.\n", made.Name, made.Broker, file)
	for _, d := range made.Doors {
		fmt.Fprintf(cmd.OutOrStdout(), "door %-2d  %s\n", d.Number, d.Name)
	}
	return nil
}

// agentDialer returns the way to the broker. For --check alone, nothing of it need be
// given; what is given is checked.
func agentDialer(o agentOptions, wiring gpio.Config) (controller.MQTT, error) {
	var faults []error
	var own agentCredentials
	var err error
	if o.credentials != "" || !o.check {
		own, err = ownCredentials(cmp.Or(o.credentials, defaultCredentials))
		faults = append(faults, err, checkEnrolled(wiring, own.credentials))
	}
	o.tls.use = o.tls.use || own.TLS
	tlsConfig, err := o.tls.config(own.CA)
	faults = append(faults, err)
	broker := cmp.Or(o.broker, own.Broker)
	if broker != "" || !o.check {
		faults = append(faults, checkBroker(broker, tlsConfig != nil || o.allowPlaintext))
	}
	return controller.MQTT{Broker: broker, ID: own.ControllerID, Secret: own.Secret, TLS: tlsConfig}, errors.Join(faults...)
}

// checkEnrolled: the service ends the connection of a controller that reports a door it
// does not know. A file that lists no doors says nothing about them.
func checkEnrolled(wiring gpio.Config, own credentials) error {
	var faults []error
	for _, d := range wiring.Doors {
		known := slices.ContainsFunc(own.Doors, func(l doorListed) bool { return l.Number == d.Number })
		if len(own.Doors) > 0 && !known {
			faults = append(faults, fmt.Errorf("door %d of the configuration is not among the doors that --credentials lists", d.Number))
		}
	}
	return errors.Join(faults...)
}

// checkBroker: secrets go in plain text to this machine only, unless that is allowed.
func checkBroker(address string, protected bool) error {
	host, port, err := net.SplitHostPort(address)
	switch {
	case err != nil || host == "" || port == "":
		return fmt.Errorf("--broker %q is not an address of the form HOST:PORT", address)
	case !protected && !loopback("tcp://"+address):
		return fmt.Errorf("--broker %s would carry the controller's secret in plain text beyond this machine; give --tls or --tls-ca, or --allow-plaintext", address)
	}
	return nil
}

// ownCredentials reads the credentials of one controller.
func ownCredentials(path string) (own agentCredentials, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return own, fmt.Errorf("there are no credentials in %s; make them with: lintel agent --claim CODE --server https://HOST, or name another file with --credentials", path)
	}
	if err != nil {
		return own, fmt.Errorf("--credentials: %w", err)
	}
	if runtime.GOOS == "linux" && info.Mode().Perm()&0o077 != 0 {
		return own, fmt.Errorf("--credentials: other people on this machine can read or change %s; keep it to its owner with: chmod 600 %s", path, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return own, fmt.Errorf("--credentials: %w", err)
	}
	err = json.Unmarshal([]byte(strings.TrimSpace(string(text))), &own)
	if id, idErr := lintel.ParseID(own.ControllerID); err != nil || idErr != nil || string(id) != own.ControllerID || !secret.Is(secret.ControllerSecret, own.Secret) {
		return own, fmt.Errorf("--credentials %s: not what \"lintel agent --claim\" keeps, or the one line that \"lintel controller add --json\" prints for a controller", path)
	}
	return own, nil
}
