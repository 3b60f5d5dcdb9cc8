package tools

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Manager has the tools of the configured servers. Nothing runs before the first List or Call.
type Manager struct {
	o       Options
	servers map[string]*server
	names   []string // of the servers, sorted

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc

	// generation changes whenever any server's tools do.
	generation atomic.Uint64

	mu     sync.Mutex
	closed bool
	lives  sync.WaitGroup      // the goroutines of lives; nothing is added once closed
	lists  map[string]*listing // answers of List by its globs
}

// New returns a Manager, which its owner closes.
func New(o Options) *Manager {
	o.defaults()
	m := &Manager{o: o, servers: map[string]*server{}, lists: map[string]*listing{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	for name, settings := range o.Servers {
		m.servers[name] = newServer(m, name, settings.defaults())
		m.names = append(m.names, name)
	}
	slices.Sort(m.names)
	return m
}

// NeedsApproval reports whether the configuration wants a person asked before the tool runs. Of a tool
// whose server isn't configured it says yes.
func (m *Manager) NeedsApproval(name string) bool {
	s := m.serverOf(name)
	return s == nil || s.o.NeedsApproval(name)
}

// serverOf returns the server of a tool that is named server/tool; nil when there is none.
func (m *Manager) serverOf(name string) *server {
	prefix, _, _ := strings.Cut(name, "/")
	return m.servers[prefix]
}

// Close ends all servers, side by side, and returns when nothing of them is left: those that ignore
// everything are killed after about two seconds, or when ctx ends. Calls that run end as cancelled.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	defer context.AfterFunc(ctx, m.kill)()
	m.lives.Wait()
	return nil
}

// kill cuts every life short.
func (m *Manager) kill() {
	for _, s := range m.servers {
		s.kill()
	}
}

// run runs a life's goroutine, unless the manager is closed.
func (m *Manager) run(life func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.lives.Go(life)
	return true
}

// State says what a server is doing.
type State string

// The states of a server.
const (
	StateIdle     State = "idle" // not asked for yet, or ended and not asked for since
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateFailed   State = "failed"
)

// Status is what is known of one server.
type Status struct {
	Name  string
	State State
	// Tools is how many tools the server has; 0 unless it is ready.
	Tools int
	// Fault says why the server last failed or ended, without secrets; empty when it never did.
	Fault string
}

// Status tells about every server, sorted by name. It starts none.
func (m *Manager) Status() []Status {
	all := make([]Status, 0, len(m.names))
	for _, name := range m.names {
		all = append(all, m.servers[name].status())
	}
	return all
}
