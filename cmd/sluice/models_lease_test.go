package main

import (
	"log/slog"
	"strings"
	"testing"

	"sluice/internal/config"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/wire"
	"sluice/stages/execute"
)

// startModels returns the models of a configuration, which the test's end closes, and a lease of one.
func startModels(t *testing.T, change func(*config.Config)) (*models, execute.Lease) {
	t.Helper()
	settings := config.Default()
	change(&settings)
	m := newModels(&settings, nil, slog.New(slog.DiscardHandler))
	lease, err := m.Acquire(t.Context(), "m", func(wire.Phase) {})
	t.Cleanup(func() {
		if lease != nil {
			lease.Release()
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, lease
}

var counted = &wire.ModelRequest{
	Messages: []wire.Message{{Role: wire.RoleUser, Content: "What is a pipe?"}},
	Tools:    []wire.Tool{{Function: "f"}},
}

func TestALeaseTellsItsWindow(t *testing.T) {
	server := fakellama.Start(t, fakellama.Options{ContextSize: 5000, Embeddings: true})
	m, lease := startModels(t, func(c *config.Config) { c.LlamaServer.URL = server.URL })
	if got := lease.ContextSize(t.Context()); got != 5000 {
		t.Errorf("the context holds %d tokens", got)
	}
	if n, err := lease.Count(t.Context(), counted); err != nil || n < len("What is a pipe?") || server.Asked("/tokenize") != 1 {
		t.Errorf("counted %d, %v", n, err)
	}
	if vectors, err := m.embed(t.Context(), "e", []string{"a", "b"}); err != nil || len(vectors) != 2 {
		t.Errorf("%v, %v", vectors, err)
	}
}

func TestTheDemoTellsItsWindow(t *testing.T) {
	m, lease := startModels(t, func(c *config.Config) { c.LlamaServer.URL = config.DemoURL })
	if got := lease.ContextSize(t.Context()); got < 1000 {
		t.Errorf("the context holds %d tokens", got)
	}
	with, err := lease.Count(t.Context(), counted)
	if err != nil {
		t.Fatal(err)
	}
	if without, err := lease.Count(t.Context(), &wire.ModelRequest{Messages: counted.Messages}); err != nil || without == 0 || without >= with {
		t.Errorf("%d tokens with a tool, %d without, %v", with, without, err)
	}
	if _, err := m.embed(t.Context(), "e", []string{"a"}); err == nil || !strings.Contains(err.Error(), "--embeddings") {
		t.Errorf("got %v", err)
	}
}

// TestAModelForEmbeddingsHasItsOwnServer: nothing is started for it before it is used.
func TestAModelForEmbeddingsHasItsOwnServer(t *testing.T) {
	settings := config.Default()
	settings.Models = []config.Model{{Name: "e", Path: "missing.gguf"}, {Name: "chat", Path: "missing.gguf"}}
	settings.LlamaServer.Binary = "no-such-llama-server"
	settings.Memory.Enabled, settings.Memory.EmbeddingModel = true, "e"
	m := newModels(&settings, nil, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = m.Close(t.Context()) })
	if m.embedding == nil || m.embedding == m.byName["e"] || len(m.byName) != 2 {
		t.Fatalf("%+v", m)
	}
	for model, words := range map[string]string{"e": "no-such-llama-server", "chat": "memory.embedding_model", "x": "memory.embedding_model"} {
		if _, err := m.embed(t.Context(), model, []string{"a"}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", model, err)
		}
	}
}
