package tools

import (
	"strings"
	"testing"

	"sluice/internal/config"
	"sluice/internal/wire"
)

// benchManager has four ready servers, of which one has 10,000 tools.
func benchManager(b *testing.B, spawn func(string, Server) (Process, error)) *Manager {
	m := New(Options{Servers: scripted("a: plain", "b: plain", "c: plain", "d: many"), Match: config.MatchGlob, Spawn: spawn})
	b.Cleanup(func() { _ = m.Close(b.Context()) })
	for {
		if _, warnings := m.List(b.Context(), []string{"*"}, nil); len(warnings) == 0 {
			return m
		}
	}
}

// BenchmarkList is what a chat costs whose servers are ready.
func BenchmarkList(b *testing.B) {
	for name, globs := range map[string][]string{"three tools": {"a/*"}, "all of 10009": {"*"}} {
		b.Run(name, func(b *testing.B) {
			m := benchManager(b, spawnMemory)
			b.ReportAllocs()
			for b.Loop() {
				if tools, warnings := m.List(b.Context(), globs, nil); len(tools) == 0 || len(warnings) > 0 {
					b.Fatal(len(tools), warnings)
				}
			}
		})
	}
}

// BenchmarkListAnew is a list after a change.
func BenchmarkListAnew(b *testing.B) {
	m := benchManager(b, spawnMemory)
	b.ReportAllocs()
	for b.Loop() {
		m.generation.Add(1)
		m.List(b.Context(), []string{"*"}, nil)
	}
}

// BenchmarkCall is a call's way to a server in another process and back.
func BenchmarkCall(b *testing.B) {
	m := benchManager(b, spawnScript)
	b.ReportAllocs()
	for b.Loop() {
		if result := m.Call(b.Context(), "a/echo", `{"text":"hello"}`); result.Status != wire.ToolOK {
			b.Fatal(result.Text)
		}
	}
}

// BenchmarkMend is what it costs to look through results in which there is nothing to mend, beside the
// decoder's own work.
func BenchmarkMend(b *testing.B) {
	text := compact(strings.Repeat("a line of text\n", 1<<20/15))
	for name, result := range map[string]string{
		"short": `{"content":[{"type":"text","text":"hello"}]}`, "1 MiB of text": `{"content":[{"type":"text","text":` + text + `}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				if m, fine := mend("tools/call", []byte(result)); !fine || len(m.edits) > 0 {
					b.Fatal(m.done())
				}
			}
		})
	}
}
