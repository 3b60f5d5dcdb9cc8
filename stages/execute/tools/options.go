package tools

import (
	"io"
	"log/slog"
	"time"
)

const (
	// defaultPatience is how long List waits for servers that are being connected.
	defaultPatience   = 5 * time.Second
	defaultTimeout    = time.Minute
	defaultMaxMessage = 64 << 20
)

// Options configures a Manager. Match is needed, Spawn where a server has a command.
type Options struct {
	// Servers are the configured servers by name. A name holds no slash.
	Servers map[string]Server
	// Match reports whether a glob names a tool, given as server/tool. In globs * and ? stand for others.
	Match func(glob, name string) bool
	// Spawn starts a server's process. The error says what is wrong and what to do.
	Spawn func(name string, server Server) (Process, error)
	// Version is the engine's version, told to the servers.
	Version string
	// Patience is how long List waits for servers that are being connected; 0 is 5 s.
	Patience time.Duration
	// MaxMessage is the longest message of a server in bytes, and how many of its tools' list are read;
	// 0 is 64 MiB. A longer message ends the server's life; so much of messages may wait for a server
	// that doesn't read.
	MaxMessage int
	// Logger gets the servers' log messages and what was wrong with their tools. Nil discards.
	Logger *slog.Logger
}

// Server is one configured server: a command that is spawned, or the URL of a streamable HTTP endpoint.
type Server struct {
	Command string
	Args    []string
	// Dir is the working directory, absolute; empty is ours.
	Dir string
	Env map[string]string

	URL string
	// Headers are sent to the URL's host with every request.
	Headers map[string]string

	// Timeout bounds the start and each call; 0 is a minute.
	Timeout time.Duration
	// NeedsApproval reports whether a person is to be asked before the tool server/tool runs. Nil: always.
	NeedsApproval func(name string) bool
	// Clean takes the server's secrets out of a text. Nil leaves it.
	Clean func(text string) string
}

// Process is a server that was started. The connection closes Stdin and Stdout.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	// Done is closed when the process and all it started have ended.
	Done() <-chan struct{}
	// Stop asks the process to end, kills it after grace, and returns when it has ended.
	Stop(grace time.Duration)
	// Kill kills the process. It doesn't wait.
	Kill()
	// State tells how the process ended, as in "exit status 1". It is called after Done.
	State() string
	// Lines returns the last lines of the standard error output, oldest first, without secrets.
	Lines() []string
}

func (o *Options) defaults() {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = defaultMaxMessage
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func (s Server) defaults() Server {
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if s.NeedsApproval == nil {
		s.NeedsApproval = func(string) bool { return true }
	}
	if s.Clean == nil {
		s.Clean = func(text string) string { return text }
	}
	return s
}
