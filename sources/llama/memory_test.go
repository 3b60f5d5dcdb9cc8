package llama

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sluice/internal/wire"
)

// memory is an attached server within the test, reached by pipes, so that time can be the test's.
type memory struct {
	server   http.Server
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	routes  map[string]http.HandlerFunc
	asked   map[string]int
	refuses bool // connections
}

func newMemory() *memory {
	m := &memory{accepted: make(chan net.Conn), closed: make(chan struct{}), asked: map[string]int{}}
	m.routes = map[string]http.HandlerFunc{"/props": answer(200, `{}`), "/health": answer(200, `{}`)}
	m.server.Handler = http.HandlerFunc(m.serve)
	go func() { _ = m.server.Serve(m) }()
	return m
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// mute takes the request and never answers.
func mute(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else net/http doesn't see the client go
	<-r.Context().Done()
}

func (m *memory) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	route := m.routes[r.URL.Path]
	m.asked[r.URL.Path]++
	m.mu.Unlock()
	if route == nil {
		route = http.NotFound
	}
	route(w, r)
}

func (m *memory) route(path string, handler http.HandlerFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.routes[path] = handler
}

func (m *memory) count(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[path]
}

func (m *memory) refuse(refuses bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuses = refuses
}

func (m *memory) dial(ctx context.Context) (net.Conn, error) {
	m.mu.Lock()
	refuses := m.refuses
	m.mu.Unlock()
	if refuses {
		return nil, errors.New("connection refused")
	}
	ours, theirs := net.Pipe()
	select {
	case m.accepted <- theirs:
		return ours, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.accepted:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// attach returns a server attached to m and a function that closes both.
func (m *memory) attach(t *testing.T, o ServerOptions) (*Server, func()) {
	t.Helper()
	o.Dial = m.dial
	s := NewServer(o)
	return s, func() {
		_ = s.Close(t.Context())
		_ = m.server.Close()
	}
}

// newServer returns a server that is closed with the test.
func newServer(t *testing.T, o ServerOptions) *Server {
	t.Helper()
	s := NewServer(o)
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s
}

func acquire(t *testing.T, s *Server) *Lease {
	t.Helper()
	lease, err := s.Acquire(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// wantFault checks an error's code and the words of its message.
func wantFault(t *testing.T, err error, code wire.Code, words ...string) {
	t.Helper()
	fault, ok := err.(*wire.Fault)
	if !ok || fault.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	for _, word := range words {
		if !strings.Contains(fault.Message, word) {
			t.Errorf("the message doesn't say %q: %s", word, fault.Message)
		}
	}
}
