// Command sluicebench measures an engine and its peers, interleaved in one run, and prints the
// medians of all rounds:
//
//	go run ./cmd/sluicebench -engine ../bin/sluice -workload W1,W2 -rounds 5
//
// It exits with 1 when something was lost, wrong or not to be measured, and with 2 when it was
// called wrongly; a missed goal is no failure. All work happens in one goroutine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"sluice/bench/roles"
	"sluice/bench/workload"
)

func main() {
	if status, played := roles.Run(os.Args[1:]); played {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// settings are what the command line asks for.
type settings struct {
	options   workload.Options
	workloads string
	rounds    int
	json      bool
	sizes     workload.Sizes
}

func parse(arguments []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("sluicebench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.options.Engine, "engine", "../bin/sluice", "the engine's `path`")
	flags.BoolVar(&s.options.SocketPair, "socket-pair", false, "give programs socket pairs, as Node does, instead of pipes")
	flags.StringVar(&s.workloads, "workload", "all", "`names` of workloads with commas between; W2 is all of W2/…")
	flags.IntVar(&s.rounds, "rounds", 5, "`number` of rounds that the medians are taken of")
	flags.BoolVar(&s.json, "json", false, "print JSON with the values of all rounds")
	flags.IntVar(&s.sizes.Tokens, "tokens", 0, "tokens of W1 (default 4000000)")
	flags.DurationVar(&s.sizes.Paced, "paced", 0, "`duration` of one stream of W2 and W4 (default 5s)")
	flags.IntVar(&s.sizes.SlowTokens, "slow-tokens", 0, "tokens of W3 (default 2000000)")
	flags.IntVar(&s.sizes.ChatTokens, "chat-tokens", 0, "tokens of all unpaced chats of W4 together (default 4000000)")
	flags.IntVar(&s.sizes.Lines, "lines", 0, "lines of W6 (default 4000000)")
	flags.DurationVar(&s.sizes.Stall, "stall", 0, "`duration` for which W3's readers are slow (default 10s)")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.rounds < 1 {
		err := fmt.Errorf("unexpected arguments %q or no rounds", flags.Args())
		fmt.Fprintln(stderr, "sluicebench:", err)
		return s, err
	}
	return s, nil
}

func run(ctx context.Context, arguments []string, stdout, stderr *os.File) int {
	s, err := parse(arguments, stderr)
	if err != nil {
		return 2
	}
	chosen, err := choose(workload.All(s.sizes), s.workloads)
	if err != nil {
		fmt.Fprintln(stderr, "sluicebench:", err)
		return 2
	}
	if err := measure(ctx, s, chosen, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "sluicebench:", err)
		return 1
	}
	return 0
}

// choose picks workloads by their names, or by the part before the slash.
func choose(all []workload.Workload, names string) ([]workload.Workload, error) {
	if names == "all" {
		return all, nil
	}
	var chosen []workload.Workload
	for name := range strings.SplitSeq(names, ",") {
		before := len(chosen)
		for _, w := range all {
			group, _, _ := strings.Cut(w.ID, "/")
			if name == w.ID || name == group {
				chosen = append(chosen, w)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("no workload is called %q", name)
		}
	}
	return chosen, nil
}

func measure(ctx context.Context, s settings, chosen []workload.Workload, stdout, stderr *os.File) (err error) {
	bench, err := workload.Open(ctx, s.options)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := bench.Close(); err == nil {
			err = closeErr
		}
	}()
	return report(s.json, stdout, func(tell func(*workload.Result) error) error {
		for _, w := range chosen {
			result, err := w.Run(ctx, bench, s.rounds, progress(stderr, w.ID, s.rounds))
			clearProgress(stderr)
			if result != nil {
				err = errors.Join(err, tell(result))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// report tells results as tables, each at once, or as one JSON array. What was measured before an
// error or an interrupt is told too.
func report(asJSON bool, stdout io.Writer, run func(tell func(*workload.Result) error) error) error {
	if !asJSON {
		return run(func(result *workload.Result) error { return result.WriteTable(stdout) })
	}
	results := []*workload.Result{}
	err := run(func(result *workload.Result) error {
		results = append(results, result)
		return nil
	})
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	return errors.Join(err, encoder.Encode(results))
}

// progress tells a person at a terminal which round runs; elsewhere it is nil.
func progress(stderr *os.File, name string, rounds int) func(int) {
	if !isTerminal(stderr) {
		return nil
	}
	return func(round int) { fmt.Fprintf(stderr, "\r\033[K%s: round %d of %d", name, round+1, rounds) }
}

func clearProgress(stderr *os.File) {
	if isTerminal(stderr) {
		fmt.Fprint(stderr, "\r\033[K")
	}
}

func isTerminal(file *os.File) bool {
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}
