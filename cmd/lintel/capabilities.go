package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lintel/driver"
)

// abilities is what hardware with a driver can do, as JSON has it.
type abilities struct {
	Driver       string   `json:"driver"`
	Capabilities []string `json:"capabilities"`
	Warns        string   `json:"warns,omitempty"` // how long it warns by itself before it moves
}

func abilitiesOf(kind driver.Driver) *abilities {
	can := kind.Capabilities()
	found := &abilities{Driver: kind.Name(), Capabilities: can.Usable()}
	if can.Warns > 0 {
		found.Warns = can.Warns.String()
	}
	return found
}

// abilitiesNamed is abilitiesOf for a name in the store: nil for a controller without a
// driver, or with one that this program lacks.
func abilitiesNamed(name string) *abilities {
	kind, err := driverNamed(name)
	if err != nil {
		return nil
	}
	return abilitiesOf(kind)
}

// controllerDriversCommand needs no service and no data: what drivers can do is the program's.
func controllerDriversCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "drivers", Short: "List the drivers and what Lintel can do with their hardware", Args: cobra.NoArgs}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line, for each driver.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var rows [][]string
		for _, kind := range drivers() {
			can := abilitiesOf(kind)
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), can); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{can.Driver, strings.Join(can.Capabilities, ", "), warns(kind.Capabilities().Warns)})
		}
		if asJSON {
			return nil
		}
		return table(cmd.OutOrStdout(), []string{"DRIVER", "CAPABILITIES", "WARNS"}, rows)
	}
	return cmd
}

// warns is how long hardware warns by itself, or a dash.
func warns(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.String()
}
