package llama

import (
	"context"
	"log/slog"
	"net"
	"time"

	"sluice/internal/process"
)

// Phase says what an Acquire waits for, in the words of the extension progress.
type Phase string

// The phases of an Acquire, in the order in which they come.
const (
	PhaseServerStart Phase = "server_start"
	PhaseModelLoad   Phase = "model_load"
	PhaseQueue       Phase = "queue"
)

// ServerOptions says how to reach one llama-server. With Dial or URL it is attached to, else spawned.
type ServerOptions struct {
	// Dial connects to a server within this process.
	Dial func(context.Context) (net.Conn, error)
	// URL is http(s)://host:port or unix:///path.sock of a running server; APIKey is its bearer key.
	URL, APIKey string

	// Binary is llama-server's name on PATH, or a path. Empty: "llama-server".
	Binary string
	// Args follow the arguments that are made here.
	Args []string
	// ModelPath is the GGUF file to load.
	ModelPath string
	// CtxSize is the context of one chat in tokens; 0 leaves it to the server. llama-server's -c is the
	// total that its slots divide: with Parallel set it is the product of both. With Parallel 0 the
	// server chooses the number of slots and lets them share one cache, so -c is CtxSize and any chat
	// may use all of it, as long as the others leave it that much.
	CtxSize int
	// GPULayers is a number, or "auto" or empty to leave it to the server.
	GPULayers string
	// Plan, when set, is asked right before each start for the arguments that stand in for CtxSize, Parallel
	// and GPULayers; program is the path of Binary. They follow -m and the address, Args follow them. The
	// error is a *wire.Fault, which everybody who waits gets, or the cause of ctx, with which Plan must end.
	Plan func(ctx context.Context, program string) (flags []string, err error)
	// Embeddings makes a spawned server one for Embed, not for chats.
	Embeddings bool
	// StartupTimeout bounds the start and the loading of the model. 0: 120 s.
	StartupTimeout time.Duration
	// IdleTimeout stops a spawned server after this long without a lease. 0: never.
	IdleTimeout time.Duration
	// StopTimeout is how long a spawned server may take to end when asked. 0: 2 s.
	StopTimeout time.Duration
	// Launcher starts the server. Nil: one of our own.
	Launcher *process.Launcher

	// ModelName is sent as model.
	ModelName string
	// Parallel is how many leases there are at once. 0: as many as a spawned server has slots; for an
	// attached one no limit.
	Parallel int
	// Logger gets the server's output at debug. Nil discards.
	Logger *slog.Logger
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Binary == "" {
		o.Binary = "llama-server"
	}
	if o.StartupTimeout == 0 {
		o.StartupTimeout = 120 * time.Second
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = 2 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// attached reports whether the server is somebody else's.
func (o ServerOptions) attached() bool { return o.Dial != nil || o.URL != "" }

// retry is the delay between failed starts.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// nextRetry doubles the delay.
func nextRetry(delay time.Duration) time.Duration {
	return min(max(2*delay, firstRetry), lastRetry)
}
