package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/bench/host"
	"sluice/internal/bench/report"
)

// benchFlags are the flags of sluice bench.
type benchFlags struct {
	readers  []string
	tokens   int
	rate     float64
	streams  int
	policy   string
	duration time.Duration
	slow     time.Duration
	sockets  bool

	url, config, prompt string

	json   bool
	report string

	paced bool // the rate was given, even if it is 0
}

func newBench(s streams) *cobra.Command {
	var flags benchFlags
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure on this machine what slow readers cost a model",
		Long: "Measure on this machine what slow readers cost a model: starts an engine as a host would, feeds it from a\n" +
			"load server and reads its output at the pace of each reader.\n\n" +
			"  fast       whatever is there at once\n" +
			"  throttled  64 KB/s\n" +
			"  bursty     pauses of 100 ms between bursts\n" +
			"  stalled    nothing for --stall, then all\n" +
			"  trickle    one byte a read\n" +
			"  closed     goes away in the middle of the stream\n\n" +
			"With --url or --config the tokens are those of your own llama-server. Ctrl-C prints what there is.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			flags.paced = c.Flags().Changed("rate")
			return runBench(c.Context(), &flags, s)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&flags.readers, "reader", []string{host.ReaderFast, host.ReaderThrottled, host.ReaderStalled}, "readers, with commas")
	f.IntVar(&flags.tokens, "tokens", 0, "tokens of each stream (default 2000000, 10 s worth of --rate, or 512 of your own server)")
	f.Float64Var(&flags.rate, "rate", 0, "tokens per second of each stream, 0 for as fast as they are read")
	f.IntVar(&flags.streams, "streams", 1, "chats at once")
	f.StringVar(&flags.policy, "policy", "coalesce", "what a full queue does: coalesce or drop")
	f.DurationVar(&flags.duration, "duration", 0, "end each run after this time (default when all tokens came)")
	f.DurationVar(&flags.slow, "stall", 10*time.Second, "how long slow readers stay slow")
	f.BoolVar(&flags.sockets, "socket-pair", false, "socket pairs, which Node gives its children, instead of pipes")
	f.StringVar(&flags.url, "url", "", "your own running llama-server, such as http://127.0.0.1:8080; its key comes from "+apiKeyVariable)
	f.StringVar(&flags.config, "config", "", "configuration file whose llama_server.url it is")
	f.StringVar(&flags.prompt, "prompt", "Tell a long story about a river.", "what your own server is asked")
	f.BoolVar(&flags.json, "json", false, "print JSON instead of the table")
	f.StringVar(&flags.report, "report", "", "write an HTML page with charts to this file")
	return c
}

func runBench(ctx context.Context, flags *benchFlags, s streams) error {
	target, err := flags.target(ctx)
	if err != nil {
		return err
	}
	plan, err := flags.plan(target.url != "")
	if err != nil {
		return &failure{exitUsage, err.Error()}
	}
	page, err := openReport(flags.report)
	if err != nil {
		return &failure{exitUsage, err.Error()}
	}
	defer page.discard()
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	b := bench{plan: plan, console: newConsole(s.err), report: flags.newReport(target)}
	return flags.conclude(b.report, b.run(ctx, target), page, s)
}

// conclude prints what was measured, also where it ended in an error.
func (f *benchFlags) conclude(r *report.Report, ended error, page *reportFile, s streams) error {
	if ended != nil && len(r.Runs) == 0 {
		return &failure{exitFailed, ended.Error()}
	}
	write := r.WriteTable
	if f.json {
		write = r.WriteJSON
	}
	if err := errors.Join(write(s.out), page.write(r)); err != nil {
		return &failure{exitFailed, err.Error()}
	}
	if err := verdict(r); err != nil {
		return err
	}
	if ended != nil {
		return &failure{exitFailed, ended.Error()}
	}
	return nil
}

// untilInterrupt returns a context that the first Ctrl-C or SIGTERM ends, or the end of the terminal
// unless nohup said that it is nothing to us; a second one ends the process.
func untilInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// verdict is what the exit status tells; what went wrong was printed.
func verdict(r *report.Report) error {
	failed := &failure{status: exitFailed}
	if r.Interrupted {
		failed.message = "interrupted"
		return failed
	}
	for _, run := range r.Runs {
		if run.Failed() {
			failed.message = "the run " + run.Label + " failed"
			return failed
		}
	}
	return nil
}
