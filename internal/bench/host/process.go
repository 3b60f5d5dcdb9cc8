// Package host runs a program the way a host application does: it spawns it, writes lines to its
// stdin and reads lines from its stdout at the speed of a reader model, and accounts for its CPU
// time and memory.
//
// One goroutine of each Process reads its stdout and alone calls the LineReader, another waits for its
// exit; the methods may be called from any goroutine. Close ends the program and the reader, and closes all descriptors.
package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"sluice/internal/bench/clock"
)

// exitTimeout is how long Close waits for a program whose stdin was closed before it kills it.
const exitTimeout = 45 * time.Second

// ErrEnded is returned by Await when the program's output ended first.
var ErrEnded = errors.New("the program's output ended")

// ErrExited tells that the program has exited where it should still run.
var ErrExited = errors.New("the program has exited")

// LineReader takes whole lines, each with its line end, received at a clock.Now time. The block is
// only valid during the call.
type LineReader interface {
	ReadLines(block []byte, at int64)
}

// Options describe a program. Only Path and Lines are needed.
type Options struct {
	Path       string
	Args       []string
	Env        []string // added to the environment, which is passed on without SLUICE_*
	Dir        string
	SocketPair bool // socket pairs as Node gives them, instead of pipes
	Lines      LineReader
	Pace       Pace // nil reads as fast as it can
}

// Process is a running program.
type Process struct {
	StartedAt int64 // clock.Now just before the program was started

	command *exec.Cmd
	stdin   *os.File
	stderr  *os.File
	reader  *reader
	cancel  context.CancelFunc

	exited  chan struct{}
	exitErr error // set before exited is closed

	closeOnce sync.Once
	closeErr  error
}

// Start spawns the program. It is killed when the context ends. The caller calls Close.
func Start(ctx context.Context, options Options) (*Process, error) {
	ends, err := openEnds(options.SocketPair)
	if err != nil {
		return nil, err
	}
	stderr, err := os.CreateTemp("", "bench-stderr-")
	if err != nil {
		ends.close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, options.Path, options.Args...)
	command.Env = append(withoutSettings(os.Environ()), options.Env...)
	command.Dir = options.Dir
	command.Stdin, command.Stdout, command.Stderr = ends.childStdin, ends.childStdout, stderr
	p := &Process{command: command, stdin: ends.stdin, stderr: stderr, cancel: cancel,
		exited: make(chan struct{}), StartedAt: clock.Now()}
	err = command.Start()
	ends.closeChild()
	if err != nil {
		cancel()
		ends.close()
		p.removeStderr()
		return nil, fmt.Errorf("start %s: %w", options.Path, err)
	}
	p.reader = startReader(ctx, ends.stdout, options.Lines, options.Pace)
	go func() {
		defer close(p.exited)
		p.exitErr = command.Wait()
	}()
	return p, nil
}

// withoutSettings leaves out variables that would change the engine's configuration.
func withoutSettings(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		if !strings.HasPrefix(variable, "SLUICE_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// Write writes to the program's stdin and blocks until it took all.
func (p *Process) Write(data []byte) (int, error) { return p.stdin.Write(data) }

// Listen hands all further lines to another LineReader.
func (p *Process) Listen(lines LineReader) { p.reader.listen(lines) }

// SetPace reads at another pace from now on; nil reads as fast as it can. What the old pace waits for
// ends, but a read that is already waiting for output still takes no more than the old pace allows.
func (p *Process) SetPace(pace Pace) { p.reader.setPace(pace) }

// Ended is closed when the program's output has ended or its reader has gone away.
func (p *Process) Ended() <-chan struct{} { return p.reader.ended }

// Exited is closed when the program has exited; its output may still have to be read.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Await waits until done is closed. It returns ErrEnded, with the end of what the program logged,
// when the output ended before, and the context's error when that ended before.
func (p *Process) Await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w%s", context.Cause(ctx), p.logTail())
	case <-p.reader.ended:
	}
	select {
	case <-done:
		return nil
	default:
		return fmt.Errorf("%w%s", ErrEnded, p.logTail())
	}
}

// exitPatience is how long an end that has begun may take.
const exitPatience = time.Second

// Usage returns what the program has used so far. It returns ErrExited, with the end of what the
// program logged, when it doesn't run any more.
func (p *Process) Usage() (Usage, error) {
	usage, err := readUsage(p.command.Process.Pid)
	if err != nil {
		select { // its memory goes before its last words can be read
		case <-p.exited:
		case <-time.After(exitPatience):
		}
		err = fmt.Errorf("%w: %w%s", ErrExited, err, p.logTail())
	}
	return usage, err
}

// Close closes the program's stdin, reads its output to the end and waits for its exit. It returns
// an error when the program failed or had to be killed.
func (p *Process) Close() error {
	p.closeOnce.Do(func() { p.closeErr = p.close() })
	return p.closeErr
}

func (p *Process) close() error {
	p.stdin.Close()
	killer := time.AfterFunc(exitTimeout, p.cancel)
	<-p.reader.ended
	<-p.exited
	err := p.exitErr
	killed := !killer.Stop()
	p.cancel()
	if err != nil || killed {
		err = fmt.Errorf("%s: %w%s", p.command.Path, errors.Join(err, killedError(killed)), p.logTail())
	}
	p.removeStderr()
	return err
}

// Kill ends the program at once and releases all that Close does. After Close it does nothing.
func (p *Process) Kill() {
	p.cancel()
	_ = p.Close() // that it was killed is no news
}

func killedError(killed bool) error {
	if killed {
		return fmt.Errorf("killed %v after its stdin was closed", exitTimeout)
	}
	return nil
}

// logTail returns the last lines that the program wrote to stderr, to be put behind an error; empty
// when there are none.
func (p *Process) logTail() string {
	const tailBytes = 2000
	info, err := p.stderr.Stat()
	if err != nil {
		return "; stderr: " + err.Error()
	}
	text, err := io.ReadAll(io.NewSectionReader(p.stderr, max(0, info.Size()-tailBytes), tailBytes))
	if err != nil {
		return "; stderr: " + err.Error()
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return ""
	}
	return "; stderr: " + string(text)
}

func (p *Process) removeStderr() {
	p.stderr.Close()
	os.Remove(p.stderr.Name())
}
