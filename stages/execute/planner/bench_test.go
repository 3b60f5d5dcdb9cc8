package planner

import (
	"fmt"
	"path/filepath"
	"testing"

	"sluice/sources/demo"
	"sluice/stages/execute/planner/machine"
)

// demoModel writes the built-in model.
func demoModel(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.gguf")
	if err := demo.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// forty is a mixture of experts of 40 GiB with the vocabulary of a large model.
var forty = ggufShape{vocab: 151936, embd: 4096, layers: 94, heads: 64, headsKV: 4, headDim: 128, ff: 1536, ctx: 40960,
	kind: ggmlQ4_K, fileType: 15, experts: 39, expertsUsed: 8, byteTokens: true}

// noGPU is a machine of 24 GiB, withGPU one of 64 GiB with two GPUs.
var (
	noGPU   = &Hardware{TotalMemory: 24 << 30, AvailableMemory: 22 << 30, Cores: 4, GPUs: []machine.GPU{}}
	withGPU = &Hardware{TotalMemory: 64 << 30, AvailableMemory: 60 << 30, Cores: 8, GPUs: []machine.GPU{
		gpu("CUDA0", 24124<<20, 23837<<20), gpu("CUDA1", 12036<<20, 11800<<20)}}
)

// BenchmarkInspect40GB reads the header of a file of 40 GiB.
func BenchmarkInspect40GB(b *testing.B) {
	path := forty.write(b, "forty.gguf")
	file := inspected(b, path)
	if file.Model.FileBytes < 40e9 || file.Model.FileBytes > 48e9 {
		b.Fatalf("it is a file of %s", gib(file.Model.FileBytes))
	}
	for b.Loop() {
		if _, err := Inspect(path); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlan40GB decides for it: on a machine that it doesn't fit on, and on one with two GPUs.
func BenchmarkPlan40GB(b *testing.B) {
	file := inspected(b, forty.write(b, "forty.gguf"))
	for name, hw := range map[string]*Hardware{"refused": noGPU, "GPUs": withGPU} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d := newDecider(file, hw, Request{}, serverArgs{})
				if err := d.fill(&Result{}); (err != nil) != (name == "refused") {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlanWarm is what planning costs a chat: the demo model, a machine that was looked at before.
func BenchmarkPlanWarm(b *testing.B) {
	request := Request{Path: demoModel(b)}
	p := New(Options{})
	for b.Loop() {
		if _, err := p.Plan(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlanMostLayers plans the largest number of blocks that is believed.
func BenchmarkPlanMostLayers(b *testing.B) {
	shape := ggufShape{vocab: 300, embd: 256, layers: 512, heads: 8, headsKV: 8, ff: 512, ctx: 1 << 20, kind: ggmlF16}
	file := inspected(b, shape.write(b, "deep.gguf"))
	hw := *withGPU
	hw.GPUs = nil
	for i := range 16 {
		hw.GPUs = append(hw.GPUs, gpu(fmt.Sprintf("CUDA%d", i), 1<<30, 900<<20))
	}
	for b.Loop() {
		if err := newDecider(file, &hw, Request{CtxSize: 1 << 20, Parallel: 64}, serverArgs{}).fill(&Result{}); err != nil {
			b.Log(err)
		}
	}
}

// BenchmarkInspectHostile reads the file that takes longest: millions of empty strings in a hole.
func BenchmarkInspectHostile(b *testing.B) {
	path := writeHostile(b, "strings", hostile["strings in a hole"].text, 1<<40)
	for b.Loop() {
		if _, err := Inspect(path); err == nil {
			b.Fatal("it is accepted")
		}
	}
}
