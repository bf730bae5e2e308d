package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lintel"
	"lintel/account"
	"lintel/config"
	"lintel/control"
	"lintel/door"
	"lintel/secret"
	"lintel/sim"
	"lintel/store"
)

// demoDoor is one controller with one door in the demo house.
type demoDoor struct {
	hardware  string
	name      string
	behaviour sim.Behaviour
	door      sim.Door
	vendor    *demoVendor // nil for hardware that speaks the controller protocol
}

// demoTravel is how long a demo door takes to move.
const demoTravel = 3 * time.Second

// demoHouse is a house in which every row of the status table can be seen.
func demoHouse() []demoDoor {
	discrete := sim.Door{Opener: door.Discrete, Sensors: 2, Travel: demoTravel}
	open, lost, monitor := discrete, discrete, discrete
	open.StartsOpen, lost.SensorLost, monitor.Opener = true, true, door.Monitor
	return []demoDoor{
		{"Main Garage", "Left door", sim.Works, discrete, nil},
		{"Side Garage", "Right door", sim.Works, open, nil},
		{"Barn", "Barn door", sim.Offline, discrete, nil},
		{"Workshop", "Workshop door", sim.Silent, discrete, nil},
		{"Boathouse", "Boathouse door", sim.SensorLost, lost, nil},
		{"Cabin", "Cabin door", sim.AuthError, discrete, nil},
		{"Shed", "Shed door", sim.Malformed, discrete, nil},
		{"Gatehouse", "Gatehouse door", sim.Unsupported, monitor, nil},
	}
}

const (
	demoEmail  = "demo@lintel.example"
	otherEmail = "other@lintel.example"
)

// demoReady is the line that --json prints.
type demoReady struct {
	BaseURL          string       `json:"base_url"`
	MQTTAddress      string       `json:"mqtt_addr"`
	AccessToken      string       `json:"access_token"`
	User             demoUser     `json:"user"`
	OtherAccessToken string       `json:"other_access_token"`
	Clients          []demoClient `json:"clients"`
	Doors            []demoListed `json:"doors"`
}

type demoClient struct {
	ClientID     string            `json:"client_id"`
	ClientSecret string            `json:"client_secret"` // empty for a public client
	RedirectURIs []string          `json:"redirect_uris"`
	Kind         lintel.ClientKind `json:"kind"`
}

// demoClients are two apps to try the authorization server with.
func demoClients() []lintel.Client {
	return []lintel.Client{
		{ID: "demoserver", Name: "Demo server app", Kind: lintel.Confidential, Legacy: true,
			RedirectURIs: []string{"http://127.0.0.1:8765/callback", "https://app.lintel.example/callback"}},
		{ID: "demoapp", Name: "Demo desktop app", Kind: lintel.Public,
			RedirectURIs: []string{"http://127.0.0.1/callback", "http://[::1]/callback", "org.example.lintel:/callback"}},
	}
}

type demoUser struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

type demoListed struct {
	DoorID       string        `json:"door_id"`
	Name         string        `json:"name"`
	HardwareName string        `json:"hardware_name"`
	Behaviour    sim.Behaviour `json:"behaviour"`
	Driver       string        `json:"driver,omitempty"`
}

func demoCommand() *cobra.Command {
	var asJSON bool
	var house string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the service with a demo house and simulated controllers",
		Args:  cobra.NoArgs,
	}
	addOptions(cmd.Flags(), "mqtt", "allow-plaintext", "deadline")
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage, _, _ = strings.Cut(f.Usage, " ("+config.EnvPrefix) })
	// By a name, because browsers use no passkeys where there is only an address.
	cmd.Flags().String("http", "localhost:8080", "Address to serve HTTP on; port 0 chooses a free one.")
	cmd.Flags().String("data", "", "Directory to keep the data in and reuse (default: a temporary one)")
	cmd.Flags().StringVar(&house, "house", "statuses", "What the house has: statuses, a controller for each status that a request can have; or vendors, one emulated device for each driver.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one line of JSON when ready, and all else to standard error.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		doors, err := demoDoors(house)
		if err != nil {
			return err
		}
		temporary := !cmd.Flags().Changed("data")
		if temporary {
			dir, mkErr := os.MkdirTemp("", "lintel-demo-")
			if mkErr != nil {
				return mkErr
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			if err := cmd.Flags().Set("data", dir); err != nil {
				return err
			}
		}
		// Flags only: an operator's environment is for the service, not for a demo.
		flags := optionFlags(cmd)
		flags["http"] = cmd.Flag("http").Value.String()
		cfg, _, err := config.Load(config.Sources{Flags: flags})
		if err != nil {
			return err
		}
		return demo(cmd, cfg, doors, temporary, asJSON)
	}
	return cmd
}

// demoDoors returns a house by its name.
func demoDoors(house string) ([]demoDoor, error) {
	switch house {
	case "statuses":
		return demoHouse(), nil
	case "vendors":
		return vendorHouse(), nil
	}
	return nil, &lintel.Error{Code: lintel.CodeInvalid, Message: "--house is statuses or vendors"}
}

