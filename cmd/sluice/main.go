// Command sluice puts a language model behind stdin and stdout: see README.md.
//
// main is the only place that sees everything: it reads the configuration, opens the real stdin,
// stdout and stderr, makes sources, stages and sink, and gives them to pipeline. Each subcommand has
// a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/process"
)

// The exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // the thing asked for failed
	exitUsage  = 2 // usage or configuration
)

// guardianArgument makes this program the guardian of an engine's children; see internal/process.
const guardianArgument = "guardian"

func main() {
	if len(os.Args) == 2 && os.Args[1] == guardianArgument {
		os.Exit(process.RunGuardian(os.Stdin))
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// streams are the three standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// failure is an error with its exit status. An empty message prints nothing.
type failure struct {
	status  int
	message string
}

func (f *failure) Error() string { return f.message }

// run is the whole program but for the process around it; it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started := false // what fails before a command starts is usage, what fails in it is a failure
	root := newRoot(streams{stdin, stdout, stderr})
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var failed *failure
	var configured *config.Error
	switch {
	case errors.As(err, &failed):
		if failed.message != "" {
			fmt.Fprintln(stderr, "sluice:", failed.message)
		}
		return failed.status
	case errors.As(err, &configured):
		fmt.Fprintln(stderr, "sluice:", configured)
		return exitUsage
	case started:
		fmt.Fprintln(stderr, "sluice:", err)
		return exitFailed
	}
	line := strings.Join(strings.Fields(err.Error()), " ") // a suggestion stands on lines of its own
	fmt.Fprintf(stderr, "sluice: %s (try sluice --help)\n", line)
	return exitUsage
}

// newRoot returns the command line.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "A language model behind stdin and stdout that a slow reader never stalls",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newServeStdio(s), newServe(s), newChat(s), withGuard(newBench(s), s), newBenchServer(s), newBenchPeer(s), newTop(s), newPlan(s), newDoctor(s), newSessions(s), newLogin(s), newLogout(s), newStatus(s), newProfile(s), newAgents(s), newConfig(s), newModel(s), newVersion(s))
	return root
}
