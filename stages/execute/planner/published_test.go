package planner

import (
	"math"
	"testing"
)

// published are well-known models as their makers' config.json describes them; the files are headers with
// a hole for the weights. Parameters are those that each model card or paper tells; cache is the size of
// keys and values of one token in FP16: 2 (K and V) × layers × KV heads × head size × 2 bytes.
//
//   - Llama 3.1 8B: config.json of meta-llama/Llama-3.1-8B; "The Llama 3 Herd of Models" (arXiv 2407.21783),
//     table 3. 8.03 B parameters; 128 KiB a token.
//   - Mistral 7B v0.3: config.json of mistralai/Mistral-7B-v0.3. 7.25 B; 128 KiB.
//   - Qwen2.5 7B: config.json of Qwen/Qwen2.5-7B; its card: "7.61B parameters, 28 layers, 28 heads for Q and
//     4 for KV". 56 KiB.
//   - Qwen2.5 0.5B: config.json of Qwen/Qwen2.5-0.5B; its card: "0.49B". 12 KiB.
//   - Gemma 2 9B: config.json of google/gemma-2-9b; "Gemma 2" (arXiv 2408.00118), table 2: 9.24 B with its
//     918 M of embeddings. 336 KiB.
//   - Mixtral 8x7B: config.json of mistralai/Mixtral-8x7B-v0.1; "Mixtral of Experts" (arXiv 2401.04088):
//     47 B. 128 KiB.
//   - Llama 2 7B: config.json of meta-llama/Llama-2-7b-hf: 6.74 B, without grouped heads 512 KiB.
var published = map[string]struct {
	shape      ggufShape
	parameters float64 // billions
	cache      int     // KiB a token
}{
	"Llama 3.1 8B": {ggufShape{vocab: 128256, embd: 4096, layers: 32, heads: 32, headsKV: 8, ff: 14336, ctx: 131072, kind: ggmlF16}, 8.03, 128},
	"Mistral 7B":   {ggufShape{vocab: 32768, embd: 4096, layers: 32, heads: 32, headsKV: 8, ff: 14336, ctx: 32768, kind: ggmlF16}, 7.25, 128},
	"Qwen2.5 7B":   {ggufShape{arch: "qwen2", vocab: 152064, embd: 3584, layers: 28, heads: 28, headsKV: 4, ff: 18944, ctx: 131072, kind: ggmlF16, biasQKV: true}, 7.61, 56},
	"Qwen2.5 0.5B": {ggufShape{arch: "qwen2", vocab: 151936, embd: 896, layers: 24, heads: 14, headsKV: 2, ff: 4864, ctx: 32768, kind: ggmlF16, biasQKV: true, tied: true}, 0.494, 12},
	"Gemma 2 9B": {ggufShape{arch: "gemma2", vocab: 256000, embd: 3584, layers: 42, heads: 16, headsKV: 8, headDim: 256, ff: 14336, ctx: 8192, kind: ggmlF16, tied: true, postNorms: true,
		more: []pair{{"gemma2.attention.sliding_window", uint32(4096)}}}, 9.24, 336},
	"Mixtral 8x7B": {ggufShape{vocab: 32000, embd: 4096, layers: 32, heads: 32, headsKV: 8, ff: 14336, ctx: 32768, kind: ggmlF16, experts: 8, expertsUsed: 2}, 46.7, 128},
	"Llama 2 7B":   {ggufShape{vocab: 32000, embd: 4096, layers: 32, heads: 32, headsKV: 32, ff: 11008, ctx: 4096, kind: ggmlF16}, 6.74, 512},
}

func TestPublishedFigures(t *testing.T) {
	for name, c := range published {
		t.Run(name, func(t *testing.T) {
			file := inspected(t, c.shape.write(t, "model.gguf"))
			if billions := float64(file.Model.Parameters) / 1e9; math.Abs(billions-c.parameters) > c.parameters/200 {
				t.Errorf("%.3f billion parameters, published are %.3f", billions, c.parameters)
			}
			// Within every sliding window a token costs what is published.
			const tokens = 2048
			e, ok := newEstimator(file, noGPU).estimate(setting{ctx: tokens, parallel: 1, ubatch: ubatchTokens, kvType: kvF16})
			if !ok || e.KVCache != uint64(c.cache)<<10*tokens {
				t.Errorf("%d KiB a token, published are %d", e.KVCache/tokens>>10, c.cache)
			}
			if two := 2 * file.Model.Parameters; e.Weights < two || e.Weights > two*101/100 {
				t.Errorf("%s of weights in FP16 for %d parameters", gib(e.Weights), file.Model.Parameters)
			}
			slots, _ := newEstimator(file, noGPU).estimate(setting{ctx: tokens, parallel: 3, ubatch: ubatchTokens, kvType: kvF16})
			if slots.KVCache != 3*e.KVCache {
				t.Errorf("three slots take %s, one %s", gib(slots.KVCache), gib(e.KVCache))
			}
		})
	}
}

// TestSlidingWindow: half of Gemma 2's layers look back 4,096 tokens, so beyond that they cost no more but
// for the batch on the way in.
func TestSlidingWindow(t *testing.T) {
	m := newEstimator(inspected(t, published["Gemma 2 9B"].shape.write(t, "model.gguf")), noGPU)
	cache := m.cache(8192, kvF16)
	const layer = 8 * 256 * 2 * 2 // bytes of a token
	if full, window := cache[1], cache[0]; full != 8192*layer || window != (4096+ubatchTokens)*layer {
		t.Errorf("%d bytes with all tokens, %d with a window", full, window)
	}
}

func TestQuantizedCache(t *testing.T) {
	m := newEstimator(inspected(t, published["Llama 3.1 8B"].shape.write(t, "model.gguf")), noGPU)
	f16, _ := m.estimate(setting{ctx: 4096, parallel: 1, ubatch: ubatchTokens, kvType: kvF16})
	q8, _ := m.estimate(setting{ctx: 4096, parallel: 1, ubatch: ubatchTokens, kvType: kvQ8_0})
	if q8.KVCache != f16.KVCache/64*34 { // blocks of 32 values take 34 bytes instead of 64
		t.Errorf("%d bytes in q8_0, %d in f16", q8.KVCache, f16.KVCache)
	}
}
