// Command peers runs the engine beside programs that others would have written, interleaved, and
// prints the medians of all rounds as Markdown:
//
//	peers -engine bin/sluice -rounds 5 -readme README.md
//
// The peers that are built stand in the folder of this program. It exits with 1 when something was
// wrong or not to be measured, having printed what it has, and with 2 when it was called wrongly. All
// work happens in one goroutine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"sluice/bench/roles"
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
	engine    string
	programs  string // folder of the built peers
	readme    string // empty to leave it alone
	workloads []string
	rounds    int
	sizes     sizes
}

// sizes say how much is done.
type sizes struct {
	tokens      int           // of W1
	smallTokens int           // of programs below 0.2 million events a second
	slowTokens  int           // of W3
	stall       time.Duration // of W3's reader
	lines       int           // of W6
}

func parse(arguments []string, stderr io.Writer) (s settings, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.engine, "engine", "bin/sluice", "the engine's `path`")
	flags.StringVar(&s.programs, "programs", filepath.Dir(self), "`folder` of the peers that are built")
	flags.StringVar(&s.readme, "readme", "", "`file` whose text between the markers is replaced")
	workloads := flags.String("workload", "W1,W3,W6", "`names` of workloads with commas between")
	flags.IntVar(&s.rounds, "rounds", 5, "`number` of rounds that the medians are taken of")
	flags.IntVar(&s.sizes.tokens, "tokens", 4_000_000, "tokens of W1")
	flags.IntVar(&s.sizes.smallTokens, "small-tokens", 200_000, "tokens of programs below 0.2 M events/s, and of Benthos in W3")
	flags.IntVar(&s.sizes.slowTokens, "slow-tokens", 2_000_000, "tokens of W3")
	flags.DurationVar(&s.sizes.stall, "stall", 10*time.Second, "`duration` for which W3's reader reads nothing")
	flags.IntVar(&s.sizes.lines, "lines", 4_000_000, "lines of W6")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	s.workloads = strings.Split(*workloads, ",")
	err = s.check(flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "peers:", err)
	}
	return s, err
}

// check finds out before a long run what would spoil it at its end.
func (s *settings) check(rest []string) error {
	if len(rest) > 0 || s.rounds < 1 {
		return fmt.Errorf("unexpected arguments %q or no rounds", rest)
	}
	for _, name := range s.workloads {
		if workloads[name] == nil {
			return fmt.Errorf("no workload is called %q: they are W1, W3 and W6", name)
		}
	}
	if s.readme == "" {
		return nil
	}
	_, err := readParts(s.readme)
	return err
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	s, err := parse(arguments, stderr)
	if err != nil {
		return 2
	}
	text, err := measureAll(ctx, s, stderr)
	if text != "" {
		fmt.Fprint(stdout, text)
	}
	if err == nil && s.readme != "" {
		err = replaceInReadme(s.readme, text)
	}
	if err != nil {
		fmt.Fprintln(stderr, "peers:", err)
		return 1
	}
	return 0
}

// measureAll returns the tables of what was measured, also when an error ended it.
func measureAll(ctx context.Context, s settings, stderr io.Writer) (text string, err error) {
	b, err := open(ctx, s)
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := b.close(); ctx.Err() == nil { // an interrupted load server ends as it has to
			err = errors.Join(err, closeErr)
		}
	}()
	for _, missing := range b.missing {
		fmt.Fprintf(stderr, "peers: %s is missing, and so are the figures of what runs on it\n", missing)
	}
	for round := range s.rounds {
		for _, name := range s.workloads {
			at := fmt.Sprintf("round %d of %d", round+1, s.rounds)
			fmt.Fprintf(stderr, "%s: %s\n", at, name)
			if err := workloads[name](ctx, b); err != nil {
				return b.markdown("Ended early, in " + at + ": medians of what was measured"), fmt.Errorf("%s, %s: %w", name, at, err)
			}
		}
	}
	return b.markdown(fmt.Sprintf("Medians of %d interleaved rounds", s.rounds)), nil
}
