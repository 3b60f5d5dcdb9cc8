package planner

import (
	gguf "github.com/gpustack/gguf-parser-go"

	"sluice/stages/execute/planner/machine"
)

// Estimate is the memory that a llama-server with a plan needs, in bytes.
type Estimate struct {
	Weights        uint64 `json:"weights"`
	KVCache        uint64 `json:"kv_cache"`
	ComputeBuffers uint64 `json:"compute_buffers"`
	// Overhead is the program itself, its vocabulary, and the runtimes of GPUs.
	Overhead uint64 `json:"overhead"`
	Total    uint64 `json:"total"`
	// Resident is what a process monitor shows for the server in host memory. It is more than the host's
	// Total where weights are rearranged for the processor when they are loaded: the mapped file stays
	// resident beside the copy until the system needs the room.
	Resident uint64 `json:"resident"`
	// Growth is what the server may keep on the host beyond Total as chats go on: context checkpoints and
	// prompts. The plan bounds it by half of what is left.
	Growth uint64 `json:"growth"`
	// PerDevice is the host first, then the GPUs in the order of Hardware.
	PerDevice []DeviceEstimate `json:"per_device"`
}

// DeviceEstimate is one device's share, in bytes.
type DeviceEstimate struct {
	Device         string `json:"device"` // "host", or the GPU's name
	Layers         int    `json:"layers"`
	Weights        uint64 `json:"weights"`
	KVCache        uint64 `json:"kv_cache"`
	ComputeBuffers uint64 `json:"compute_buffers"`
	Overhead       uint64 `json:"overhead"`
	Total          uint64 `json:"total"`
}

// setting is what an estimate is made for.
type setting struct {
	ctx, parallel int // ctx is per chat, in tokens
	layers        int // on GPUs; the output counts as one more
	batch, ubatch int
	kvType        kvType
	projector     uint64 // bytes of a vision projector that is loaded beside the model
	repack        machine.Repack
}

// The server's own use of memory, measured with the llama-server 0.4.0-dev (commit 80fb11a) of the tests,
// Linux x86-64, from /proc/pid/smaps_rollup after a prompt of 1,654 tokens, less the file, the KV cache
// and the compute buffer of its log: 9.3 MiB with 4,096 tokens of vocabulary, 11.6 MiB with 8,000, 17
// MiB with 32,000.
const (
	baseBytes     = 9 << 20
	bytesPerToken = 250
	// bytesPerMerge is not measured: gguf-parser-go counts 104 bytes for a pair of a byte-pair
	// vocabulary, to which its text comes.
	bytesPerMerge = 128
	// gpuHostBytes and gpuBytes are the runtime of a GPU on the host and on each GPU: the defaults of
	// gguf-parser's command line (--platform-footprint 150,250).
	gpuHostBytes = 150 << 20
	gpuBytes     = 250 << 20
)

// contextStep is the granularity of llama.cpp's KV cache: it pads the context of a sequence to this.
const contextStep = 256

// estimator estimates one file on one machine. It belongs to one goroutine.
type estimator struct {
	file *File
	hw   *Hardware
	// caches are those that were asked for, since the search for a plan asks for few contexts often.
	caches map[cacheKey][]uint64
}

type cacheKey struct {
	ctx    int
	kvType kvType
}

func newEstimator(file *File, hw *Hardware) *estimator {
	return &estimator{file: file, hw: hw, caches: map[cacheKey][]uint64{}}
}

// estimate is what the file, which must be estimable, needs with s. Not ok says that gguf-parser-go
// doesn't understand the model.
func (m *estimator) estimate(s setting) (e Estimate, ok bool) {
	cache := m.cache(s.ctx, s.kvType)
	if cache == nil {
		return Estimate{}, false
	}
	f := m.file
	e.PerDevice = make([]DeviceEstimate, 1+len(m.hw.GPUs))
	host := &e.PerDevice[0]
	*host = DeviceEstimate{Device: "host", Weights: f.Model.FileBytes + s.projector, ComputeBuffers: f.computeBytes(s), Overhead: f.overheadBytes()}
	for i, device := range m.place(s.layers) {
		d := &e.PerDevice[device]
		d.Layers++
		moved := f.weights.output
		if i < len(cache) {
			d.KVCache += cache[i] * uint64(s.parallel)
			moved = f.weights.layers[i]
		} else if device > 0 {
			d.Weights += f.weights.tied // the GPU's copy of what the host keeps
		}
		if device > 0 {
			d.Weights += moved
			host.Weights -= min(host.Weights, moved)
		}
	}
	for i, gpu := range m.hw.GPUs {
		d := &e.PerDevice[1+i]
		if d.Device = gpu.Name; d.Layers > 0 {
			d.ComputeBuffers, d.Overhead = host.ComputeBuffers, gpuBytes
		}
	}
	if s.layers > 0 && len(m.hw.GPUs) > 0 {
		host.Overhead += gpuHostBytes
	}
	copies, originals := f.repackedBytes(s)
	host.Weights += copies - min(copies, originals)
	e.sum()
	e.Resident = host.Total + min(copies, originals)
	return e, true
}

