// Command benchguard compares an engine with a committed baseline, as package guard describes:
//
//	benchguard -engine bin/sluice -baseline bench/baselines/guard.json
//
// It exits with 0 when nothing regressed or the baseline doesn't know the machine, with 1 when
// something did, the engine failed or the run was interrupted, and with 2 when it was called wrongly
// or the baseline is of another version. All work happens in one goroutine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"sluice/internal/bench/guard"
	"sluice/internal/bench/load"
)

// Roles that the program plays as its own child, given as its first argument.
const (
	roleLoadServer = "load-server"
	rolePeer       = "peer"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case roleLoadServer:
			signal.Ignore(os.Interrupt) // it is for the guard to act on
			os.Exit(played(load.ServeUntilEnd(os.Stdin, os.Stdout)))
		case rolePeer:
			signal.Ignore(os.Interrupt)
			os.Exit(played(guard.RunPeer(os.Args[2:], os.Stdin, os.Stdout)))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func played(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(stderr, "benchguard:", err)
		return 1
	}
	options := guard.Options{
		LoadServer: []string{self, roleLoadServer}, Peer: []string{self, rolePeer},
		Summary: os.Getenv("GITHUB_STEP_SUMMARY"), Output: stdout, Progress: guard.PrintProgress(stderr),
	}
	if err := parse(&options, arguments, stderr); err != nil {
		return 2
	}
	verdict, err := guard.Run(ctx, options)
	var usage *guard.UsageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "benchguard:", err)
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "benchguard:", err)
		return 1
	case verdict.Regressed || verdict.Interrupted:
		return 1
	}
	return 0
}

func parse(options *guard.Options, arguments []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("benchguard", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&options.Engine, "engine", "bin/sluice", "the engine's `path`")
	flags.StringVar(&options.Baseline, "baseline", "bench/baselines/guard.json", "`path` of the baseline")
	flags.BoolVar(&options.Update, "update", false, "write this machine's part of the baseline")
	flags.IntVar(&options.Sessions, "sessions", 0, "`number` of measurements of a new baseline (default 3)")
	flags.IntVar(&options.Rounds, "rounds", 0, "`number` of rounds (default those of the baseline, or 20)")
	flags.StringVar(&options.Results, "out", "", "`path` for the results in Go's benchmark format")
	flags.StringVar(&options.Record, "record", guard.DefaultRecord, "`path` for the run of a machine that the baseline doesn't know")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() > 0 || options.Rounds < 0 || options.Sessions < 0 {
		err := fmt.Errorf("unexpected arguments %q or less than no rounds", flags.Args())
		fmt.Fprintln(stderr, "benchguard:", err)
		return err
	}
	return nil
}
