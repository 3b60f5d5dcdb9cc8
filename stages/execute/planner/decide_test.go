package planner

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/wire"
	"sluice/stages/execute/planner/machine"
)

// having is a machine that has so many GiB available of twice as many, and GPUs with so many GiB free.
func having(gigabytes float64, gpus ...float64) *Hardware {
	hw := &Hardware{TotalMemory: uint64(gigabytes * 2 * (1 << 30)), AvailableMemory: uint64(gigabytes * (1 << 30)), Cores: 4, GPUs: []machine.GPU{}}
	for i, free := range gpus {
		hw.GPUs = append(hw.GPUs, gpu("CUDA"+string(rune('0'+i)), uint64(free*(1<<30)), uint64(free*(1<<30))))
	}
	return hw
}

// llama8 is Llama 3.1 8B in four bits.
var llama8 = ggufShape{vocab: 128256, embd: 4096, layers: 32, heads: 32, headsKV: 8, ff: 14336, ctx: 131072, kind: ggmlQ4_K, embedKind: ggmlQ6_K, fileType: 15}

func decided(t testing.TB, shape ggufShape, hw *Hardware, r Request) (*Result, error) {
	t.Helper()
	file := shape.read(t)
	result := &Result{Model: file.Model, Hardware: *hw}
	return result, newDecider(file, hw, r, readArgs(r.Args)).fill(result)
}

