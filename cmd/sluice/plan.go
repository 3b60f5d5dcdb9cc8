package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/internal/wire"
	"sluice/stages/execute/planner"
)

func newPlan(s streams) *cobra.Command {
	var flags sourceFlags
	var agent string
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan",
		Short: "Say whether an agent's model fits this machine, and how its llama-server would be started",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			for _, warning := range loaded.Warnings {
				fmt.Fprintln(s.err, "warning:", warning)
			}
			result, err := planOnce(c.Context(), loaded, agent)
			var fault *wire.Fault
			switch {
			case errors.As(err, &fault) && fault.Code == wire.CodeConfigMissing:
				return &failure{exitUsage, fault.Message}
			case errors.As(err, &fault):
				return &failure{exitFailed, asLine(fault.Message)}
			case err != nil:
				return err
			}
			return showPlan(s.out, result, asJSON)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&agent, "agent", "", "plan the model of this agent (default: of the first)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// planOnce plans the model of an agent, without an engine.
func planOnce(ctx context.Context, loaded *config.Loaded, agent string) (*planner.Result, error) {
	if fault := unconfigured(loaded); fault != nil {
		return nil, fault
	}
	one, fault := agentNamed(&loaded.Config, agent)
	if fault != nil {
		return nil, fault
	}
	log := slog.New(slog.DiscardHandler)
	launcher := process.NewLauncher(process.LauncherOptions{Logger: log})
	defer launcher.Close()
	return newPlans(&loaded.Config, launcher, askPatience, log).result(ctx, one.Model)
}

func unknownAgent(name string, names []string) *wire.Fault {
	return wire.NewFault(wire.CodeInvalidRequest, fmt.Sprintf("unknown agent \"%.64s\"; configured are %s", name, strings.Join(names, ", ")))
}

// showPlan prints a plan. One that doesn't fit is a failure.
func showPlan(w io.Writer, result *planner.Result, asJSON bool) error {
	var err error
	if asJSON {
		err = printJSON(w, result)
	} else {
		p := newPainter(w)
		p.plan(result)
		err = p.err
	}
	if err == nil && !result.Fits {
		err = &failure{status: exitFailed}
	}
	return err
}

// labelWidth is that of the first column of a plan.
const labelWidth = 14

func (p *painter) row(label string, texts ...string) {
	p.println(p.paint(faint, padded(label, labelWidth)), asLine(strings.Join(texts, "")))
}

// plan prints a plan as tables, and below them what was lowered, what is odd and what would be run.
func (p *painter) plan(r *planner.Result) {
	verdict := p.paint(green, "fits")
	if !r.Fits {
		verdict = p.paint(red, "does not fit")
	}
	p.println(p.paint(bold, cell(r.Model.Name, nameWidth)), " ", verdict)
	p.println()
	p.model(&r.Model)
	p.settings(&r.Plan)
	p.println()
	p.memory(r)
	p.notes(r)
	p.println()
	p.println(p.paint(bold, "Command"), " (the address is added at the start, the key by environment)")
	p.println("  ", strings.ReplaceAll(stripped(shellWords(r.Command)), "\n", " "))
}

func (p *painter) model(m *planner.Model) {
	file := m.Path + ", " + sizeOf(m.FileBytes)
	if m.Parts > 1 {
		file += fmt.Sprintf(" in %d parts", m.Parts)
	}
	p.row("file", file)
	what := fmt.Sprintf("%s, %s parameters, %s", m.Architecture, countOf(m.Parameters), m.Quantization)
	if m.Experts > 0 {
		what += fmt.Sprintf(", %d of %d experts at a time", m.ExpertsUsed, m.Experts)
	}
	if m.TrainedContext > 0 {
		what += fmt.Sprintf(", trained with %d tokens", m.TrainedContext)
	}
	p.row("model", what)
}

func (p *painter) settings(s *planner.Plan) {
	const open = "left to the server" // where nothing could be estimated
	context, slots, layers := open, open, open
	if s.CtxSize > 0 {
		context = fmt.Sprintf("%d tokens for each chat", s.CtxSize)
	}
	if s.Parallel > 0 {
		slots = numberOf(s.Parallel, "chat")
	}
	if s.GPULayers > 0 || s.BatchSize > 0 {
		layers = fmt.Sprint(s.GPULayers)
	}
	p.row("context", context)
	p.row("at once", slots)
	p.row("GPU layers", layers)
	if s.CacheTypeK != "" {
		p.row("KV cache", fmt.Sprintf("%s keys, %s values", s.CacheTypeK, s.CacheTypeV))
	}
	if s.BatchSize > 0 {
		p.row("batches", fmt.Sprintf("%d tokens, %d at once", s.BatchSize, s.UBatchSize))
	}
}

const amountWidth = 10

// memory prints what each device has to hold.
func (p *painter) memory(r *planner.Result) {
	head := padded("memory", labelWidth)
	for _, title := range []string{"weights", "KV cache", "compute", "other", "in all", "there is"} {
		head += aligned(title, amountWidth)
	}
	p.println(p.paint(bold, head))
	for i, device := range r.Estimate.PerDevice {
		free := r.Hardware.AvailableMemory
		if i > 0 && i <= len(r.Hardware.GPUs) {
			free = r.Hardware.GPUs[i-1].FreeMemory
		}
		row := padded(cell(device.Device, labelWidth-1), labelWidth)
		for _, n := range []uint64{device.Weights, device.KVCache, device.ComputeBuffers, device.Overhead, device.Total, free} {
			row += aligned(sizeOf(n), amountWidth)
		}
		p.println(row)
	}
}

// notes prints what was lowered and what is odd.
func (p *painter) notes(r *planner.Result) {
	if len(r.Reductions)+len(r.Warnings) > 0 {
		p.println()
	}
	for _, one := range r.Reductions {
		p.println(p.paint(yellow, "lowered  "), asLine(fmt.Sprintf("%s from %v to %v: %s", one.Setting, one.From, one.To, one.Reason)))
	}
	for _, warning := range r.Warnings {
		p.println(p.paint(yellow, "warning  "), asLine(warning))
	}
}

// sizeOf writes bytes for people.
func sizeOf(n uint64) string {
	switch {
	case n == 0:
		return "-"
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1<<10-1)>>10)
}

// countOf writes a count for people.
func countOf(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f billion", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	}
	return fmt.Sprint(n)
}

// shellWords writes a command so that a shell reads it back.
func shellWords(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = word
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%") != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
