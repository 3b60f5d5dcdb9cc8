package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/logs"
	"sluice/internal/wire"
	"sluice/pipeline"
	"sluice/sinks/stdout"
	"sluice/sources/stdin"
	"sluice/stages/execute"
)

// logPatience bounds how long the end of the engine waits for stderr.
const logPatience = 500 * time.Millisecond

func newServeStdio(s streams) *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use:   "serve-stdio",
		Short: "Serve NDJSON v1 on stdin and stdout",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			return serve(c.Context(), loaded, s, ndjson)
		},
	}
	flags.add(c)
	return c
}

// door is the protocol that an engine speaks, and what only that needs.
type door struct {
	protocol pipeline.Protocol
	rpc      *execute.RPC // of JSON-RPC
	close    func()       // called once nothing runs any more; nil is nothing
}

// newDoor makes one for an engine.
type newDoor func(loaded *config.Loaded, back *backend, log *slog.Logger) door

// ndjson is the door of serve-stdio.
func ndjson(loaded *config.Loaded, _ *backend, _ *slog.Logger) door {
	settings := &loaded.Config
	return door{protocol: pipeline.NDJSON(int(settings.Input.MaxLineBytes), settings.Output.ASCII)}
}

// serve runs one engine on the given streams until it ends.
func serve(ctx context.Context, loaded *config.Loaded, s streams, newDoor newDoor) error {
	settings := &loaded.Config
	log, writer := logs.New(s.err, logs.Options{Level: settings.Log.Level, Format: settings.Log.Format})
	defer writer.Close(logPatience)
	defer takeStandardLog(log)()
	for _, warning := range loaded.Warnings {
		log.Warn(warning)
	}
	inspection, err := newInspection(settings, log)
	if err != nil {
		return err
	}
	defer inspection.close()
	ctx, stop := withSignals(ctx, log)
	defer stop()
	back := newBackend(settings, log)
	door := newDoor(loaded, back, log)
	if door.close != nil {
		defer door.close()
	}
	engine := newEngine(ctx, loaded, s, log, inspection, back, door)
	inspection.start(engine)
	reason, err := engine.Run(ctx)
	if err != nil {
		log.Error("output was given up", "reason", string(reason), "error", err.Error())
		return &failure{status: exitFailed}
	}
	return nil
}

// newEngine makes every part of the engine and joins them.
func newEngine(ctx context.Context, loaded *config.Loaded, s streams, log *slog.Logger, inspection *inspection, back *backend, door door) *pipeline.Pipeline {
	turns := executeOptions(loaded, log)
	turns.Tools, turns.Sessions, turns.Memory = back.tools, sessionPort{back.sessions}, back.turns()
	turns.RPC = door.rpc
	turns.Planner, turns.Doctor = back.plans, newExamination(loaded, nil, s.out, log).document
	return join(ctx, &loaded.Config, s, log, inspection, back, turns, door.protocol)
}

// join joins the standard streams with what stands behind the turns.
func join(ctx context.Context, settings *config.Config, s streams, log *slog.Logger, inspection *inspection, back pipeline.Models, turns execute.Options, protocol pipeline.Protocol) *pipeline.Pipeline {
	output := stdioOutput(s.out)
	options := sinkOptions(settings, output, log)
	options.OnWrite, options.OnStall = inspection.onWrite(), inspection.stalls.Add
	sink := stdout.New(output, options)
	var engine *pipeline.Pipeline
	gate := func(ctx context.Context) error { return engine.Gate(ctx) }
	source := stdin.New(stdioInput(s.in), stdin.Options{MaxLineBytes: int(settings.Input.MaxLineBytes), Gate: gate})
	engine = pipeline.New(ctx, pipeline.Options{
		Protocol:        protocol,
		Stdin:           source,
		Sink:            sinkPort{sink},
		Models:          back,
		Execute:         turns,
		ShutdownTimeout: settings.Output.ShutdownTimeout,
		EOFTimeout:      settings.Output.EOFTimeout,
		StallThreshold:  settings.Output.StallThreshold,
		OnStall:         inspection.stalls.Add,
		InputEnded:      inputEnded(s.in),
		HostGone:        output.hostGone,
		Logger:          log,
	})
	return engine
}

func sinkOptions(settings *config.Config, output *output, log *slog.Logger) stdout.Options {
	o := settings.Output
	policy := stdout.Coalesce
	if o.OnFull == config.OnFullDrop {
		policy = stdout.Drop
	}
	return stdout.Options{
		Policy:          policy,
		PendingBytes:    o.PendingBytes,
		MergeBytes:      int(o.MergeBytes),
		QueueFrames:     o.QueueFrames,
		GuaranteedBytes: o.GuaranteedBytes,
		StallThreshold:  o.StallThreshold,
		TryWrite:        output.tryWrite(),
		Unread:          output.unread,
		Logger:          log,
	}
}

func executeOptions(loaded *config.Loaded, log *slog.Logger) execute.Options {
	settings := &loaded.Config
	o := execute.Options{
		Version:            version,
		MaxParallelChats:   settings.App.MaxParallelChats,
		MaxPendingRequests: settings.Input.MaxPendingRequests,
		MaxPendingBytes:    settings.Input.MaxPendingBytes,
		MaxParseErrors:     settings.App.MaxParseErrors,
		ApprovalTimeout:    settings.App.ApprovalTimeout,
		ToolResultBytes:    int(settings.App.ToolResultBytes),
		Lossless:           settings.Output.OnFull == config.OnFullCoalesce,
		Logger:             log,
	}
	for _, a := range settings.Agents {
		o.Agents = append(o.Agents, execute.Agent{
			Name: a.Name, Model: a.Model, SystemPrompt: a.SystemPrompt,
			MaxSteps: a.MaxSteps, MaxTokens: a.MaxTokens, Temperature: a.Temperature, Tools: a.Tools,
		})
	}
	o.Unconfigured = unconfigured(loaded)
	return o
}

// unconfigured is what a chat is answered when nothing says which model to use. Variables alone are a
// configuration, but one that names no model doesn't make up for a file that isn't there.
func unconfigured(loaded *config.Loaded) *wire.Fault {
	const what = "there is no configuration"
	const next = "; write one, name one with --config, or try the embedded model with --demo"
	switch {
	case len(loaded.Config.Models) > 0:
		return nil
	case loaded.Missing != "":
		return wire.NewFault(wire.CodeConfigMissing, what+": "+loaded.Missing+" does not exist"+next)
	case !loaded.Found:
		return wire.NewFault(wire.CodeConfigMissing, what+next)
	}
	return noModel()
}