// gpu is a GPU with so much memory.
func gpu(name string, total, free uint64) machine.GPU {
	return machine.GPU{Name: name, Description: "a GPU", TotalMemory: total, FreeMemory: free}
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		shape ggufShape
		hw    *Hardware
		r     Request
		want  Plan
		less  []string // the settings that were reduced
	}{
		"plenty": {llama8, having(64), Request{},
			Plan{CtxSize: 32768, Parallel: 4, CacheTypeK: "f16"}, []string{"ctx_size"}},
		"trained for little": {shared, having(64), Request{},
			Plan{CtxSize: 16384, Parallel: 4, CacheTypeK: "f16"}, nil},
		"some room": {llama8, having(14), Request{},
			Plan{CtxSize: 15360, Parallel: 4, CacheTypeK: "f16"}, []string{"ctx_size"}},
		"fewer slots": {llama8, having(9), Request{},
			Plan{CtxSize: 13056, Parallel: 2, CacheTypeK: "f16"}, []string{"ctx_size", "parallel"}},
		"one slot": {llama8, having(7), Request{},
			Plan{CtxSize: 12032, Parallel: 1, CacheTypeK: "f16"}, []string{"ctx_size", "parallel"}},
		"quantized cache": {llama8, having(6.05), Request{},
			Plan{CtxSize: 10240, Parallel: 1, CacheTypeK: "q8_0"}, []string{"ctx_size", "parallel", "cache_type_k", "cache_type_v"}},
		"a small context": {llama8, having(5.7), Request{},
			Plan{CtxSize: 5632, Parallel: 1, CacheTypeK: "q8_0"}, []string{"ctx_size", "parallel", "cache_type_k", "cache_type_v"}},
		"configured, kept": {llama8, having(64), Request{CtxSize: 100_000, Parallel: 2, GPULayers: "auto"},
			Plan{CtxSize: 100_000, Parallel: 2, CacheTypeK: "f16"}, nil},
		"configured, odd": {llama8, having(64), Request{CtxSize: 1000, Parallel: 3},
			Plan{CtxSize: 1000, Parallel: 3, CacheTypeK: "f16"}, nil},
		"configured above the training": {shared, having(64), Request{CtxSize: 20000, Parallel: 1},
			Plan{CtxSize: 16384, Parallel: 1, CacheTypeK: "f16"}, []string{"ctx_size"}},
		"configured, slots open": {llama8, having(9), Request{CtxSize: 16384},
			Plan{CtxSize: 16384, Parallel: 1, CacheTypeK: "f16"}, []string{"parallel"}},
		"configured, halved at most": {llama8, having(7.7), Request{CtxSize: 32768, Parallel: 1},
			Plan{CtxSize: 32000, Parallel: 1, CacheTypeK: "q8_0"}, []string{"ctx_size", "cache_type_k", "cache_type_v"}},
		"configured slots lowered": {llama8, having(9), Request{CtxSize: 8192, Parallel: 8},
			Plan{CtxSize: 8192, Parallel: 2, CacheTypeK: "f16"}, []string{"parallel"}},
		"layers without a GPU": {llama8, having(64), Request{CtxSize: 8192, Parallel: 1, GPULayers: "20"},
			Plan{CtxSize: 8192, Parallel: 1, CacheTypeK: "f16"}, []string{"gpu_layers"}},
		"a GPU for all": {llama8, having(16, 20), Request{},
			Plan{CtxSize: 29184, Parallel: 4, GPULayers: 33, CacheTypeK: "f16"}, []string{"ctx_size"}},
		"a GPU for some": {llama8, having(64, 4), Request{},
			Plan{CtxSize: 8192, Parallel: 1, GPULayers: 21, CacheTypeK: "f16"}, []string{"ctx_size", "parallel", "gpu_layers"}},
		"a GPU for none": {llama8, having(64, 0.4), Request{CtxSize: 8192, Parallel: 1},
			Plan{CtxSize: 8192, Parallel: 1, GPULayers: 0, CacheTypeK: "f16"}, []string{"gpu_layers"}},
		"two GPUs": {llama8, having(16, 6, 6), Request{CtxSize: 8192, Parallel: 2},
			Plan{CtxSize: 8192, Parallel: 2, GPULayers: 33, CacheTypeK: "f16"}, nil},
		"GPU kept away": {llama8, having(64, 24), Request{CtxSize: 8192, Parallel: 1, Args: []string{"--device", "none"}},
			Plan{CtxSize: 8192, Parallel: 1, CacheTypeK: "f16"}, nil},
		"layers configured": {llama8, having(64, 24), Request{CtxSize: 8192, Parallel: 1, GPULayers: "10"},
			Plan{CtxSize: 8192, Parallel: 1, GPULayers: 10, CacheTypeK: "f16"}, nil},
		"no layers configured": {llama8, having(64, 24), Request{CtxSize: 8192, Parallel: 1, GPULayers: "0"},
			Plan{CtxSize: 8192, Parallel: 1, GPULayers: 0, CacheTypeK: "f16"}, nil},
		"too many layers": {llama8, having(64, 24), Request{CtxSize: 8192, Parallel: 1, GPULayers: "99"},
			Plan{CtxSize: 8192, Parallel: 1, GPULayers: 33, CacheTypeK: "f16"}, []string{"gpu_layers"}},
		"layers lowered": {llama8, having(64, 4), Request{CtxSize: 8192, Parallel: 1, GPULayers: "33"},
			Plan{CtxSize: 8192, Parallel: 1, GPULayers: 21, CacheTypeK: "f16"}, []string{"gpu_layers"}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := decided(t, c.shape, c.hw, c.r)
			if err != nil {
				t.Fatal(err)
			}
			got := result.Plan
			if got.CtxSize != c.want.CtxSize || got.Parallel != c.want.Parallel || got.GPULayers != c.want.GPULayers || got.CacheTypeK != c.want.CacheTypeK {
				t.Errorf("got %+v", got)
			}
			var less []string
			for _, r := range result.Reductions {
				less = append(less, r.Setting)
			}
			if !slices.Equal(less, c.less) {
				t.Errorf("reduced %+v", result.Reductions)
			}
			checkPlan(t, result)
		})
	}
}

// checkPlan holds a plan to what every plan promises.
func checkPlan(t *testing.T, r *Result) {
	t.Helper()
	if !r.Fits || r.Plan.CtxSize > r.Model.TrainedContext || r.Plan.Parallel < 1 {
		t.Errorf("%+v", r.Plan)
	}
	host := r.Estimate.PerDevice[0].Total
	if most := r.Hardware.Budget(); host > most {
		t.Errorf("the host needs %s of %s", gib(host), gib(most))
	}
	layers := 0
	for i, d := range r.Estimate.PerDevice {
		if layers += d.Layers; i > 0 && d.Total > r.Hardware.GPUs[i-1].Budget() {
			t.Errorf("%s needs %s of %s", d.Device, gib(d.Total), gib(r.Hardware.GPUs[i-1].Budget()))
		}
	}
	if layers != r.Model.Layers+1 {
		t.Errorf("%d layers are placed of %d", layers, r.Model.Layers+1)
	}
	if left := r.Hardware.Budget() - host; r.Estimate.Growth > left/2 {
		t.Errorf("it may grow by %s where %s are left", gib(r.Estimate.Growth), gib(left))
	}
}

