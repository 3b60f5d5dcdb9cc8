package planner

import (
	"context"
	"strconv"
	"strings"

	"sluice/internal/wire"
	"sluice/stages/execute/planner/machine"
)

// Plan is how llama-server is started.
type Plan struct {
	// CtxSize is the context of one chat in tokens; -c is that times Parallel. 0 leaves it to the server,
	// which happens only where nothing could be estimated; so do the other zeros.
	CtxSize   int `json:"ctx_size"`
	GPULayers int `json:"gpu_layers"` // with the output as one more
	Parallel  int `json:"parallel"`
	// BatchSize is the logical, UBatchSize the physical one, in tokens.
	BatchSize  int    `json:"batch_size"`
	UBatchSize int    `json:"ubatch_size"`
	CacheTypeK string `json:"cache_type_k"`
	CacheTypeV string `json:"cache_type_v"`
	// CtxCheckpoints bounds the checkpoints of each slot; 0 for models that need none, or without room.
	CtxCheckpoints int `json:"ctx_checkpoints"`
	// CacheRAMMiB bounds the prompts that llama-server keeps beside the KV cache, in MiB; 0 keeps none.
	CacheRAMMiB int `json:"cache_ram_mib"`

	open      bool // nothing was estimated
	openGPU   string
	embedding bool
	windowed  bool // checkpoints are made
	unknown   []string
}

// Result is what the method plan answers; bytes are bytes. It is encoded with encoding/json.
type Result struct {
	Model      Model       `json:"model"`
	Plan       Plan        `json:"plan"`
	Estimate   Estimate    `json:"estimate"`
	Hardware   Hardware    `json:"hardware"`
	Fits       bool        `json:"fits"`
	Reductions []Reduction `json:"reductions"`
	// Command is what would be started, without the address to listen on, which is made at the start, and
	// without the key, which is handed over by environment.
	Command  []string `json:"command"`
	Warnings []string `json:"warnings"`
}

// Request says what to plan.
type Request struct {
	// Name is the model's name in the configuration; empty leaves the file's own.
	Name string
	// Path is the model file.
	Path string
	// CtxSize and Parallel are those of the configuration; 0 is planned.
	CtxSize, Parallel int
	// GPULayers is a number, or "auto" or empty to have it planned.
	GPULayers string
	// Binary and Args are llama_server's: Args follow the arguments that are planned.
	Binary string
	Args   []string
	// ShownArgs are Args as they may be shown, with secrets masked. Nil: Args.
	ShownArgs []string
	// Unknown are flags that the binary doesn't know (LeftOut): it is started without them.
	Unknown []string
	// Held is what a server that would be replaced holds now, in bytes of host memory.
	Held uint64
}

// Options says where facts about the machine come from.
type Options = machine.Options

// Hardware is what a plan may use.
type Hardware = machine.Hardware

// Planner plans for one engine and one llama-server binary.
type Planner struct{ machine *machine.Machine }

// New returns a Planner. Nothing is looked at before the first Plan.
func New(o Options) *Planner { return &Planner{machine.New(o)} }

// Plan plans one model. The error is a *wire.Fault: model_missing when the file is no readable model,
// model_plan_error when it fits in no way, or can't hold a chat; or the cause of ctx.
func (p *Planner) Plan(ctx context.Context, r Request) (*Result, error) {
	file, err := Inspect(r.Path)
	if err == nil {
		err = file.Chats()
	}
	if err != nil {
		return nil, err
	}
	return p.PlanFile(ctx, file, r)
}

// PlanFile is Plan for a file that was inspected.
func (p *Planner) PlanFile(ctx context.Context, file *File, r Request) (*Result, error) {
	hardware, warning, err := p.machine.Look(ctx, r.Held)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, wire.NewFault(wire.CodeInternal, err.Error())
	}
	result := &Result{Model: file.Model.named(r.Name), Hardware: *hardware, Reductions: []Reduction{}, Warnings: append([]string{}, file.Warnings...)}
	if warning != "" {
		result.Warnings = append(result.Warnings, warning)
	}
	args := readArgs(r.Args)
	result.Warnings = append(result.Warnings, args.warnings...)
	if file.Model.Embedding {
		result.Warnings = append(result.Warnings, "this is an embedding model: it can't chat")
	}
	d := newDecider(file, hardware, r, args)
	if err := d.fill(result); err != nil {
		return nil, err
	}
	result.Plan.unknown = r.Unknown
	if left := result.Plan.leftOut(); len(left) > 0 {
		result.Warnings = append(result.Warnings, "llama-server doesn't know "+strings.Join(left, ", ")+" and is started without; update llama.cpp, else it may take more memory than planned")
	}
	result.Command = command(r, result.Plan)
	return result, nil
}

