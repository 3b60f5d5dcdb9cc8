// Package workload runs an engine and its peers through the workloads and tells their figures.
//
// A Bench belongs to one goroutine: runs follow one another, since two at once would measure each
// other. Every run closes the processes that it started; Close ends the load server.
package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sluice/bench/peers"
	"sluice/bench/roles"
	"sluice/internal/bench/host"
	"sluice/internal/bench/load"
)

// Options tell what is measured.
type Options struct {
	Engine     string // path of the engine
	SocketPair bool   // programs get socket pairs, as Node gives them, instead of pipes
}

// Bench holds what all workloads share.
type Bench struct {
	options    Options
	self       string // the running program, which also plays the roles
	folder     string // temporary
	copier     string // empty until it was built
	loadServer *host.Process
	address    string // of the load server
	client     *http.Client
}

// Open starts the load server as a process of its own: the running program with the arguments of
// package roles. The caller calls Close.
func Open(ctx context.Context, options Options) (*Bench, error) {
	if info, err := os.Stat(options.Engine); err != nil || info.IsDir() {
		return nil, fmt.Errorf("no engine at %q: build it first (make build) or name it", options.Engine)
	}
	engine, err := filepath.Abs(options.Engine)
	if err != nil {
		return nil, err
	}
	options.Engine = engine
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	b := &Bench{options: options, self: self, folder: folder, client: &http.Client{Transport: &http.Transport{}}}
	if err := b.startLoadServer(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close ends the load server and removes what was written.
func (b *Bench) Close() error {
	b.client.CloseIdleConnections()
	var err error
	if b.loadServer != nil {
		err = b.loadServer.Close()
	}
	return errors.Join(err, os.RemoveAll(b.folder))
}

// start spawns a program in the temporary folder, with the ends that all programs get.
func (b *Bench) start(ctx context.Context, lines host.LineReader, program string, arguments ...string) (*host.Process, error) {
	return b.startWith(ctx, b.options.SocketPair, lines, program, arguments...)
}

func (b *Bench) startWith(ctx context.Context, socketPair bool, lines host.LineReader, program string, arguments ...string) (*host.Process, error) {
	return host.Start(ctx, host.Options{
		Path: program, Args: arguments, Dir: b.folder, SocketPair: socketPair, Lines: lines,
	})
}

func (b *Bench) startLoadServer(ctx context.Context) error {
	first := newFirstLine("")
	server, err := b.start(ctx, first, b.self, roles.LoadServer)
	if err != nil {
		return err
	}
	b.loadServer = server
	if err := server.Await(ctx, first.found); err != nil {
		return err
	}
	b.address = strings.TrimSpace(first.line)
	return nil
}

// streams returns the load server's account of all streams that it ever sent, once there are at
// least count of them and none is being sent.
func (b *Bench) streams(ctx context.Context, count int) ([]load.StreamStats, error) {
	address := "http://" + b.address + "/bench/streams?count=" + strconv.Itoa(count)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := b.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var streams []load.StreamStats
	if err := json.NewDecoder(response.Body).Decode(&streams); err != nil {
		return nil, err
	}
	if len(streams) < count {
		return nil, fmt.Errorf("the load server ended after %d of %d streams", len(streams), count)
	}
	return streams, nil
}

func (b *Bench) copierProgram(ctx context.Context) (string, error) {
	if b.copier != "" {
		return b.copier, nil
	}
	program, err := peers.BuildCopier(ctx, b.folder)
	b.copier = program
	return program, err
}

// firstLine keeps the first line that contains a text.
type firstLine struct {
	text  string
	line  string // set before found is closed
	at    int64  // clock.Now of its receipt
	found chan struct{}
}

func newFirstLine(text string) *firstLine {
	return &firstLine{text: text, found: make(chan struct{})}
}

// ReadLines looks for the line until it was found.
func (f *firstLine) ReadLines(block []byte, at int64) {
	if f.line != "" {
		return
	}
	for line := range strings.Lines(string(block)) {
		if strings.Contains(line, f.text) {
			f.line, f.at = line, at
			close(f.found)
			return
		}
	}
}
