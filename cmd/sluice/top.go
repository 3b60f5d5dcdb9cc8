package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/top"
)

// topFlags are the flags of sluice top.
type topFlags struct {
	config string
	once   bool
}

func newTop(s streams) *cobra.Command {
	var flags topFlags
	c := &cobra.Command{
		Use:   "top [flags] [ADDRESS]",
		Short: "Watch a running engine: queue, rates, stages, streams, stalls",
		Long: "Watch a running engine: its queue, rates, stages, streams and stalls, twice a second.\n\n" +
			"The engine must run with debug.addr (SLUICE_DEBUG_ADDR=127.0.0.1:0). Without ADDRESS it is found in the\n" +
			"data folder. A token comes from SLUICE_DEBUG_TOKEN or debug.token. Where stdout is no terminal that can\n" +
			"be drawn on, one page is printed as text.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runTop(c.Context(), &flags, args, s) },
	}
	c.Flags().StringVar(&flags.config, "config", "", "configuration file (default $SLUICE_CONFIG, then config.yaml)")
	c.Flags().BoolVar(&flags.once, "once", false, "print one page as text")
	return c
}

func runTop(ctx context.Context, flags *topFlags, args []string, s streams) error {
	loaded, err := config.Load(config.Options{Path: flags.config, Mode: config.ModeNDJSON})
	if err != nil {
		return err
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(s.err, "warning:", warning)
	}
	address, err := topAddress(ctx, args, &loaded.Config)
	if err != nil {
		return err
	}
	client := top.NewClient(address, loaded.Config.Debug.Token)
	defer client.Close()
	if flags.once || !drawable(s.out) {
		err = top.Print(ctx, client, s.out)
	} else {
		err = watch(ctx, client, s)
	}
	if err != nil {
		return &failure{exitFailed, top.Explain(err, address)}
	}
	return nil
}

// watch takes the keys from the terminal also where stdin is something else.
func watch(ctx context.Context, client *top.Client, s streams) error {
	keys := s.in
	if file, ok := keys.(*os.File); !ok || !isTerminal(file) {
		keys = nil
	}
	ended, err := top.Watch(ctx, client, keys, s.out)
	if ended != "" {
		fmt.Fprintln(s.out, ended)
	}
	return err
}

// drawable reports whether a writer is a terminal whose cursor can be moved.
func drawable(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isTerminal(file) && obeysEscapes(file)
}

// topAddress is the address that is named, or that of the one engine that lives.
func topAddress(ctx context.Context, args []string, c *config.Config) (string, error) {
	if len(args) > 0 {
		address, err := top.ParseAddress(args[0])
		if err != nil {
			return "", &failure{exitUsage, err.Error()}
		}
		return address, nil
	}
	engines, err := top.Find(ctx, c.App.DataDir, c.Debug.Token)
	switch {
	case err != nil:
		return "", &failure{exitFailed, "the running engines can't be listed: " + err.Error()}
	case len(engines) == 0:
		return "", &failure{exitFailed, "no engine can be watched: start one with debug.addr: 127.0.0.1:0 (or SLUICE_DEBUG_ADDR=127.0.0.1:0)"}
	case len(engines) > 1:
		return "", &failure{exitUsage, chooseEngine(engines)}
	}
	return engines[0].Address, nil
}

// chooseEngine lists engines, so that a person can name one.
func chooseEngine(engines []top.Engine) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d engines run; name the address of one:", len(engines))
	for _, e := range engines {
		fmt.Fprintf(&text, "\n  sluice top %-21s  pid %-8d started %s  version %s", e.Address, e.PID, e.Started.Local().Format(time.DateTime), e.Version)
	}
	return text.String()
}
