package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/internal/bench/guard"
)

// benchPeerCommand is the guard's calibration peer as a process of its own.
const benchPeerCommand = "bench-peer"

// guardFlag makes sluice bench a guard; flags that begin with it and a dash only mean something with it.
const guardFlag = "guard"

// withGuard lets sluice bench compare this engine with a baseline instead of measuring readers.
func withGuard(c *cobra.Command, s streams) *cobra.Command {
	var options guard.Options
	f := c.Flags()
	f.StringVar(&options.Baseline, guardFlag, "", "compare this engine with the baseline in this file; fails when it became slower")
	f.StringVar(&options.Engine, guardFlag+"-engine", "", "with --guard: the engine to compare (default this program)")
	f.IntVar(&options.Rounds, guardFlag+"-rounds", 0, "with --guard: how often everything is measured (default as the baseline)")
	f.BoolVar(&options.Update, guard.UpdateFlag, false, "with --guard: write this machine's part of the baseline instead")
	f.StringVar(&options.Results, guardFlag+"-out", "", "with --guard: write each round to this file in Go's benchmark format")
	f.StringVar(&options.Record, guardFlag+"-record", guard.DefaultRecord, "with --guard: file for the run of a machine that the baseline lacks")
	measureReaders := c.RunE
	c.RunE = func(c *cobra.Command, arguments []string) error {
		guards := f.Changed(guardFlag)
		if stranger := guardStranger(f, guards); stranger != "" {
			return &failure{exitUsage, stranger}
		}
		if !guards {
			return measureReaders(c, arguments)
		}
		return runGuard(c.Context(), options, s)
	}
	return c
}

// guardStranger tells of a flag that was given and means nothing to what sluice bench will do.
func guardStranger(f *pflag.FlagSet, guards bool) (message string) {
	f.Visit(func(flag *pflag.Flag) {
		switch ofGuard := strings.HasPrefix(flag.Name, guardFlag+"-"); {
		case flag.Name == guardFlag:
		case ofGuard && !guards:
			message = "--" + flag.Name + " needs --guard and a baseline"
		case !ofGuard && guards:
			message = "--" + flag.Name + " means nothing with --guard, whose baseline says what is measured: leave it out"
		}
	})
	return message
}

func runGuard(ctx context.Context, options guard.Options, s streams) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if options.Rounds != 0 && options.Rounds < guard.LeastRounds {
		return &failure{exitUsage, fmt.Sprintf("--guard-rounds %d tells nothing for certain: give %d or more", options.Rounds, guard.LeastRounds)}
	}
	options.Engine = cmp.Or(options.Engine, self)
	options.LoadServer, options.Peer = []string{self, benchServerCommand}, []string{self, benchPeerCommand}
	options.Summary = os.Getenv("GITHUB_STEP_SUMMARY")
	options.Output, options.Progress = s.out, guard.PrintProgress(s.err)
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	verdict, err := guard.Run(ctx, options)
	var usage *guard.UsageError
	switch {
	case errors.As(err, &usage):
		return &failure{exitUsage, err.Error()}
	case err != nil:
		return &failure{exitFailed, err.Error()}
	case verdict.Regressed || verdict.Interrupted:
		return &failure{status: exitFailed} // the verdict was printed
	}
	return nil
}

// newBenchPeer is the peer that the guard starts. It ends with its input; a Ctrl-C is for the guard to
// act on.
func newBenchPeer(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    benchPeerCommand,
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, arguments []string) error {
			_, stop := notifyInterrupts()
			defer stop()
			return guard.RunPeer(arguments, stdioInput(s.in), s.out)
		},
	}
}
