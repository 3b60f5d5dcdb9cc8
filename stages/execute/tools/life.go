package tools

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// handshakeProtocol is the newest protocol version whose handshake is initialize.
	handshakeProtocol = "2025-11-25"
	// closeGrace is how long a server may take to end once its input was closed, stopGrace once it was
	// asked to end.
	closeGrace = 500 * time.Millisecond
	stopGrace  = 1500 * time.Millisecond
	// refreshPause is the least time between two looks at a list of tools that changes.
	refreshPause = 200 * time.Millisecond
)

// errTimeout is the cause of a context whose time, the server's timeout, is over.
var errTimeout = errors.New("the server's timeout is over")

// life is one life of a server. Its goroutine is the server's live.
type life struct {
	s     *server
	since time.Time

	process Process // nil for a remote server, and before it was spawned
	pipes   *pipes  // nil with process
	remote  *remote // nil for a spawned server
	session *mcp.ClientSession
	phase   string // what the start waits for, for messages
	failed  error  // why the start failed; nil later

	catalog atomic.Pointer[catalog]
	changed chan struct{} // holds one; the server says that its tools changed
	lost    chan struct{} // closed when the session has ended; nil before there is one

	killing  chan struct{} // closed by kill
	killOnce sync.Once

	mu    sync.Mutex
	ended bool           // no call begins any more
	calls sync.WaitGroup // the goroutines of calls

	reason string        // why it ended; set before gone is closed
	gone   chan struct{} // closed when nothing of it is left
}

func newLife(s *server) *life {
	return &life{s: s, since: time.Now(), changed: make(chan struct{}, 1), killing: make(chan struct{}), gone: make(chan struct{})}
}

// start connects, shakes hands and gets the list of tools.
func (l *life) start(protocol string) error {
	ctx, cancel := context.WithTimeoutCause(l.s.m.ctx, l.s.o.Timeout, errTimeout)
	defer cancel()
	transport, err := l.transport()
	if err == nil {
		defer context.AfterFunc(ctx, l.cut)()
		l.phase = "initialize"
		l.session, err = l.client().Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	}
	if err == nil {
		l.follow()
		l.phase = "tools/list"
		err = l.refresh(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	l.failed = err
	return err
}

// transport spawns the server or prepares to reach it.
func (l *life) transport() (mcp.Transport, error) {
	if l.s.o.URL != "" {
		l.remote = newRemote(l.s.o, l.s.m.o.MaxMessage)
		l.remote.mended = l.mended
		return l.remote, nil
	}
	process, err := l.s.m.o.Spawn(l.s.name, l.s.o)
	if err != nil {
		return nil, err
	}
	l.process = process
	l.pipes = newPipes(process.Stdin(), process.Stdout(), process.Done(), l.s.m.o.MaxMessage, l.noise, l.mended)
	return l.pipes, nil
}

// noise logs what a server printed that is no message.
func (l *life) noise(line string) {
	l.s.log.Debug("MCP server printed what is no message", "line", l.s.o.Clean(line))
}

// mended logs what was wrong with an answer. Of a list it is a warning, because tools are missing.
func (l *life) mended(method string, m *mending) {
	level, text := slog.LevelDebug, "MCP server's result was mended"
	if method == "tools/list" {
		level, text = slog.LevelWarn, "MCP server's list of tools has entries that are no tools, which are left out, or members of a wrong type, which are ignored"
	}
	l.s.log.Log(l.s.m.ctx, level, text, "entries", m.dropped, "members", m.changed)
}

// client makes the client side of the session. It offers the server nothing: no sampling, no questions
// to people, and no roots, which servers take for leave to replace the folders that their arguments
// name.
func (l *life) client() *mcp.Client {
	c := mcp.NewClient(&mcp.Implementation{Name: "sluice", Version: l.s.m.o.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case l.changed <- struct{}{}:
			default:
			}
		},
	})
	c.AddReceivingMiddleware(l.listen)
	return c
}

// listen logs what the server wants to be logged.
func (l *life) listen(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method == "notifications/message" {
			l.s.log.Debug("MCP server says", "message", l.s.o.Clean(excerpt(compact(request.GetParams()))))
		}
		return next(ctx, method, request)
	}
}

// follow makes lost tell when the session has ended.
func (l *life) follow() {
	session, lost := l.session, make(chan struct{})
	l.lost = lost
	go func() {
		defer close(lost)
		_ = session.Wait()
	}()
}

func (l *life) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// refresh gets the list of tools.
func (l *life) refresh(ctx context.Context) error {
	made := newGathering(l.s.name, l.s.m.o.MaxMessage, l.s.log)
	if err := made.ask(ctx, l.session); err != nil {
		return err
	}
	l.catalog.Store(made.done())
	return nil
}

// serve follows the changes of the tools until the session or the manager ends.
func (l *life) serve() {
	for {
		select {
		case <-l.s.m.ctx.Done():
			return
		case <-l.lost:
			return
		case <-l.changed:
			l.update()
		}
	}
}

// update gets the changed list. Without an answer the old one stays. It pauses, so that a server that
// says so in answer to each look is not looked at all the time.
func (l *life) update() {
	ctx, cancel := context.WithTimeoutCause(l.s.m.ctx, l.s.o.Timeout, errTimeout)
	defer cancel()
	if err := l.refresh(ctx); err != nil {
		if !l.isLost() && l.s.m.ctx.Err() == nil {
			l.s.log.Warn("MCP server has not told its changed tools; the old list stays", "error", l.s.o.Clean(l.why(err)))
		}
	} else {
		l.s.m.generation.Add(1)
	}
	pause := time.NewTimer(refreshPause)
	defer pause.Stop()
	select {
	case <-l.s.m.ctx.Done():
	case <-l.lost:
	case <-pause.C:
	}
}

// wantsNewest reports whether a server refused the handshake, or what followed, for what may be a newer
// protocol's sake.
func wantsNewest(err error) bool {
	var refused *refusal
	var answered *jsonrpc.Error
	switch {
	case errors.As(err, &refused):
		return refused.status == http.StatusBadRequest
	case errors.As(err, &answered):
		return answered.Code == jsonrpc.CodeMethodNotFound || answered.Code == mcp.CodeUnsupportedProtocolVersion
	}
	return false
}
