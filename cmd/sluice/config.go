package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sluice/internal/config"
)

// sourceFlags say where the configuration comes from.
type sourceFlags struct {
	path string
	demo bool
}

func (f *sourceFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "config", "", "configuration file (default $SLUICE_CONFIG, then config.yaml)")
	c.Flags().BoolVar(&f.demo, "demo", false, "serve the embedded demo model")
}

func (f *sourceFlags) load() (*config.Loaded, error) {
	return config.Load(config.Options{Path: f.path, Mode: config.ModeNDJSON, Demo: f.demo})
}

func newConfig(s streams) *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration, secrets masked",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			for _, warning := range loaded.Warnings {
				fmt.Fprintln(s.err, "warning:", warning)
			}
			_, err = fmt.Fprintf(s.out, "# from %s\n%s", origin(loaded), loaded.Config.Masked())
			return err
		},
	}
	flags.add(c)
	return c
}

// origin names where a configuration came from.
func origin(l *config.Loaded) string {
	switch {
	case l.Path != "":
		return l.Path
	case l.Missing != "":
		return "defaults and environment (" + l.Missing + " does not exist)"
	}
	return "defaults and environment"
}
