package planner

import (
	"fmt"
	"strings"

	"sluice/internal/wire"
	"sluice/stages/execute/planner/machine"
)

// quantizations are what people find models in, with their bits per weight, from large to small. The
// numbers are those of llama.cpp's tools/quantize/README.md for Llama 3.1 8B.
var quantizations = []struct {
	name string
	bits float64
}{{"Q8_0", 8.5}, {"Q6_K", 6.56}, {"Q5_K_M", 5.7}, {"Q4_K_M", 4.89}, {"Q3_K_M", 4.0}, {"Q2_K", 3.16}}

// refuse says that nothing fits: what is needed at least, what there is, and what would help.
func (d *decider) refuse() *wire.Fault {
	s := d.base
	s.ctx, s.parallel, s.kvType = d.least(), 1, kvQ8_0
	s.layers = mostLayers(d, s)
	e, ok := d.estimate(s)
	if !ok {
		return wire.NewFault(wire.CodeModelPlan, fmt.Sprintf("the memory of the model %q can't be estimated", d.file.Model.Path))
	}
	have := d.have()
	ways := []string{d.quantizationWay(e, have), d.contextWay(s), d.layersWay(s)}
	return wire.NewFault(wire.CodeModelPlan, fmt.Sprintf(
		"the model %q does not fit: with a context of %d tokens it needs %s, and %s can be had (%s). Ways out: %s",
		d.file.Model.Path, s.ctx, gib(e.Total), gib(have), d.haveWords(), strings.Join(ways, "; ")))
}

// have is what there is on all devices.
func (d *decider) have() uint64 {
	n := d.hw.Budget()
	for _, g := range d.hw.GPUs {
		if !g.Unified() {
			n += g.Budget()
		}
	}
	return n
}

// maxNamed bounds the GPUs that a message lists.
const maxNamed = 4

func (d *decider) haveWords() string {
	words := fmt.Sprintf("%s of memory available, %s of it kept free", gib(d.hw.AvailableMemory), gib(machine.Margin(d.hw.TotalMemory)))
	for i, g := range d.hw.GPUs {
		if i == maxNamed {
			return words + fmt.Sprintf("; and %d more GPUs", len(d.hw.GPUs)-i)
		}
		words += fmt.Sprintf("; %s free on %s, %s kept free", gib(g.FreeMemory), g.Name, gib(machine.Margin(g.TotalMemory)))
	}
	return words
}

// quantizationWay names the best quantization that fits.
func (d *decider) quantizationWay(e Estimate, have uint64) string {
	model := d.file.Model
	others := e.Total - min(e.Total, e.Weights)
	now := float64(model.FileBytes) * 8 / float64(max(model.Parameters, 1))
	for _, q := range quantizations {
		size := uint64(float64(model.Parameters) * q.bits / 8)
		if q.bits < now && size+others <= have {
			return fmt.Sprintf("a smaller quantization of the model (%s takes about %s instead of %s)", q.name, gib(size), gib(model.FileBytes))
		}
	}
	if others >= have {
		return fmt.Sprintf("a smaller quantization alone isn't enough (what isn't weights needs %s)", gib(others))
	}
	smallest := quantizations[len(quantizations)-1]
	fits := float64(have-others) * 8 / quantizations[3].bits
	return fmt.Sprintf("a smaller model (no quantization of this one fits, %s takes about %s; about %.1f billion parameters in %s would fit)",
		smallest.name, gib(uint64(float64(model.Parameters)*smallest.bits/8)), fits/1e9, quantizations[3].name)
}

// contextWay names the largest context that fits.
func (d *decider) contextWay(s setting) string {
	t := tier{kvQ8_0, contextStep, s.ctx, nil, mostLayers}
	if found, _, ok := d.largest(s, t); ok {
		return fmt.Sprintf("a smaller context (models[].ctx_size: %d fits)", found.ctx)
	}
	s.ctx = contextStep
	e, _ := d.estimate(s)
	return fmt.Sprintf("a smaller context isn't enough (models[].ctx_size: %d still needs %s)", s.ctx, gib(e.Total))
}

// layersWay says what GPUs could do: without one, how large one would have to be.
func (d *decider) layersWay(s setting) string {
	if len(d.hw.GPUs) > 0 {
		return fmt.Sprintf("more room on the GPUs (they take %d of %d layers; end what else uses them)", s.layers, d.blocks())
	}
	imagined := *d.hw
	imagined.GPUs = []machine.GPU{{Name: "GPU", TotalMemory: 1 << 50, FreeMemory: 1 << 50}}
	with := newEstimator(d.file, &imagined)
	for s.layers = 1; s.layers <= d.blocks(); s.layers++ {
		if e, ok := with.estimate(s); ok && e.PerDevice[0].Total <= d.hw.Budget() {
			room := e.PerDevice[1].Total
			return fmt.Sprintf("a GPU with %s free would take %d of %d layers (models[].gpu_layers; llama-server finds no GPU now)",
				gib(withMargin(room)), s.layers, d.blocks())
		}
	}
	return "no GPU would help, since too little of the host's memory is available"
}

// withMargin is how much must be free so that room is left within the margin, rounded up to a tenth of a
// GiB.
func withMargin(room uint64) uint64 {
	const tenth = 1 << 30 / 10
	return (max(room+room/15, room+machine.Margin(0))+tenth-1)/tenth*tenth + tenth/2
}

// gib writes bytes for people.
func gib(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
