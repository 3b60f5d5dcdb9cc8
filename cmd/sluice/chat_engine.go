package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"sluice/internal/process"
)

// keptLogLines is how many of the engine's last log lines are told when it fails.
const keptLogLines = 20

// engineCommand says how an engine is started.
type engineCommand struct {
	executable string   // default: this program
	args       []string // after serve-stdio
	log        func(line string)
}

// engine is a running sluice serve-stdio. It is a process like any host's child, but in a process
// group of its own, so that a terminal's Ctrl-C reaches us alone. When we die it sees the end of its
// stdin and a stdout without a reader, and ends.
type engine struct {
	stdin  io.WriteCloser
	stdout io.Reader
	// wait waits for the end of an engine whose stdout has been read to its end.
	wait func() engineEnd
}

// engineEnd is how an engine ended.
type engineEnd struct {
	status int    // the exit status; -1 when a signal ended it
	state  string // in words
	log    []string
}

func startEngine(c engineCommand) (*engine, error) {
	if c.executable == "" {
		var err error
		if c.executable, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(c.executable, append([]string{"serve-stdio"}, c.args...)...)
	setOwnGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	tail := process.NewTail(keptLogLines, nil, c.log)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		tail.Drain(stderr)
	}()
	return &engine{stdin: stdin, stdout: stdout, wait: func() engineEnd {
		<-drained
		_ = cmd.Wait() // the state tells more than the error
		return engineEnd{cmd.ProcessState.ExitCode(), cmd.ProcessState.String(), tail.Lines()}
	}}, nil
}

// explain returns the error of a session with an engine that ended so; err is what the session saw.
func (e engineEnd) explain(err error) error {
	var failed *failure
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, errEngineGone) && e.status == exitUsage:
		return &failure{exitUsage, e.lastLine()}
	case errors.Is(err, errEngineGone), err == nil && e.status != exitDone:
		return &failure{exitFailed, e.unexpected()}
	case brokenPipe(err):
		return &failure{status: exitFailed}
	case err != nil:
		return &failure{exitFailed, err.Error()}
	}
	return nil
}

// lastLine is what an engine says that refuses its configuration.
func (e engineEnd) lastLine() string {
	if len(e.log) == 0 {
		return "the engine refused its configuration"
	}
	return strings.TrimPrefix(e.log[len(e.log)-1], "sluice: ")
}

func (e engineEnd) unexpected() string {
	text := "the engine ended unexpectedly (" + e.state + ")"
	if len(e.log) == 0 {
		return text
	}
	return text + "; its last lines:\n  " + strings.Join(e.log, "\n  ")
}
