package planner

import (
	"bytes"
	"testing"

	gguf "github.com/gpustack/gguf-parser-go"

	"sluice/stages/execute/planner/machine"
)

// FuzzHeader reads anything. What is accepted must hold together, and everything that is made of it must
// come to an end.
func FuzzHeader(f *testing.F) {
	for _, c := range hostile {
		f.Add(c.text)
	}
	for _, shape := range []ggufShape{
		{vocab: 4, embd: 32, layers: 1, heads: 1, headsKV: 1, ff: 32, ctx: 64},
		{vocab: 4, embd: 32, layers: 1, heads: 1, headsKV: 1, ff: 32, ctx: 64, experts: 2, expertsUsed: 1, kind: ggmlQ8_0},
		{arch: "gemma2", vocab: 4, embd: 32, layers: 2, heads: 1, headsKV: 1, ff: 32, ctx: 64, tied: true},
		{arch: "mamba", vocab: 4, embd: 32, layers: 2, heads: 1, headsKV: 1, ff: 32, ctx: 64},
		{arch: "clip", vocab: 4, embd: 32, layers: 1, heads: 1, headsKV: 1, ff: 32},
	} {
		header, data := encodeGGUF(shape.metadata(), shape.tensors())
		f.Add(append(header, make([]byte, data)...))
	}
	hw := &Hardware{TotalMemory: 8 << 30, AvailableMemory: 8 << 30, GPUs: []machine.GPU{{Name: "CUDA0", TotalMemory: 1 << 30, FreeMemory: 1 << 30}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := readHeader(bytes.NewReader(text), int64(len(text)), maxHeaderBytes)
		if err != nil {
			return
		}
		if h.dataStart < 24 {
			t.Fatalf("the data begins at %d", h.dataStart)
		}
		parsed := &gguf.GGUFFile{Header: gguf.GGUFHeader{Magic: gguf.GGUFMagicGGUFLe, MetadataKV: h.entries}, TensorInfos: h.tensors, Size: gguf.GGUFBytesScalar(len(text))}
		file := &File{parsed: parsed, Model: Model{Path: "fuzz.gguf", Parts: 1, FileBytes: uint64(len(text))}}
		if file.check() != nil {
			return
		}
		if file.facts(); file.Chats() != nil || !file.estimable {
			return
		}
		d := newDecider(file, hw, Request{Path: "fuzz.gguf"}, serverArgs{})
		result := &Result{}
		if d.fill(result) == nil && result.Plan.CtxSize > file.Model.TrainedContext {
			t.Fatalf("planned %d of %d tokens", result.Plan.CtxSize, file.Model.TrainedContext)
		}
	})
}
