package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// chatFlags are the flags of sluice chat.
type chatFlags struct {
	source        sourceFlags
	params        chatParams
	json, verbose bool
}

func newChat(s streams) *cobra.Command {
	var flags chatFlags
	c := &cobra.Command{
		Use:   "chat [flags] [TEXT]",
		Short: "Ask a model: starts an engine as a host would and prints the answer as it streams",
		Long: "Ask a model: starts an engine as a host would and prints the answer as it streams.\n\n" +
			"Without TEXT the question is what stdin holds; when stdin is a terminal, each line is one (Ctrl-D ends).\n" +
			"Ctrl-C cancels the running chat, a second one quits.\n\n" +
			"A tool call that needs an approval is asked for on the terminal; where there is none, it is denied\n" +
			"unless --yes approves all. --resume needs no TEXT.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runChat(c.Context(), &flags, args, s) },
	}
	flags.source.add(c)
	f := c.Flags()
	f.StringVar(&flags.params.Agent, "agent", "", "agent that answers (default the first one configured)")
	f.StringVar(&flags.params.SessionID, "session", "", "session to go on with (default a new one)")
	f.StringVar(&flags.params.UserID, "user", "", "user whose session it is")
	f.BoolVar(&flags.params.Resume, "resume", false, "resume the session's interrupted turn")
	f.BoolVar(&flags.params.Approve, "yes", false, "approve every tool call that asks for it")
	f.BoolVar(&flags.json, "json", false, "print the engine's lines as they are")
	f.BoolVar(&flags.verbose, "verbose", false, "print the engine's log and each chat's figures to stderr")
	return c
}

// runChat reads a question that isn't typed before it catches Ctrl-C, so that one ends the wait for it.
func runChat(ctx context.Context, flags *chatFlags, args []string, s streams) error {
	keyboard := keyboardOf(s)
	questions, err := newQuestions(args, keyboard, s, flags.params.Resume)
	if err != nil {
		return &failure{exitUsage, err.Error()}
	}
	interrupts, stop := notifyInterrupts()
	defer stop()
	screen := newScreen(s, flags)
	engine, err := startEngine(engineCommand{args: flags.source.arguments(), log: screen.log()})
	if err != nil {
		return &failure{exitFailed, "the engine can't be started: " + err.Error()}
	}
	h := chatHost{engine: engine, questions: questions, screen: screen, approvals: newApprovals(keyboard, screen.console), params: flags.params}
	return h.run(ctx, interrupts)
}

// arguments are the flags that make another command load the same configuration.
func (f *sourceFlags) arguments() (args []string) {
	if f.path != "" {
		args = append(args, "--config="+f.path)
	}
	if f.demo {
		args = append(args, "--demo")
	}
	return args
}

// notifyInterrupts delivers each Ctrl-C. SIGPIPE is caught and ignored, so that a reader of stdout
// that has gone is an error of the write. stop undoes it.
func notifyInterrupts() (interrupts <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 2)
	pipes := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Notify(pipes, syscall.SIGPIPE)
	return signals, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
	}
}
