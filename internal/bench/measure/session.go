// Package measure runs an engine, or another program in its place, under a load and a reader model,
// verifies what it wrote and tells what it took.
//
// A Session belongs to one goroutine: runs follow one another, since two at once would measure each
// other. Every run ends the processes and goroutines that it started; Close ends the load server.
package measure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"sluice/internal/bench/host"
	"sluice/internal/bench/verify"
)

// Options tell what is measured. Engine is needed, and LoadServer or URL.
type Options struct {
	Engine     string   // path of the engine
	LoadServer []string // a program, by its path, and arguments with which it runs load.ServeUntilEnd
	URL        string   // a llama-server of the user's own instead, with a slash at its end or without
	Env        []string // added to the engine's environment, such as the key of that server
	SocketPair bool     // programs get socket pairs, as Node gives them, instead of pipes
}

// Session holds what all runs share.
type Session struct {
	options    Options
	folder     string // temporary
	loadServer *host.Process
	url        string // of the load server, or the user's own
	client     *http.Client
}

// Open starts the load server as a process of its own, unless the user has named a server. The caller
// calls Close.
func Open(ctx context.Context, options Options) (*Session, error) {
	if info, err := os.Stat(options.Engine); err != nil || info.IsDir() {
		return nil, fmt.Errorf("no engine at %q: build it first (make build) or name it", options.Engine)
	}
	engine, err := filepath.Abs(options.Engine)
	if err != nil {
		return nil, err
	}
	options.Engine = engine
	folder, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	s := &Session{options: options, folder: folder, client: &http.Client{Transport: &http.Transport{}}}
	if options.URL != "" {
		s.url = strings.TrimSuffix(options.URL, "/")
		return s, nil
	}
	if err := s.startLoadServer(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the load server and removes what was written.
func (s *Session) Close() error {
	s.client.CloseIdleConnections()
	var err error
	if s.loadServer != nil {
		if err = s.loadServer.Close(); err != nil {
			err = fmt.Errorf("the load server: %w", err)
		}
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}

// Folder is a temporary folder that Close removes.
func (s *Session) Folder() string { return s.folder }

// EnginePath is the absolute path of the engine.
func (s *Session) EnginePath() string { return s.options.Engine }

// Address is the host and port of the load server.
func (s *Session) Address() string { return strings.TrimPrefix(s.url, "http://") }

// ownServer reports whether the user has named a server, of whose streams only the engine's end is seen.
func (s *Session) ownServer() bool { return s.options.URL != "" }

// Start spawns a program in the temporary folder. The caller closes it.
func (s *Session) Start(ctx context.Context, lines host.LineReader, program string, arguments ...string) (*host.Process, error) {
	return s.start(ctx, host.Options{Path: program, Args: arguments, Lines: lines})
}

func (s *Session) start(ctx context.Context, options host.Options) (*host.Process, error) {
	options.Dir = s.folder
	options.SocketPair = options.SocketPair || s.options.SocketPair
	return host.Start(ctx, options)
}

func (s *Session) startLoadServer(ctx context.Context) error {
	first := verify.NewFirst("")
	program := s.options.LoadServer
	server, err := s.Start(ctx, first, program[0], program[1:]...)
	if err != nil {
		return err
	}
	s.loadServer = server
	if err := server.Await(ctx, first.Found()); err != nil {
		return fmt.Errorf("the load server: %w", err)
	}
	line, _ := first.Line()
	s.url = "http://" + strings.TrimSpace(line)
	return nil
}
