package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lintel"
	"lintel/door"
	"lintel/sim"
	"lintel/store"
)

// simOptions are the flags of the sim command.
type simOptions struct {
	broker      string
	controllers int
	doors       int
	credentials string
	user        string
	tls         brokerTLS
	travel      time.Duration
	stagger     time.Duration
	log         string
	verbose     bool
}

func simCommand() *cobra.Command {
	var o simOptions
	cmd := &cobra.Command{
		Use:   "sim --broker ADDR --controllers N --doors M",
		Short: "Run a fleet of simulated controllers against any Lintel",
		Long: `Run a fleet of simulated controllers as a process of its own.

Every controller needs credentials. With --credentials they are read from a file
of the lines that "lintel controller add --json" printed. Without it, this
command enrols the controllers itself, in the database of --data or --database,
for the account of --user (or the only account there is).`,
		Args: cobra.NoArgs,
	}
	file := adminFlags(cmd)
	cmd.Flags().StringVar(&o.broker, "broker", "127.0.0.1:1883", "Address of the MQTT endpoint.")
	cmd.Flags().IntVar(&o.controllers, "controllers", 1, "How many controllers.")
	cmd.Flags().IntVar(&o.doors, "doors", 1, "How many doors each, 1 to 32.")
	cmd.Flags().StringVar(&o.credentials, "credentials", "", "File with the controllers' credentials.")
	cmd.Flags().StringVar(&o.user, "user", "", "E-mail address of the account that owns the controllers.")
	o.tls.add(cmd.Flags())
	cmd.Flags().DurationVar(&o.travel, "travel", 3*time.Second, "How long a door takes to move.")
	cmd.Flags().DurationVar(&o.stagger, "stagger", 0, "Pause between the starts of two controllers.")
	cmd.Flags().StringVar(&o.log, "log", "", "File to append a line of JSON to for each time that the hardware is made to move a door, before it does.")
	cmd.Flags().BoolVar(&o.verbose, "verbose", false, "Log every connection.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return runSim(cmd, o, *file)
	}
	return cmd
}

func runSim(cmd *cobra.Command, o simOptions, file string) (err error) {
	if o.controllers < 1 || o.doors < 1 || o.doors > lintel.MaxDoors || o.travel < 10*time.Millisecond {
		return fmt.Errorf("--controllers is at least 1, --doors 1 to %d, --travel at least 10ms", lintel.MaxDoors)
	}
	units, err := simUnits(cmd, o, file)
	if err != nil {
		return err
	}
	tlsConfig, err := o.tls.config("")
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	fleet := sim.Fleet{Broker: o.broker, TLS: tlsConfig, Units: units, Stagger: o.stagger, Now: steadyClock(), Log: newLog(level)}
	if o.log != "" {
		record, openErr := os.OpenFile(o.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if openErr != nil {
			return fmt.Errorf("--log: %w", openErr)
		}
		defer func() { err = errors.Join(err, record.Close()) }()
		fleet.Record = record
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Simulated controllers: %d, doors at each: %d, broker: %s. Ctrl-C ends them.\n", len(units), o.doors, o.broker)
	fleet.Run(cmd.Context())
	return nil
}

func simUnits(cmd *cobra.Command, o simOptions, file string) ([]sim.Unit, error) {
	var made []credentials
	var err error
	if o.credentials != "" {
		made, err = readCredentials(o)
	} else {
		made, err = enrolFleet(cmd, o, file)
	}
	if err != nil {
		return nil, err
	}
	var units []sim.Unit
	for _, c := range made {
		unit := sim.Unit{ID: c.ControllerID, Secret: c.Secret, Behaviour: sim.Works}
		for range o.doors {
			unit.Doors = append(unit.Doors, sim.Door{Opener: door.Discrete, Sensors: 2, Travel: o.travel})
		}
		units = append(units, unit)
	}
	return units, nil
}

func readCredentials(o simOptions) ([]credentials, error) {
	file, err := os.Open(o.credentials)
	if err != nil {
		return nil, fmt.Errorf("--credentials: %w", err)
	}
	defer file.Close()
	var made []credentials
	lines := bufio.NewScanner(file)
	for lines.Scan() && len(made) < o.controllers {
		var c credentials
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("--credentials %s, line %d: not what \"lintel controller add --json\" prints", o.credentials, len(made)+1)
		}
		if len(c.Doors) < o.doors {
			return nil, fmt.Errorf("--credentials %s, line %d: %d doors are enrolled, fewer than --doors %d", o.credentials, len(made)+1, len(c.Doors), o.doors)
		}
		made = append(made, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("--credentials: %w", err)
	}
	if len(made) < o.controllers {
		return nil, fmt.Errorf("--credentials %s holds %d controllers, fewer than --controllers %d", o.credentials, len(made), o.controllers)
	}
	return made, nil
}

func enrolFleet(cmd *cobra.Command, o simOptions, file string) (made []credentials, err error) {
	s, err := adminStore(cmd, file)
	if err != nil {
		return nil, fmt.Errorf("the controllers need --credentials, or the service's database to be enrolled in: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	owner, err := soleOwner(cmd.Context(), s, o.user)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Enrolling %d simulated controllers for %s. They stay in the database.\n", o.controllers, owner.Email)
	var doors []string
	for n := range o.doors {
		doors = append(doors, fmt.Sprintf("Simulated door %d", n+1))
	}
	for n := range o.controllers {
		c, err := enrolNative(cmd.Context(), s, owner.ID, fmt.Sprintf("Simulated %d", n+1), doors)
		if err != nil {
			return nil, err
		}
		made = append(made, c)
	}
	return made, nil
}

// soleOwner finds an account, or where none is named the only one that there is.
func soleOwner(ctx context.Context, s *store.Store, email string) (lintel.Person, error) {
	if email != "" {
		return s.PersonByEmail(ctx, email)
	}
	people, err := s.People(ctx)
	if err != nil {
		return lintel.Person{}, err
	}
	if len(people) != 1 {
		return lintel.Person{}, fmt.Errorf("there are %d accounts; say with --user who owns the controllers", len(people))
	}
	return people[0], nil
}