func newDecider(file *File, hardware *Hardware, r Request, args serverArgs) *decider {
	if args.noGPU {
		without := *hardware
		without.GPUs = nil
		hardware = &without
	}
	d := &decider{estimator: newEstimator(file, hardware), wish: wish{ctx: max(r.CtxSize, 0), parallel: max(r.Parallel, 0), layers: -1}}
	if n, err := strconv.Atoi(r.GPULayers); err == nil && n >= 0 {
		d.wish.layers = n
	}
	d.base = setting{batch: batchTokens, ubatch: ubatchTokens, repack: hardware.Repack, projector: args.projectorBytes()}
	if args.noRepack {
		d.base.repack = machine.RepackNone
	}
	if file.Model.Embedding { // a text goes through such a model in one piece
		d.base.ubatch = min(batchTokens, max(d.wanted(), 1))
	}
	return d
}

// fill decides and fills the result.
func (d *decider) fill(result *Result) error {
	if !d.file.estimable {
		d.fillOpen(result, d.wish)
		return nil
	}
	s, e, ok := d.decide()
	switch {
	case d.failed:
		result.Warnings = append(result.Warnings, "the model's memory can't be estimated; the configured values are used")
		d.fillOpen(result, d.wish)
		return nil
	case !ok:
		return d.refuse()
	}
	result.Plan = Plan{
		CtxSize: s.ctx, GPULayers: s.layers, Parallel: s.parallel, BatchSize: s.batch, UBatchSize: s.ubatch,
		CacheTypeK: string(s.kvType), CacheTypeV: string(s.kvType), embedding: d.file.Model.Embedding,
	}
	d.bound(&result.Plan, &e, s)
	result.Estimate, result.Fits, result.Reductions = e, true, append(result.Reductions, d.reductions(s)...)
	return nil
}

// bound gives half of what is left to what grows as chats go on, the checkpoints first: without one a
// slot reads its whole prompt again. llama-server's own bounds are 32 checkpoints a slot, at least 8,192
// tokens apart but for the newest ones, and 8 GiB of prompts, whatever the machine has.
func (d *decider) bound(p *Plan, e *Estimate, s setting) {
	const mostCheckpoints, spacing, newest, mostMiB = 32, 8192, 3, 8192
	left := (d.hw.Budget() - min(d.hw.Budget(), e.PerDevice[0].Total)) / 2
	if one := d.checkpointBytes(s.ctx, s.kvType) * uint64(s.parallel); one > 0 {
		p.windowed = true
		p.CtxCheckpoints = int(min(left/one, uint64(min(mostCheckpoints, s.ctx/spacing+newest))))
		e.Growth = one * uint64(p.CtxCheckpoints)
		left -= e.Growth
	}
	p.CacheRAMMiB = int(min(mostMiB, left>>20))
	e.Growth += uint64(p.CacheRAMMiB) << 20
}

// fillOpen takes the configured values over, and leaves to the server what isn't configured. All that
// is known is the size of the file.
func (d *decider) fillOpen(result *Result, w wish) {
	result.Plan = Plan{CtxSize: w.ctx, Parallel: w.parallel, GPULayers: max(w.layers, 0), open: true, embedding: d.file.Model.Embedding}
	if w.layers >= 0 {
		result.Plan.openGPU = strconv.Itoa(w.layers)
	}
	size := d.file.Model.FileBytes
	result.Estimate = Estimate{
		Weights: size, Total: size, Resident: size,
		PerDevice: []DeviceEstimate{{Device: "host", Layers: d.file.Model.Layers, Weights: size, Total: size}},
	}
	result.Fits = size <= d.have()
}
