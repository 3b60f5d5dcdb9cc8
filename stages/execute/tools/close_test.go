package tools

import (
	"context"
	"strings"
	"testing"

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
