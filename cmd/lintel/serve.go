package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lintel/config"
)

func serveCommand() *cobra.Command {
	var file string
	var check, sample bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long:  "Run the service. Options come from a file, the environment and flags; a flag wins over the environment, and that over the file.",
		Args:  cobra.NoArgs,
	}
	addOptions(cmd.Flags())
	cmd.Flags().StringVar(&file, "config", os.Getenv(config.EnvConfig), "Configuration file. ("+config.EnvConfig+")")
	cmd.Flags().BoolVar(&check, "check", false, "Check the configuration and exit.")
	cmd.Flags().BoolVar(&sample, "sample", false, "Print a sample configuration file and exit.")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if sample {
			_, err := io.WriteString(cmd.OutOrStdout(), config.Sample())
			return err
		}
		cfg, err := loadConfig(cmd, file, check)
		if check && cfg.TLSCert != "" && cfg.TLSKey != "" {
			_, tlsErr := serverTLS(cfg)
			err = errors.Join(err, tlsErr)
		}
		if check {
			_, tlsErr := upstreamTLS(cfg)
			err = errors.Join(err, tlsErr)
		}
		if err != nil {
			return fmt.Errorf("the configuration is not valid:\n%w", err)
		}
		if check {
			fmt.Fprintln(cmd.OutOrStdout(), "the configuration is valid")
			return nil
		}
		return serve(cmd.Context(), cfg, cmd.OutOrStdout())
	}
	return cmd
}

// loadConfig reads the options that matter, all when only is empty. A variable
// that looks like an option and is none is an error where strict, else a
// warning: the environment is shared with other programs.
func loadConfig(cmd *cobra.Command, file string, strict bool, only ...string) (config.Config, error) {
	cfg, unknown, err := config.Load(config.Sources{File: file, Env: os.Environ(), Flags: optionFlags(cmd), Only: only})
	for _, name := range unknown {
		if strict {
			err = errors.Join(err, fmt.Errorf("unknown environment variable %s", name))
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "lintel: warning: the environment variable %s is not an option and is ignored\n", name)
	}
	return cfg, err
}

// optionFlags returns the options that were given as flags.
func optionFlags(cmd *cobra.Command) map[string]string {
	flags := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if isOption(f.Name) {
			flags[f.Name] = f.Value.String()
		}
	})
	return flags
}

func isOption(name string) bool {
	return slices.ContainsFunc(config.Options(), func(o config.Option) bool { return o.Name == name })
}

// addOptions adds flags for the options with the names; without names, for all.
func addOptions(flags *pflag.FlagSet, only ...string) {
	for _, o := range config.Options() {
		if len(only) > 0 && !slices.Contains(only, o.Name) {
			continue
		}
		usage := fmt.Sprintf("%s (%s)", o.Usage, o.Env())
		if o.Bool {
			flags.Bool(o.Name, o.Default == "true", usage)
			continue
		}
		flags.String(o.Name, o.Default, usage)
	}
}

func serve(ctx context.Context, cfg config.Config, out io.Writer) error {
	log := newLog(cfg.LogLevel)
	s, err := startService(ctx, cfg, systemClocks(), log)
	if err != nil {
		return err
	}
	log.Info("serving", "http", s.baseURL, "mqtt", s.mqtt, "public", s.origin)
	if err := printSetup(ctx, s, out); err != nil && ctx.Err() == nil {
		return errors.Join(err, s.close())
	}
	select {
	case <-ctx.Done():
		log.Info("stopping")
		return s.close()
	case err := <-s.failed:
		_ = s.close()
		return err
	}
}

// printSetup prints the link that makes the first account, where there is none.
// It is not logged: logs go further than this terminal.
func printSetup(ctx context.Context, s *service, out io.Writer) error {
	needed, err := s.accounts.NeedsSetup(ctx)
	if err != nil || !needed {
		return err
	}
	ticket, err := s.accounts.NewSetupTicket(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "There is no account yet. To make the first one, open within 24 hours, once:\n\n  %s/setup?ticket=%s\n\n", s.origin, ticket)
	return err
}
