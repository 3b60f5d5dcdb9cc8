package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/wire"
)

// dialogPatience is how long the keychain may wait for a person who sits in front of it.
const dialogPatience = time.Minute

// accountFlags are what all commands about profiles take.
type accountFlags struct {
	source  sourceFlags
	profile string
	asJSON  bool
}

func (f *accountFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.source.path, "config", "", "configuration file (default $SLUICE_CONFIG, then config.yaml), whose agents the profile local has")
}

func (f *accountFlags) addProfile(c *cobra.Command) {
	c.Flags().StringVar(&f.profile, "profile", "", "which profile (default the current one)")
}

func (f *accountFlags) addJSON(c *cobra.Command) {
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// with runs a function over the user's profiles. Its context ends with a signal.
func (f *accountFlags) with(ctx context.Context, s streams, run func(ctx context.Context, a *accounts, loaded *config.Loaded) error) error {
	loaded, err := f.source.load()
	if err != nil {
		return err
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(s.err, "warning:", warning)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a := newAccounts(accountOptions{localAgents: len(loaded.Config.Models) > 0, keychainTimeout: dialogPatience, log: log})
	defer a.close()
	return forPeople(run(ctx, a, loaded))
}

func newProfile(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "profile",
		Short: "List, set or choose the gateways that have a name",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newProfileList(s), newProfileSet(s), newProfileUse(s))
	return c
}

func newProfileList(s streams) *cobra.Command {
	var flags accountFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List the profiles",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.with(c.Context(), s, func(_ context.Context, a *accounts, _ *config.Loaded) error {
				list, err := a.profiles.List()
				switch {
				case err != nil:
					return err
				case flags.asJSON:
					return json.NewEncoder(s.out).Encode(profilesJSON(list))
				case len(list) == 0:
					fmt.Fprintln(s.err, "no profile is set; sluice profile set NAME URL names a gateway")
					return nil
				}
				return printProfiles(s.out, list)
			})
		},
	}
	flags.add(c)
	flags.addJSON(c)
	return c
}

func printProfiles(w io.Writer, list []wire.Profile) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CURRENT\tPROFILE\tSERVER")
	for _, p := range list {
		mark := ""
		if p.Current {
			mark = "*"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", mark, p.Name, stripped(p.ServerURL))
	}
	return table.Flush()
}

func newProfileSet(s streams) *cobra.Command {
	var flags accountFlags
	c := &cobra.Command{
		Use:   "set NAME URL",
		Short: "Name a gateway, or give a name another gateway, which signs out there",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.with(c.Context(), s, func(ctx context.Context, a *accounts, _ *config.Loaded) error {
				set, err := a.profiles.Set(ctx, args[0], args[1], nil)
				if err != nil {
					return err
				}
				return printProfile(s.out, set)
			})
		},
	}
	flags.add(c)
	return c
}

func newProfileUse(s streams) *cobra.Command {
	var flags accountFlags
	c := &cobra.Command{
		Use:   "use NAME",
		Short: "Make a profile the current one; local is always there",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.with(c.Context(), s, func(ctx context.Context, a *accounts, _ *config.Loaded) error {
				used, err := a.profiles.Use(ctx, args[0])
				if err != nil {
					return err
				}
				return printProfile(s.out, used)
			})
		},
	}
	flags.add(c)
	return c
}

func printProfile(w io.Writer, p wire.Profile) error {
	note := ""
	if p.Current {
		note = ", the current profile"
	}
	_, err := fmt.Fprintf(w, "%s is %s%s\n", p.Name, stripped(p.ServerURL), note)
	return err
}

// profileJSON is a profile as the protocol shows it.
type profileJSON struct {
	Name      string `json:"name"`
	ServerURL string `json:"serverUrl"`
	Current   bool   `json:"current"`
}

func profilesJSON(list []wire.Profile) []profileJSON {
	all := []profileJSON{}
	for _, p := range list {
		all = append(all, profileJSON(p))
	}
	return all
}
