// Package workload runs an engine and its peers through the workloads and tells their figures.
//
// A Bench belongs to one goroutine: runs follow one another, since two at once would measure each
// other. Every run closes the processes that it started; Close ends the load server.
package workload

import (
	"context"
	"net"
	"os"
	"strconv"

	"sluice/bench/peers"
	"sluice/bench/roles"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/verify"
)

// Options tell what is measured.
type Options struct {
	Engine     string // path of the engine
	SocketPair bool   // programs get socket pairs, as Node gives them, instead of pipes
}

// Bench holds what all workloads share.
type Bench struct {
	*measure.Session
	self   string // the running program, which also plays the roles
	copier string // empty until it was built
	sinks  string // likewise
}

// Open starts the load server as a process of its own: the running program with the arguments of
// package roles. The caller calls Close.
func Open(ctx context.Context, options Options) (*Bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	session, err := measure.Open(ctx, measure.Options{
		Engine: options.Engine, LoadServer: []string{self, roles.LoadServer}, SocketPair: options.SocketPair,
	})
	if err != nil {
		return nil, err
	}
	return &Bench{Session: session, self: self}, nil
}

// runLimit measures the limit, which writes as many bytes as the engine did.
func (b *Bench) runLimit(ctx context.Context, l measure.Load, bytes int) (*measure.Result, error) {
	return b.RunProgram(ctx, l, measure.Program{
		Path: b.self, Filled: true,
		Args: []string{roles.Limit, "-address", b.Address(), "-tokens", strconv.Itoa(l.Tokens), "-bytes", strconv.Itoa(bytes)},
	})
}

// runCopier measures the copier, which writes the load server's own frames.
func (b *Bench) runCopier(ctx context.Context, l measure.Load) (*measure.Result, error) {
	if b.copier == "" {
		program, err := peers.BuildCopier(ctx, b.Folder())
		if err != nil {
			return nil, err
		}
		b.copier = program
	}
	_, port, err := net.SplitHostPort(b.Address())
	if err != nil {
		return nil, err
	}
	return b.RunProgram(ctx, l, measure.Program{Path: b.copier, Args: []string{port}, Format: verify.SSE})
}
