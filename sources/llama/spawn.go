package llama

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/process"
	"sluice/internal/wire"
)

const (
	// keptLines of a server's output go into error messages, their newest excerptBytes at most.
	keptLines    = 50
	excerptBytes = 8 << 10
	// drainLimit bounds the wait for the rest of an ended server's output.
	drainLimit = 250 * time.Millisecond
)

// child is a spawned server's process and its output.
type child struct {
	*process.Process
	tail    *process.Tail
	output  *os.File      // our end, closed by watchOutput
	drained chan struct{} // closed when all output was read
}

// startChild starts the program at path with these flags and returns it with the endpoint on which it will
// answer.
func startChild(o ServerOptions, launcher *process.Launcher, path string, flags []string) (*child, Endpoint, *wire.Fault) {
	key := newKey()
	env := childEnvironment(os.Environ(), key)
	tail := process.NewTail(keptLines, redactor(key, env, o.Args), func(line string) {
		o.Logger.Debug("llama-server", "line", line)
	})
	places, err := places()
	for _, place := range places {
		var c *child
		command := process.Command{Path: path, Args: slices.Concat([]string{"-m", o.ModelPath}, place.args, flags, o.Args), Env: env, Scratch: place.folder}
		c, err = launchChild(launcher, command, tail)
		if err == nil {
			return c, Endpoint{BaseURL: "http://llama", Client: newClient(place.dial), Key: key, Model: o.ModelName}, nil
		}
		if !errors.Is(err, process.ErrScratch) {
			return nil, Endpoint{}, launchFault(path, err)
		}
	}
	return nil, Endpoint{}, startFault("no private address for llama-server: %v; check TMPDIR", err)
}

// launchChild starts the process with its output on a pipe that is read until its end.
func launchChild(launcher *process.Launcher, command process.Command, tail *process.Tail) (*child, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	command.Stdout, command.Stderr = theirs, theirs
	started, err := launcher.Start(command)
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	c := &child{Process: started, tail: tail, output: ours, drained: make(chan struct{})}
	go func() {
		defer close(c.drained)
		tail.Drain(ours)
	}()
	return c, nil
}

// finish returns when the process has ended and its output was read.
func (c *child) finish() {
	<-c.Done()
	timer := time.NewTimer(drainLimit)
	defer timer.Stop()
	select {
	case <-c.drained:
		_ = c.output.Close()
	case <-timer.C: // somebody out of reach holds the pipe
		_ = c.output.Close()
		<-c.drained
	}
}

// gone reports whether the process has ended.
func (c *child) gone() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// how tells how the process ended, with what probably killed it when we didn't. A shell as the wrapper
// reports a killed server as 128+9.
func (c *child) how() string {
	state := c.State()
	if state == "signal: killed" || state == "exit status 137" {
		state += "; the system may have run out of memory"
	}
	return state
}

// lastLines is the end of a message: the newest output of the server.
func (c *child) lastLines() string {
	lines, size := c.tail.Lines(), 0
	first := len(lines)
	for first > 0 && size+len(lines[first-1]) < excerptBytes {
		first--
		size += len(lines[first]) + 1
	}
	if first == len(lines) {
		return ". It printed nothing"
	}
	return ". Its last lines:\n" + strings.Join(lines[first:], "\n")
}

// plainFlags are the arguments of a server whose start nobody plans. The key is not among them: argv is for
// all to see.
func plainFlags(o ServerOptions) (args []string) {
	if o.Parallel > 0 {
		args = append(args, "--parallel", strconv.Itoa(o.Parallel))
	}
	if o.CtxSize > 0 {
		args = append(args, "-c", strconv.Itoa(o.CtxSize*max(o.Parallel, 1)))
	}
	if o.Embeddings {
		args = append(args, "--embeddings", "--batch-size", embeddingTokens, "--ubatch-size", embeddingTokens)
	}
	if _, err := strconv.Atoi(o.GPULayers); err == nil {
		args = append(args, "-ngl", o.GPULayers)
	}
	return args
}
