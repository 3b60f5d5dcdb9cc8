package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/internal/wire"
	"sluice/sources/llama"
	"sluice/stages/execute/planner"
)

// askPatience bounds `llama-server --help` before a start; a program that takes longer is started without
// knowing what it knows.
const askPatience = 5 * time.Second

// plans tells how the model servers of one configuration are started: to their starts, to the method plan
// and to doctor. It may be used from any goroutine, owns none, and keeps what doesn't change.
type plans struct {
	settings *config.Config
	launcher *process.Launcher
	log      *slog.Logger
	// patience bounds each question to the program.
	patience time.Duration
	planner  *planner.Planner
	// noServer plans where there is no program that could be asked for GPUs.
	noServer *planner.Planner
	// running returns the process id of a model's server, 0 when none runs. Nil: none ever does.
	running func(model string) int

	asking chan struct{} // holds one token while a program is asked for its help, which guards known
	known  map[programKey][]string
}

// programKey is a program as it was when it was asked.
type programKey struct {
	path     string
	modified time.Time
	size     int64
}

// newPlans returns the plans of a configuration. Programs are asked by launcher.
func newPlans(settings *config.Config, launcher *process.Launcher, patience time.Duration, log *slog.Logger) *plans {
	p := &plans{settings: settings, launcher: launcher, patience: patience, log: log, asking: make(chan struct{}, 1), known: map[programKey][]string{}}
	p.planner = planner.New(planner.Options{ListDevices: p.listDevices})
	p.noServer = planner.New(planner.Options{})
	return p
}

func (p *plans) listDevices(ctx context.Context) (string, error) {
	path, err := llama.FindBinary(p.settings.LlamaServer.Binary)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*p.patience) // the drivers of all GPUs are loaded
	defer cancel()
	text, _, err := llama.Ask(ctx, p.launcher, path, "--list-devices")
	return text, err
}

// start returns the hook of a model's server (llama.ServerOptions).
func (p *plans) start(model config.Model) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, program string) ([]string, error) {
		result, err := p.plan(ctx, model, program, 0)
		if err == nil && result.Model.Embedding {
			err = wire.NewFault(wire.CodeModelPlan, fmt.Sprintf("the model file %q is an embedding model, which can't chat; name a language model in models[].path, and this one in memory.embedding_model", model.Path))
		}
		if err != nil {
			return nil, err
		}
		for _, warning := range result.Warnings {
			p.log.Warn("the plan of a start has a warning", "model", model.Name, "warning", warning)
		}
		for _, r := range result.Reductions {
			level := slog.LevelDebug
			if r.Configured {
				level = slog.LevelWarn
			}
			p.log.Log(ctx, level, "a setting was lowered", "model", model.Name, "setting", r.Setting, "from", r.From, "to", r.To, "reason", r.Reason)
		}
		return result.Plan.Flags(), nil
	}
}

// Plan implements execute.Planner.
func (p *plans) Plan(ctx context.Context, model string) ([]byte, error) {
	result, err := p.result(ctx, model)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// result plans a model by its name, as if its server were started now. The error is a *wire.Fault or the
// cause of ctx.
func (p *plans) result(ctx context.Context, name string) (*planner.Result, error) {
	model, err := p.model(name)
	if err != nil {
		return nil, err
	}
	program, err := llama.FindBinary(p.settings.LlamaServer.Binary)
	if err != nil {
		program = ""
	}
	result, failed := p.plan(ctx, model, program, p.held(name))
	var fault *wire.Fault
	if failed == nil && errors.As(err, &fault) {
		result.Warnings = append(result.Warnings, fault.Message+"; the plan is made without any GPU")
	}
	return result, failed
}

// model finds a model that can be planned.
func (p *plans) model(name string) (config.Model, error) {
	for _, model := range p.settings.Models {
		if model.Name == name {
			return model, p.plannable(model)
		}
	}
	return config.Model{}, noModel()
}

// plannable refuses a model that only a server knows which somebody else starts.
func (p *plans) plannable(model config.Model) error {
	url := p.settings.LlamaServer.URL
	if url == "" {
		return nil
	}
	if model.Path != "" {
		if _, err := os.Stat(model.Path); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	what := "llama_server.url names a server that somebody else starts"
	if url == config.DemoURL {
		what = "the embedded model starts no server"
	}
	return wire.NewFault(wire.CodeInvalidRequest, fmt.Sprintf("there is nothing to plan for the model %q: %s; name a GGUF file in models[].path to plan it", model.Name, what))
}

// held is what a model's server holds that a new one would replace, in bytes.
func (p *plans) held(model string) uint64 {
	if p.running == nil {
		return 0
	}
	pid := p.running(model)
	if pid == 0 {
		return 0
	}
	return heldMemory(pid)
}

// plan plans a model for a program; an empty one is none.
func (p *plans) plan(ctx context.Context, model config.Model, program string, held uint64) (*planner.Result, error) {
	file, err := planner.Inspect(model.Path)
	if err == nil {
		err = file.Chats()
	}
	if err != nil {
		return nil, err
	}
	server := &p.settings.LlamaServer
	request := planner.Request{
		Name: model.Name, Path: model.Path, CtxSize: model.CtxSize, Parallel: model.Parallel, GPULayers: string(model.GPULayers),
		Binary: server.Binary, Args: server.Args, ShownArgs: server.ShownArgs(), Held: held,
	}
	if program == "" {
		return p.noServer.PlanFile(ctx, file, request)
	}
	// A first plan, which nobody sees, has the GPUs listed while the program is asked for its flags.
	looking := func() { _, _ = p.planner.PlanFile(ctx, file, request) }
	unknown, err := p.unknown(ctx, program, looking)
	if err != nil {
		return nil, err
	}
	request.Unknown = unknown
	return p.planner.PlanFile(ctx, file, request)
}

// unknown returns the flags that a program doesn't know; each program is asked once, and meanwhile is called
// then. The error is the cause of ctx.
func (p *plans) unknown(ctx context.Context, program string, meanwhile func()) ([]string, error) {
	key := programKey{path: program}
	if info, err := os.Stat(program); err == nil {
		key.modified, key.size = info.ModTime(), info.Size()
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if flags, asked := p.known[key]; asked {
		return flags, nil
	}
	var looked sync.WaitGroup
	defer looked.Wait()
	looked.Go(meanwhile)
	bounded, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	text, problems, err := llama.Ask(bounded, p.launcher, program, "--help")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	flags := planner.LeftOut(text + problems)
	if err != nil {
		flags = planner.LeftOut("")
		p.log.Warn("llama-server can't be asked for its flags", "program", program, "error", err.Error())
	}
	p.known[key] = flags
	return flags, nil
}
