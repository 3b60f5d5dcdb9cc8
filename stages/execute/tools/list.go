package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/wire"
)

// maxLists is how many answers of List are kept: as many sets of globs as there may be agents.
const maxLists = 64

// listing is an answer of List that holds while the generation lasts and all of its servers are ready.
type listing struct {
	generation uint64
	servers    []*server
	tools      []wire.Tool
	warnings   []string
}

// List returns the tools whose server/tool name one of the globs matches, sorted by name, with Function
// set and unique among them; nobody may change the slice. The first call connects to the servers that
// the globs may name, side by side; the caller waits for those that are being connected, a few seconds
// at most, and waiting (may be nil) is called once before that, only when it does. Each warning names a
// server whose tools, or some of them, are missing and what to do, or a glob that names nothing.
func (m *Manager) List(ctx context.Context, globs []string, waiting func()) ([]wire.Tool, []string) {
	key := strings.Join(globs, "\x00")
	generation := m.generation.Load()
	if known := m.known(key, generation); known != nil {
		return known.tools, known.warnings
	}
	servers := m.mayName(globs)
	m.await(ctx, servers, waiting)
	made := &listing{generation: m.generation.Load(), servers: servers}
	missing := map[string]bool{}
	for _, s := range servers {
		tools, warning := s.tools()
		made.tools = append(made.tools, tools...)
		if warning != "" {
			made.warnings = append(made.warnings, warning)
			missing[s.name] = true
		}
	}
	unmatched := m.choose(made, globs, missing)
	if len(made.warnings) == 0 {
		made.warnings = unmatched
		m.keep(key, made)
		return made.tools, made.warnings
	}
	return made.tools, append(made.warnings, unmatched...)
}

// known returns a kept answer that still holds.
func (m *Manager) known(key string, generation uint64) *listing {
	m.mu.Lock()
	known := m.lists[key]
	m.mu.Unlock()
	if known == nil || known.generation != generation {
		return nil
	}
	for _, s := range known.servers {
		if !s.isReady() {
			return nil
		}
	}
	return known
}

func (m *Manager) keep(key string, made *listing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lists) >= maxLists {
		clear(m.lists)
	}
	m.lists[key] = made
}

// mayName returns the servers of which a glob may name tools.
func (m *Manager) mayName(globs []string) []*server {
	var servers []*server
	for _, name := range m.names {
		if slices.ContainsFunc(globs, func(glob string) bool { return mayName(glob, name) }) {
			servers = append(servers, m.servers[name])
		}
	}
	return servers
}

// mayName reports whether a glob may name a tool of the server: whether what stands before its first
// wildcard allows it.
func mayName(glob, server string) bool {
	prefix := server + "/"
	literal := glob
	if i := strings.IndexAny(glob, "*?"); i >= 0 {
		literal = glob[:i]
		return strings.HasPrefix(prefix, literal) || strings.HasPrefix(literal, prefix)
	}
	return strings.HasPrefix(literal, prefix)
}

// await starts the servers that aren't ready and waits for those that are being started, each as long as
// its patience lasts.
func (m *Manager) await(ctx context.Context, servers []*server, waiting func()) {
	attempts, until := m.begin(servers)
	if len(attempts) == 0 {
		return
	}
	if waiting != nil {
		waiting()
	}
	for i, attempt := range attempts {
		timer := time.NewTimer(time.Until(until[i]))
		select {
		case <-attempt:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// begin starts the servers that aren't ready, and returns the starts that are worth waiting for and until
// when.
func (m *Manager) begin(servers []*server) (attempts []<-chan struct{}, until []time.Time) {
	for _, s := range servers {
		if _, attempt := s.ensure(); attempt != nil {
			if deadline := s.patience(); time.Now().Before(deadline) {
				attempts, until = append(attempts, attempt), append(until, deadline)
			}
		}
	}
	return attempts, until
}

// choose leaves only the tools that a glob names in made, and returns a warning for each glob that names
// nothing. Of a glob that may name tools of a missing server nobody knows.
func (m *Manager) choose(made *listing, globs []string, missing map[string]bool) (warnings []string) {
	used := make([]bool, len(globs))
	tools := made.tools[:0]
	for _, tool := range made.tools {
		named := false
		for i, glob := range globs {
			if m.o.Match(glob, tool.Name) {
				named, used[i] = true, true
			}
		}
		if named {
			tools = append(tools, tool)
		}
	}
	slices.SortFunc(tools, func(a, b wire.Tool) int { return strings.Compare(a.Name, b.Name) })
	distinguish(tools)
	made.tools = tools
	for i, glob := range globs {
		if !used[i] && !(glob == "*" && len(m.names) == 0) && !m.mayNameMissing(glob, missing) {
			warnings = append(warnings, fmt.Sprintf("the agent's tools %q name no tool of any MCP server; look at agents[].tools and mcp_servers in the configuration", glob))
		}
	}
	return warnings
}

func (m *Manager) mayNameMissing(glob string, missing map[string]bool) bool {
	for name := range missing {
		if mayName(glob, name) {
			return true
		}
	}
	return false
}

// isReady reports whether the server's tools are at hand.
func (s *server) isReady() bool { return s.now() != nil }

// now returns the life of a server that is ready, else nil.
func (s *server) now() *life {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life == nil || s.life.isLost() {
		return nil
	}
	return s.life
}

// tools returns the tools of a ready server, and a warning that says why there are none, or not all.
func (s *server) tools() ([]wire.Tool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.life != nil:
		catalog := s.life.catalog.Load()
		return catalog.tools, catalog.warning
	case s.known != nil && !s.barred:
		return s.known, ""
	case s.attempt != nil && !s.barred && !s.doomed:
		return nil, fmt.Sprintf("MCP server %q is still starting; its tools come with the next chat", s.name)
	}
	return nil, fmt.Sprintf("MCP server %q is not there: %s", s.name, s.fault)
}
