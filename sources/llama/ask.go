package llama

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"sluice/internal/process"
)

const (
	// maxAnswer bounds what is kept of one output of a program that is asked, in bytes: `--help` has 60 KiB.
	maxAnswer = 1 << 20
	// killPatience is how long a program that is asked may take to end once it was killed.
	killPatience = time.Second
)

// Ask runs a llama-server that only prints something and ends, as with --help, and returns what it printed,
// at most 1 MiB of each. It has no key, no model, and none of our settings in its environment. When ctx ends
// it is killed with all it started, and the error is the cause of ctx; another error tells how it ended.
func Ask(ctx context.Context, launcher *process.Launcher, path string, args ...string) (stdout, stderr string, err error) {
	if ctx.Err() != nil {
		return "", "", context.Cause(ctx)
	}
	var out, problems printed
	defer out.close()
	defer problems.close()
	command := process.Command{Path: path, Args: args, Env: cleanEnvironment(os.Environ())}
	started, err := startAsked(launcher, command, &out, &problems)
	if err != nil {
		return "", "", err
	}
	select {
	case <-started.Done():
	case <-ctx.Done():
		started.Kill()
		pause(context.Background(), started.Done(), killPatience)
		return "", "", context.Cause(ctx)
	}
	stdout, stderr = out.text(), problems.text()
	if state := started.State(); state != "exit status 0" {
		return stdout, stderr, errors.New(state)
	}
	return stdout, stderr, nil
}

// startAsked starts the program with its outputs on pipes that are read.
func startAsked(launcher *process.Launcher, command process.Command, out, problems *printed) (*process.Process, error) {
	var err error
	if command.Stdout, err = out.open(); err != nil {
		return nil, err
	}
	defer command.Stdout.Close()
	if command.Stderr, err = problems.open(); err != nil {
		return nil, err
	}
	defer command.Stderr.Close()
	return launcher.Start(command)
}

// printed is one output of a program.
type printed struct {
	ours *os.File
	read chan struct{} // closed when all was read
	kept bytes.Buffer  // the reader's, until read is closed
}

// open returns the program's end, which the caller closes.
func (a *printed) open() (theirs *os.File, err error) {
	if a.ours, theirs, err = os.Pipe(); err != nil {
		return nil, err
	}
	a.read = make(chan struct{})
	go func() {
		defer close(a.read)
		_, _ = io.CopyN(&a.kept, a.ours, maxAnswer)
		_, _ = io.Copy(io.Discard, a.ours)
	}()
	return theirs, nil
}

// text waits for the rest of an ended program's output.
func (a *printed) text() string {
	pause(context.Background(), a.read, drainLimit)
	a.close()
	return a.kept.String()
}

// close ends the reading, for which somebody out of reach may hold the pipe. It may be called again.
func (a *printed) close() {
	if a.ours != nil {
		_ = a.ours.Close()
		<-a.read
	}
}