// TestLargest: one step more would not fit.
func TestLargest(t *testing.T) {
	for _, gigabytes := range []float64{5.8, 6.2, 6.7, 7.3, 8.1, 9.9, 12.5} {
		hw := having(gigabytes)
		file := llama8.read(t)
		d := newDecider(file, hw, Request{}, serverArgs{})
		s, e, ok := d.decide()
		if !ok {
			t.Fatalf("%v GiB: nothing fits", gigabytes)
		}
		if s.ctx%contextStep != 0 || !d.fits(e) {
			t.Errorf("%v GiB: %+v", gigabytes, s)
		}
		s.ctx += contextStep
		if e, _ := d.estimate(s); d.fits(e) {
			t.Errorf("%v GiB: %d tokens fit as well", gigabytes, s.ctx)
		}
	}
}

// TestGrowth: what llama-server keeps beside its caches is bounded by what is left.
func TestGrowth(t *testing.T) {
	gemma := published["Gemma 2 9B"].shape // a checkpoint is 21 layers × 4,096 tokens × 8 KiB = 672 MiB
	for _, c := range []struct {
		shape            ggufShape
		gigabytes        float64
		checkpoints, mib int
	}{
		{llama8, 64, 0, 8192}, {llama8, 8, 0, 192},
		{gemma, 100, 4, 8192}, {gemma, 35, 3, 632}, {gemma, 30.5, 1, 1304}, {gemma, 26.5, 0, 856},
	} {
		result, err := decided(t, c.shape, having(c.gigabytes), Request{CtxSize: 8192, Parallel: 2})
		if err != nil {
			t.Fatal(err)
		}
		one := newEstimator(c.shape.read(t), noGPU).checkpointBytes(8192, kvF16)
		if p := result.Plan; p.CtxCheckpoints != c.checkpoints || p.CacheRAMMiB != c.mib ||
			result.Estimate.Growth != uint64(p.CtxCheckpoints)*2*one+uint64(p.CacheRAMMiB)<<20 {
			t.Errorf("%s, %v GiB: %+v, growth %s", result.Model.Architecture, c.gigabytes, p, gib(result.Estimate.Growth))
		}
		if c.checkpoints > 0 && one != 672<<20 {
			t.Errorf("a checkpoint takes %s", gib(one))
		}
		result.Hardware = *having(c.gigabytes)
		checkPlan(t, result)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		hw   *Hardware
		r    Request
		says []string
	}{
		"too little": {having(4), Request{}, []string{"it needs 4.8 GiB", "3.5 GiB can be had", "4.0 GiB of memory available",
			"a smaller quantization of the model (Q2_K takes about 3.0 GiB instead of 4.5 GiB)", "a smaller context isn't enough (models[].ctx_size: 256 still needs", "a GPU with", "of 33 layers"}},
		"next to nothing":     {having(0.5), Request{}, []string{"256 MiB can be had", "a smaller quantization alone isn't enough", "isn't enough", "no GPU would help"}},
		"a context too large": {having(6.05), Request{CtxSize: 65536}, []string{"with a context of 32768 tokens", "a smaller context (models[].ctx_size: "}},
		"GPU and host":        {having(2, 2), Request{}, []string{"2.0 GiB free on CUDA0", "more room on the GPUs"}},
		"a small machine":     {having(1.5), Request{}, []string{"a smaller model (no quantization of this one fits", "billion parameters in Q4_K_M would fit"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decided(t, llama8, c.hw, c.r)
			wantFault(t, err, wire.CodeModelPlan, c.says...)
			t.Log(err)
		})
	}
}

// TestWaysOutAreTrue follows the advice of a refusal.
func TestWaysOutAreTrue(t *testing.T) {
	hw := having(4)
	_, err := decided(t, llama8, hw, Request{})
	if err == nil || !strings.Contains(err.Error(), "a GPU with 2.1 GiB free would take 10 of 33 layers") {
		t.Fatal(err)
	}
	helped := *hw
	helped.GPUs = []machine.GPU{gpu("CUDA0", 21<<30/10, 21<<30/10)}
	if _, err := decided(t, llama8, &helped, Request{}); err != nil {
		t.Error(err)
	}
	two := llama8
	two.kind, two.embedKind = ggmlQ2K, ggmlQ2K
	if _, err := decided(t, two, hw, Request{}); err != nil {
		t.Error(err)
	}
}
