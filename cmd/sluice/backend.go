package main

import (
	"context"
	"errors"
	"log/slog"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/stages/execute/agent"
	"sluice/stages/execute/memory"
	"sluice/stages/execute/session"
	"sluice/stages/execute/tools"
)

// backend is what stands behind the turns of one engine: models, tools, sessions and memory. It is
// pipeline.Models too, because its end is theirs: the engine closes it once no chat runs.
type backend struct {
	*models
	launcher *process.Launcher
	tools    *tools.Manager
	sessions *session.Store
	memory   *memory.Index // nil when it is off
}

func newBackend(settings *config.Config, log *slog.Logger) *backend {
	launcher := process.NewLauncher(process.LauncherOptions{Logger: log})
	b := &backend{
		models:   newModels(settings, launcher, log),
		launcher: launcher,
		tools:    newTools(settings, launcher, log),
		sessions: session.New(session.Options{Dir: settings.App.DataDir, Logger: log}),
	}
	if settings.Memory.Enabled && settings.App.DataDir != "" {
		b.memory = memory.New(b.memoryOptions(settings, log))
	}
	return b
}

func (b *backend) memoryOptions(settings *config.Config, log *slog.Logger) memory.Options {
	o := memory.Options{Dir: settings.App.DataDir, TopK: settings.Memory.TopK, EmbeddingModel: settings.Memory.EmbeddingModel, Logger: log}
	if model := settings.Memory.EmbeddingModel; model != "" {
		o.Embed = func(ctx context.Context, texts []string) ([][]float32, error) { return b.embed(ctx, model, texts) }
	}
	return o
}

// turns is the memory as turns see it: nil when it is off.
func (b *backend) turns() agent.Memory {
	if b.memory == nil {
		return nil
	}
	return b.memory
}

// Close implements pipeline.Models. Servers of models and tools end side by side; what they write is
// closed behind them, and the launcher kills what is left.
func (b *backend) Close(ctx context.Context) error {
	servers := []closer{b.models, b.tools}
	if b.memory != nil {
		servers = append(servers, b.memory)
	}
	failed := closeAll(ctx, servers)
	failed = append(failed, b.sessions.Close(ctx))
	b.launcher.Close()
	return errors.Join(failed...)
}

// sessionPort is the session store as turns see it.
type sessionPort struct{ store *session.Store }

// Open implements agent.Sessions.
func (s sessionPort) Open(ctx context.Context, user, name string, waiting func()) (agent.Session, error) {
	opened, err := s.store.Open(ctx, user, name, waiting)
	if err != nil {
		return nil, err
	}
	return opened, nil
}