func demo(cmd *cobra.Command, cfg config.Config, doors []demoDoor, temporary, asJSON bool) error {
	ctx := cmd.Context()
	log := newLog(slog.LevelError) // what a demo prints is for reading
	began := time.Now()
	s, err := startService(ctx, cfg, systemClocks(), log)
	if err != nil {
		return err
	}
	ready, units, err := seedDemo(ctx, s, doors)
	if err != nil {
		return errors.Join(err, s.close())
	}
	fleetCtx, stopFleet := context.WithCancel(ctx)
	var fleet sync.WaitGroup
	fleet.Go(func() { runHouse(fleetCtx, s.mqtt, doors, units, log) })
	stop := func() error {
		stopFleet()
		fleet.Wait()
		return s.close()
	}
	if err := awaitDemo(ctx, s, doors, units, began); err != nil {
		return errors.Join(err, stop())
	}
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), ready)
	} else {
		err = printDemo(cmd.OutOrStdout(), ready, cfg.Data, temporary)
	}
	if err != nil {
		return errors.Join(err, stop())
	}
	select {
	case <-ctx.Done():
		return stop()
	case err := <-s.failed:
		return errors.Join(err, stop())
	}
}

// runHouse runs the hardware of a house, of which unit i is at door i, until ctx ends.
func runHouse(ctx context.Context, broker string, doors []demoDoor, units []sim.Unit, log *slog.Logger) {
	now := steadyClock()
	var running sync.WaitGroup
	defer running.Wait()
	native := sim.Fleet{Broker: broker, Now: now, Log: log}
	for i, d := range doors {
		if d.vendor == nil {
			native.Units = append(native.Units, units[i])
			continue
		}
		running.Go(func() { d.vendor.device(broker, units[i], now).Run(ctx) })
	}
	running.Go(func() { native.Run(ctx) })
}

// seedDemo makes the demo house, or finds it again, and gives everybody new
// secrets: the old ones are known as hashes only.
func seedDemo(ctx context.Context, s *service, doors []demoDoor) (demoReady, []sim.Unit, error) {
	ready := demoReady{BaseURL: s.baseURL, MQTTAddress: s.mqtt, User: demoUser{demoEmail, account.NewPassword()}}
	owner, err := demoPerson(ctx, s.store, demoEmail, "Dana", "Demo", ready.User.Password)
	if err != nil {
		return ready, nil, err
	}
	other, err := demoPerson(ctx, s.store, otherEmail, "Olaf", "Other", account.NewPassword())
	if err != nil {
		return ready, nil, err
	}
	if ready.Clients, err = seedClients(ctx, s.store); err != nil {
		return ready, nil, err
	}
	if ready.AccessToken, _, err = newToken(ctx, s.store, owner.ID, lintel.AllScopes, "demo", 24*time.Hour); err != nil {
		return ready, nil, err
	}
	if ready.OtherAccessToken, _, err = newToken(ctx, s.store, other.ID, lintel.AllScopes, "demo", 24*time.Hour); err != nil {
		return ready, nil, err
	}
	devices, err := s.store.Devices(ctx, owner.ID)
	if err != nil {
		return ready, nil, err
	}
	var units []sim.Unit
	for _, d := range doors {
		made, err := demoController(ctx, s.store, owner.ID, devices, d)
		if err != nil {
			return ready, nil, err
		}
		units = append(units, sim.Unit{ID: made.ControllerID, Secret: made.Secret, Behaviour: d.behaviour, Doors: []sim.Door{d.door}})
		ready.Doors = append(ready.Doors, demoListed{made.Doors[0].DoorID, d.name, d.hardware, d.behaviour, d.vendor.name()})
	}
	return ready, units, nil
}

// seedClients makes the demo's clients, or finds them again with new secrets.
func seedClients(ctx context.Context, s *store.Store) ([]demoClient, error) {
	var made []demoClient
	for _, c := range demoClients() {
		c.Scopes, c.CreatedAt = lintel.AllScopes, time.Now()
		stored, secretMade, err := newClient(ctx, s, c)
		if lintel.CodeOf(err) == lintel.CodeConflict {
			stored, secretMade, err = findClient(ctx, s, c)
		}
		if err != nil {
			return nil, err
		}
		made = append(made, demoClient{stored.ID, secretMade, stored.RedirectURIs, stored.Kind})
	}
	return made, nil
}

func findClient(ctx context.Context, s *store.Store, c lintel.Client) (lintel.Client, string, error) {
	stored, err := s.Client(ctx, c.ID)
	if err != nil || stored.Kind == lintel.Public {
		return stored, "", err
	}
	_, made := secret.NewClient()
	return stored, made, s.RotateClientSecret(ctx, c.ID, secret.Hash(made), false, time.Now())
}

