package tools

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// Close ends servers that ignore everything, at any time of their lives, and the calls of those who wait.
func TestClose(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("a: stubborn", "b: stubborn", "mute: mute", "unused: plain")})
	if _, warnings := w.List(t.Context(), []string{"a/*", "b/*"}, nil); len(warnings) > 0 {
		t.Fatal(warnings)
	}
	results := make(chan wire.ToolResult, 2)
	for _, name := range []string{"a/block", "mute/x"} {
		go func() { results <- w.Call(context.Background(), name, "{}") }()
	}
	testkit.Until(t, "the call came and the mute one starts", func() bool {
		status := w.Status()
		l := w.servers["a"].now()
		return status[2].State == StateStarting && strings.Contains(l.process.(*osProcess).lines.String(), "blocking")
	})
	w.close()
	for range 2 {
		if result := <-results; result.Status != wire.ToolCancelled {
			t.Errorf("got %+v", result)
		}
	}
	if result := w.Call(t.Context(), "b/echo", `{"text":""}`); result.Status != wire.ToolCancelled {
		t.Errorf("got %+v", result)
	}
	if tools, warnings := w.List(t.Context(), []string{"unused/*"}, nil); len(tools) > 0 || len(warnings) != 1 {
		t.Errorf("got %v, %q", tools, warnings)
	}
	w.close()
}

// When the time of Close is over, nothing is asked any more.
func TestCloseAtOnce(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("a: stubborn")})
	w.names()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Whatever happens at once, every call ends in one of the known ways and Close leaves nothing behind.
func TestStorm(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("a: dies in a call", "b: changes", "c: noise")})
	w.list()
	known := map[wire.ToolStatus]bool{wire.ToolOK: true, wire.ToolError: true, wire.ToolCancelled: true}
	var all sync.WaitGroup
	var made atomic.Int32
	for seed := range 8 {
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		all.Go(func() {
			for range 40 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(20))*time.Millisecond)
				name := []string{"a/echo", "a/die", "a/hang", "b/grow", "b/hang", "c/echo", "c/nothing"}[random.IntN(7)]
				if result := w.Call(ctx, name, `{"text":"x"}`); !known[result.Status] || result.Status != wire.ToolOK && result.Text == "" {
					t.Errorf("%s: got %+v", name, result)
				}
				w.List(ctx, []string{"*"}, nil)
				cancel()
				made.Add(1)
			}
		})
	}
	testkit.Until(t, "half of it has happened", func() bool { return made.Load() >= 160 })
	w.close()
	all.Wait()
}
