package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/internal/wire"
	"sluice/pipeline"
	"sluice/sources/demo"
	"sluice/sources/llama"
	"sluice/stages/execute"
)

// models are the model servers of one configuration: one attached server for all models, or one
// spawned server per model.
type models struct {
	byName   map[string]*llama.Server
	attached *llama.Server // set when llama_server.url is
	// embedding is a spawned server of its own for memory.embedding_model, even where an agent uses the
	// same file: llama-server serves embeddings or chats.
	embedding     *llama.Server
	embeddingName string
	demo          *demo.Server // set with demo:
	plans         *plans
}

func newModels(settings *config.Config, launcher *process.Launcher, log *slog.Logger) *models {
	m := &models{byName: map[string]*llama.Server{}, plans: newPlans(settings, launcher, askPatience, log)}
	m.plans.running = m.pid
	server := settings.LlamaServer
	options := llama.ServerOptions{
		URL:            server.URL,
		APIKey:         server.APIKey,
		Binary:         server.Binary,
		Args:           server.Args,
		StartupTimeout: server.StartupTimeout,
		IdleTimeout:    server.IdleTimeout,
		Logger:         log,
	}
	if server.URL != "" {
		m.attach(settings, options, log)
		return m
	}
	options.Launcher = launcher
	for _, model := range settings.Models {
		o := options
		o.ModelName, o.ModelPath = model.Name, model.Path
		o.CtxSize, o.Parallel, o.GPULayers = model.CtxSize, model.Parallel, string(model.GPULayers)
		o.Plan = m.plans.start(model)
		m.byName[model.Name] = llama.NewServer(o)
		if settings.Memory.Enabled && model.Name == settings.Memory.EmbeddingModel {
			o.Embeddings, o.Plan = true, nil
			m.embedding, m.embeddingName = llama.NewServer(o), model.Name
		}
	}
	return m
}

func (m *models) attach(settings *config.Config, options llama.ServerOptions, log *slog.Logger) {
	if options.URL == config.DemoURL {
		m.demo = demo.Start(demo.Options{Logger: log})
		options.Dial = func(ctx context.Context) (net.Conn, error) { return m.demo.DialContext(ctx, "", "") }
	}
	for _, model := range settings.Models {
		options.Parallel = max(options.Parallel, model.Parallel)
	}
	m.attached = llama.NewServer(options)
}

// find returns the server of a model, and the name to send to it.
func (m *models) find(model string) (*llama.Server, string, error) {
	if m.attached != nil {
		return m.attached, model, nil
	}
	if server := m.byName[model]; server != nil {
		return server, "", nil
	}
	return nil, "", noModel()
}

// pid is the process id of a model's server, 0 when none runs.
func (m *models) pid(model string) int {
	if server := m.byName[model]; server != nil {
		return server.PID()
	}
	return 0
}

func noModel() *wire.Fault {
	return wire.NewFault(wire.CodeModelMissing, "no model is configured; name a GGUF file in models[].path, attach to a server with llama_server.url, or try --demo")
}

// Acquire implements pipeline.Models.
func (m *models) Acquire(ctx context.Context, model string, phase func(wire.Phase)) (execute.Lease, error) {
	server, name, err := m.find(model)
	if err != nil {
		return nil, err
	}
	lease, err := server.Acquire(ctx, func(p llama.Phase) { phase(wire.Phase(p)) })
	if err != nil {
		return nil, err
	}
	return leasePort{lease, name}, nil
}

// Warm implements pipeline.Models.
func (m *models) Warm(ctx context.Context, model string) error {
	server, _, err := m.find(model)
	if err != nil {
		return err
	}
	return server.Warm(ctx, nil)
}

// embed returns the vectors of texts by a model for embeddings. The error says what to do, or is the
// cause of ctx.
func (m *models) embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	switch {
	case m.attached != nil:
		return m.attached.Embed(ctx, model, texts)
	case m.embedding != nil && model == m.embeddingName:
		return m.embedding.Embed(ctx, "", texts)
	}
	return nil, fmt.Errorf("there is no model %q to make embeddings; set memory.embedding_model to one of models[].name, or empty it", model)
}

// Close stops the servers. What they leave behind dies with the launcher, which its owner closes.
func (m *models) Close(ctx context.Context) error {
	var servers []closer
	for _, server := range m.byName {
		servers = append(servers, server)
	}
	if m.attached != nil {
		servers = append(servers, m.attached)
	}
	if m.embedding != nil {
		servers = append(servers, m.embedding)
	}
	failed := closeAll(ctx, servers)
	if m.demo != nil {
		failed = append(failed, m.demo.Close())
	}
	return errors.Join(failed...)
}

// closer is what of a server its end needs.
type closer interface {
	Close(ctx context.Context) error
}

// closeAll closes servers at the same time: each may take as long as a server that was asked to end is
// given.
func closeAll(ctx context.Context, servers []closer) []error {
	failed := make([]error, len(servers))
	var all sync.WaitGroup
	for i, server := range servers {
		all.Go(func() { failed[i] = server.Close(ctx) })
	}
	all.Wait()
	return failed
}

// leasePort is a lease as execute and pipeline see it.
type leasePort struct {
	*llama.Lease
	model string
}

// Waited implements execute.Lease.
func (l leasePort) Waited() (queue, load time.Duration) { return l.Queue, l.Load }

// Planned implements execute.Lease.
func (l leasePort) Planned() (began, ended time.Time) { return l.Lease.Planned() }

// Idle implements execute.Lease.
func (l leasePort) Idle(ctx context.Context) bool {
	_, idle := l.Lease.Idle(ctx)
	return idle
}

// ContextSize implements execute.Lease.
func (l leasePort) ContextSize(context.Context) int { return l.Lease.ContextSize() }

// Count implements execute.Lease.
func (l leasePort) Count(ctx context.Context, request *wire.ModelRequest) (int, error) {
	return l.Lease.Count(ctx, l.model, request)
}

// Stream implements pipeline.Lease.
func (l leasePort) Stream(request *wire.ModelRequest) pipeline.TokenSource {
	return l.Lease.Stream(l.model, request)
}
