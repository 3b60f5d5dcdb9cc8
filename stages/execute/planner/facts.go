package planner

import (
	"fmt"
	"path/filepath"
	"strings"

	gguf "github.com/gpustack/gguf-parser-go"
)

// facts fills Model and Warnings from what was read.
func (f *File) facts() {
	h := &header{entries: f.parsed.Header.MetadataKV}
	m := &f.Model
	if m.Name = h.text("general.name"); m.Name == "" {
		m.Name = strings.TrimSuffix(filepath.Base(m.Path), ".gguf")
	}
	m.Parameters = f.parameters()
	f.parsed.ModelParameters = gguf.GGUFParametersScalar(m.Parameters)
	m.Quantization = f.quantization()
	_, m.ChatTemplate = h.entries.Get("tokenizer.chat_template")
	m.Projector = h.isProjector()
	f.readArchitecture()
	f.readWeights()
	m.TrainedContext = int(f.arch.MaximumContextLength)
	m.Layers = int(f.arch.BlockCount)
	m.Experts, m.ExpertsUsed = int(f.arch.ExpertCount), int(f.arch.ExpertUsedCount)
	m.Embedding = f.arch.Type == "model" && !f.arch.AttentionCausal
	f.warn(h)
}

// guarded calls into gguf-parser-go, which panics on what it doesn't expect. It reports whether the call
// came to its end.
func guarded(call func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	call()
	return true
}

func (f *File) parameters() (n uint64) {
	for _, t := range f.parsed.TensorInfos {
		elements := uint64(1)
		for _, d := range t.Dimensions {
			elements *= d // tensorBytes has bounded the product
		}
		n += elements
	}
	return n
}

func (f *File) quantization() (name string) {
	name = "unknown"
	guarded(func() {
		if text := f.parsed.Metadata().FileTypeDescriptor; text != "Unknown" {
			name = text
		}
	})
	return name
}

// required are the keys, after the architecture's name, without which there is no estimate.
var required = []string{"context_length", "embedding_length", "block_count"}

func (f *File) readArchitecture() {
	f.estimable = guarded(func() { f.arch = f.parsed.Architecture() })
	if !f.estimable {
		f.arch = gguf.GGUFArchitecture{Type: "model", Architecture: f.Model.Architecture, AttentionCausal: true}
		f.Warnings = append(f.Warnings, "the model's metadata can't be understood; its memory is not estimated, the configured values are used")
	}
}

func (f *File) warn(h *header) {
	if f.arch.Type == "model" && f.arch.Architecture != "diffusion" {
		f.warnOfMissing(h)
		if !f.Model.ChatTemplate && !f.Model.Embedding {
			f.Warnings = append(f.Warnings, "the model has no chat template; llama-server uses a general one, which it may not have been trained for")
		}
	}
	if len(f.parsed.TensorInfos) == 0 { // llama-server says itself that it can't load such a file
		f.estimable = false
		f.Warnings = append(f.Warnings, "the model holds no tensors, only metadata: download the model itself; its memory is not estimated, the configured values are used")
	}
	for _, t := range f.parsed.TensorInfos {
		if _, known, _ := tensorBytes(t); !known {
			f.estimable = false
			f.Warnings = append(f.Warnings, fmt.Sprintf("the tensor %q has the type %d, which is newer than this engine; its memory is not estimated, the configured values are used", t.Name, uint32(t.Type)))
			return
		}
	}
}

func (f *File) warnOfMissing(h *header) {
	var gone []string
	keys := required
	if !f.arch.AttentionRecurrent {
		keys = append(keys[:len(keys):len(keys)], "attention.head_count")
	}
	for _, key := range keys {
		name := f.Model.Architecture + "." + key
		if n, ok := h.number(name); !ok && !h.isArray(name) || ok && n == 0 {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 && f.estimable {
		f.estimable = false
		f.Warnings = append(f.Warnings, "the model's metadata doesn't tell "+strings.Join(gone, ", ")+"; its memory is not estimated, the configured values are used")
	}
}

func (h *header) isArray(key string) bool {
	entry, _ := h.entries.Get(key)
	return entry.ValueType == gguf.GGUFMetadataValueTypeArray && entry.Value != nil
}
