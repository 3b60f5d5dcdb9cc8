package main

import (
	"io"
	"os"
	"time"

	"sluice/internal/process"
)

const (
	// toolLines of an MCP server's stderr are kept for messages.
	toolLines = 20
	// toolDrain bounds the wait for the rest of an ended server's stderr.
	toolDrain = 250 * time.Millisecond
)

// toolProcess is an MCP server's process with its pipes. It implements tools.Process, whose owner closes
// stdin and stdout; stderr is read into the tail and closed here.
type toolProcess struct {
	started *process.Process
	tail    *process.Tail
	stdin   *os.File
	stdout  *os.File
	done    chan struct{} // closed when the process has ended and its stderr was read
}

// startTool starts the process.
func startTool(launcher *process.Launcher, command process.Command, tail *process.Tail) (*toolProcess, error) {
	var files pipeFiles
	defer files.closeTheirs()
	command.Stdin, command.Stdout, command.Stderr = files.input(), files.output(), files.output()
	if files.err == nil {
		started, err := launcher.Start(command)
		if err == nil {
			p := &toolProcess{started: started, tail: tail, stdin: files.ours[0], stdout: files.ours[1], done: make(chan struct{})}
			go p.watch(files.ours[2])
			return p, nil
		}
		files.err = err
	}
	closeFiles(files.ours)
	return nil, files.err
}

// watch reads stderr and closes done.
func (p *toolProcess) watch(stderr *os.File) {
	defer close(p.done)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.tail.Drain(stderr)
	}()
	<-p.started.Done()
	timer := time.AfterFunc(toolDrain, func() { _ = stderr.Close() }) // somebody out of reach holds the pipe
	defer timer.Stop()
	<-drained
	_ = stderr.Close()
}

// Stdin implements tools.Process.
func (p *toolProcess) Stdin() io.WriteCloser { return p.stdin }

// Stdout implements tools.Process.
func (p *toolProcess) Stdout() io.ReadCloser { return p.stdout }

// Done implements tools.Process.
func (p *toolProcess) Done() <-chan struct{} { return p.done }

// Stop implements tools.Process.
func (p *toolProcess) Stop(grace time.Duration) {
	p.started.Stop(grace)
	<-p.done
}

// Kill implements tools.Process.
func (p *toolProcess) Kill() { p.started.Kill() }

// State implements tools.Process.
func (p *toolProcess) State() string { return p.started.State() }

// Lines implements tools.Process.
func (p *toolProcess) Lines() []string { return p.tail.Lines() }

// pipeFiles are the ends of a child's pipes.
type pipeFiles struct {
	ours, theirs []*os.File
	err          error // of the first pipe that couldn't be made
}

// input makes a pipe that the child reads, output one that it writes. Both return the child's end.
func (f *pipeFiles) input() *os.File {
	theirs, ours := f.pipe()
	f.add(ours, theirs)
	return theirs
}

func (f *pipeFiles) output() *os.File {
	ours, theirs := f.pipe()
	f.add(ours, theirs)
	return theirs
}

func (f *pipeFiles) pipe() (read, write *os.File) {
	read, write, err := os.Pipe()
	if f.err == nil {
		f.err = err
	}
	return read, write
}

func (f *pipeFiles) add(ours, theirs *os.File) {
	f.ours, f.theirs = append(f.ours, ours), append(f.theirs, theirs)
}

func (f *pipeFiles) closeTheirs() { closeFiles(f.theirs) }

func closeFiles(files []*os.File) {
	for _, file := range files {
		_ = file.Close() // a nil file only returns an error
	}
}