// place returns the device of each block and, last, of the output: 0 is the host. It is what llama.cpp
// does (src/llama-model.cpp, load_tensors): the last layers go to the GPUs, the output first of all,
// in shares of the free memory.
func (m *estimator) place(layers int) []int {
	devices := make([]int, len(m.file.weights.layers)+1)
	layers = min(layers, len(devices))
	if len(m.hw.GPUs) == 0 || layers <= 0 {
		return devices
	}
	bounds, first := m.hw.Fractions(), len(devices)-layers
	for i := first; i < len(devices); i++ {
		share, gpu := float64(i-first)/float64(layers), 0
		for gpu < len(bounds)-1 && bounds[gpu] <= share {
			gpu++
		}
		devices[i] = 1 + gpu
	}
	return devices
}

func (e *Estimate) sum() {
	for i := range e.PerDevice {
		d := &e.PerDevice[i]
		d.Total = d.Weights + d.KVCache + d.ComputeBuffers + d.Overhead
		e.Weights += d.Weights
		e.KVCache += d.KVCache
		e.ComputeBuffers += d.ComputeBuffers
		e.Overhead += d.Overhead
		e.Total += d.Total
	}
}

// computeBytes is the size of a device's compute buffer. Measured: what llama-server logs is, for llama
// architectures from 512×4 to 1,024×8 with and without experts, exactly the FP16 mask over the
// context of one slot, three rows of the feed-forward width and four of the embedding's for each token of
// a physical batch, in FP32; with a quantized KV cache it is a twentieth less.
func (f *File) computeBytes(s setting) uint64 {
	tokens := uint64(min(s.ubatch, padded(s.ctx)))
	rows := 3*f.feedForward() + 4*max(f.arch.EmbeddingLength, f.arch.AttentionHeadCount*uint64(f.arch.AttentionKeyLength))
	bytes := 4 * tokens * rows
	bytes += 2 * tokens * uint64(padded(s.ctx))
	if f.arch.Architecture == "grok" { // the one architecture without flash attention holds all of KQ
		bytes += 4 * tokens * uint64(padded(s.ctx)) * f.arch.AttentionHeadCount
	}
	outputs := uint64(s.parallel) * f.arch.VocabularyLength * 4
	return bytes + 2*outputs // logits, and the buffer they are handed over in
}

// feedForward is the width of what one token makes in a block's feed-forward part.
func (f *File) feedForward() (width uint64) {
	for _, n := range f.arch.FeedForwardLength {
		width = max(width, n)
	}
	if f.arch.ExpertCount > 0 {
		expert := f.arch.ExpertFeedForwardLength
		if expert == 0 {
			expert = width
		}
		width = max(width, expert*uint64(f.arch.ExpertUsedCount)+f.arch.ExpertSharedFeedForwardLength)
	}
	return max(width, uint64(f.arch.SSMInnerSize)*2)
}

func (f *File) overheadBytes() uint64 {
	return baseBytes + bytesPerToken*f.arrayLength("tokenizer.ggml.tokens") + bytesPerMerge*f.arrayLength("tokenizer.ggml.merges")
}

func (f *File) arrayLength(key string) uint64 {
	entry, _ := f.parsed.Header.MetadataKV.Get(key)
	array, _ := entry.Value.(gguf.GGUFMetadataKVArrayValue)
	return array.Len
}

// padded is a context as llama.cpp allocates it.
func padded(ctx int) int { return (ctx + contextStep - 1) / contextStep * contextStep }
