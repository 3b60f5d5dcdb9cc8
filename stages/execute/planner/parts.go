package planner

import (
	"fmt"
	"strings"

	gguf "github.com/gpustack/gguf-parser-go"
)

// weights are the bytes of a model's parts.
type weights struct {
	layers []uint64 // of each block
	output uint64
	tied   uint64 // of the input's matrix, when the output uses it too
}

func (f *File) readWeights() {
	w := weights{layers: make([]uint64, f.arch.BlockCount)}
	var input uint64
	own := false
	for _, t := range f.parsed.TensorInfos {
		n, _, _ := tensorBytes(t)
		block := 0
		switch _, err := fmt.Sscanf(t.Name, "blk.%d.", &block); {
		case err == nil && block >= 0 && block < len(w.layers):
			w.layers[block] += n
		case strings.HasPrefix(t.Name, "output"):
			w.output += n
			own = own || t.Name == "output.weight"
		case t.Name == "token_embd.weight":
			input = n
		}
	}
	if !own {
		w.tied = input
	}
	f.weights = w
}

// cache returns the KV cache of each block for one sequence, in bytes: nil when gguf-parser-go, which
// knows for each architecture which blocks keep what, doesn't understand the model. It tells sums for
// each device, so it is asked for a machine with a GPU for each block. llama-server gives each slot a
// cache of its own when their number is set.
func (m *estimator) cache(ctx int, kvType kvType) []uint64 {
	key := cacheKey{ctx, kvType}
	cache, found := m.caches[key]
	if found {
		return cache
	}
	var run gguf.LLaMACppRunEstimate
	blocks := len(m.file.weights.layers)
	bounds := make([]float64, blocks+1)
	for i := range bounds {
		bounds[i] = float64(i+1) / float64(len(bounds))
	}
	ok := guarded(func() {
		run = m.file.parsed.EstimateLLaMACppRun(
			gguf.WithFlashAttention(), // llama-server's default where it can
			gguf.WithLLaMACppContextSize(int32(ctx)),
			gguf.WithParallelSize(1),
			gguf.WithTensorSplitFraction(bounds),
			gguf.WithLLaMACppOffloadLayers(uint64(len(bounds))),
			// The library pads sliding windows with the logical batch, llama.cpp with the physical one.
			gguf.WithLLaMACppLogicalBatchSize(ubatchTokens),
			gguf.WithLLaMACppPhysicalBatchSize(ubatchTokens),
			gguf.WithLLaMACppCacheKeyType(kvType.ggml()),
			gguf.WithLLaMACppCacheValueType(kvType.ggml()),
		)
	})
	if ok && len(run.Devices) == len(bounds)+1 {
		cache = make([]uint64, blocks)
		for i := range cache {
			cache[i] = uint64(run.Devices[i+1].KVCache.Sum())
		}
	}
	m.caches[key] = cache
	return cache
}

// checkpointBytes is the size of one context checkpoint: what llama-server keeps on the host of a slot whose
// earlier tokens can't be had back otherwise, because layers look back through a window or keep a state.
// Measured: 64.05 MiB for four layers with 4 KiB a token and a window of 4,096 (its log, "created context
// checkpoint"). 0 for a model without such layers, of which no checkpoints are made.
func (m *estimator) checkpointBytes(ctx int, kvType kvType) (bytes uint64) {
	one, two := m.cache(contextStep, kvType), m.cache(2*contextStep, kvType)
	arch := &m.file.arch
	for i := range min(len(one), len(two)) {
		switch windowed := i < len(arch.AttentionSlidingWindowLayers) && arch.AttentionSlidingWindowLayers[i]; {
		case windowed:
			bytes += one[i] / contextStep * min(arch.AttentionSlidingWindow, uint64(ctx))
		case one[i] == two[i]: // a state, whatever the context
			bytes += one[i]
		}
	}
	return bytes
}

// kvType is a data type of the KV cache, in the words of llama-server's -ctk and -ctv.
type kvType string

const (
	kvF16  kvType = "f16"
	kvQ8_0 kvType = "q8_0"
)

func (t kvType) ggml() gguf.GGMLType {
	if t == kvQ8_0 {
		return gguf.GGMLTypeQ8_0
	}
	return gguf.GGMLTypeF16
}