func demoPerson(ctx context.Context, s *store.Store, email, given, family, password string) (lintel.Person, error) {
	person, err := s.PersonByEmail(ctx, email)
	switch lintel.CodeOf(err) {
	case lintel.CodeNotFound:
		return newPerson(ctx, s, email, given, family, password)
	case "":
	default:
		return person, err
	}
	hash, err := account.HashPassword(password)
	if err != nil {
		return person, err
	}
	return person, s.SetPassword(ctx, person.ID, hash)
}

func demoController(ctx context.Context, s *store.Store, owner lintel.ID, devices []store.Device, d demoDoor) (credentials, error) {
	for _, device := range devices {
		if device.Name == d.hardware {
			made := credentials{ControllerID: string(device.ID), Secret: secret.New(secret.ControllerSecret),
				Doors: []doorListed{{DoorID: string(device.Doors[0].ID)}}}
			return made, s.SetControllerSecret(ctx, device.ID, secret.Hash(made.Secret))
		}
	}
	c := lintel.Controller{OwnerID: owner, Name: d.hardware, Driver: d.vendor.name()}
	if d.vendor != nil {
		settings, err := json.Marshal(d.vendor.settings)
		if err != nil {
			return credentials{}, err
		}
		c.Settings = string(settings)
	}
	return enrolAs(ctx, s, c, []string{d.name})
}

// awaitDemo returns when every controller that is to connect has reported its door.
// A device with a driver is asked where its door is only after it has connected.
func awaitDemo(ctx context.Context, s *service, doors []demoDoor, units []sim.Unit, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	devices, err := s.store.AllDevices(ctx)
	if err != nil {
		return err
	}
	for i, u := range units {
		if u.Behaviour == sim.Offline {
			continue
		}
		device := devices[slices.IndexFunc(devices, func(d store.Device) bool { return string(d.ID) == u.ID })]
		if err := awaitReport(ctx, s.control, device, began, doors[i].vendor != nil); err != nil {
			return fmt.Errorf("the simulated controller %s did not connect: %w", device.Name, err)
		}
	}
	return nil
}

// awaitReport returns when a controller has reported its first door since began;
// known waits until it also knows where the door is.
func awaitReport(ctx context.Context, c *control.Service, device store.Device, began time.Time, known bool) error {
	for {
		state, _ := c.State(device.Doors[0])
		if c.Connected(device.ID) && state.ObservedAt.After(began) && (!known || state.Value != lintel.ValueUnknown) {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func printDemo(w io.Writer, ready demoReady, data string, temporary bool) error {
	kept := "kept; give it again with --data to go on with it"
	if temporary {
		kept = "temporary; removed at the end, keep another with --data DIR"
	}
	fmt.Fprintf(w, `Lintel is running with a demo house. Ctrl-C ends it.

  address   %s
  MQTT      %s
  account   %s
  password  %s
            (sign in at %s/sign-in)
  token     %s
  apps      %s, with the secret %s
            %s, without one
            (back to %s and %s)
  data      %s
            (%s)

`, ready.BaseURL, ready.MQTTAddress, ready.User.Email, ready.User.Password, ready.BaseURL, ready.AccessToken,
		ready.Clients[0].ClientID, ready.Clients[0].ClientSecret, ready.Clients[1].ClientID,
		ready.Clients[0].RedirectURIs[0], ready.Clients[1].RedirectURIs[0], data, kept)
	column := "BEHAVIOUR"
	var rows [][]string
	for _, d := range ready.Doors {
		cell := string(d.Behaviour)
		if d.Driver != "" {
			column, cell = "DRIVER", d.Driver
		}
		rows = append(rows, []string{"  " + d.DoorID, cell, d.Name, d.HardwareName})
	}
	if err := table(w, []string{"  DOOR_ID", column, "NAME", "HARDWARE"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nList the doors:\n\n%s\n\nOpen a door:\n\n%s\n\n",
		curl(ready, "sync", ""), curl(ready, "toggle", doorWith(ready, sim.Works)))
	if lost := doorWith(ready, sim.SensorLost); lost != "" {
		fmt.Fprintf(w, "Ask a door whose sensor is lost:\n\n%s\n\n", curl(ready, "toggle", lost))
	}
	return nil
}

func doorWith(ready demoReady, b sim.Behaviour) string {
	for _, d := range ready.Doors {
		if d.Behaviour == b {
			return d.DoorID
		}
	}
	return ""
}

// curl returns a command that can be pasted as it is.
func curl(ready demoReady, endpoint, doorID string) string {
	lines := []string{
		"curl -sS -X POST " + ready.BaseURL + "/api/oauth/v1/endpoints/" + endpoint,
		"  -H 'Authorization: Bearer " + ready.AccessToken + "'",
		"  -H 'Content-Type: application/json'",
	}
	if doorID != "" {
		lines = append(lines, `  -d '{"door_id":"`+doorID+`","door_state":"OPEN"}'`)
	}
	return strings.Join(lines, " \\\n")
}
