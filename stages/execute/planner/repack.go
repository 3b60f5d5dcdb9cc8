package planner

import (
	"slices"

	gguf "github.com/gpustack/gguf-parser-go"

	"sluice/stages/execute/planner/machine"
)

// repackedTypes are the types for which ggml has another order (ggml, src/ggml-cpu: repack.cpp, where it
// chooses the best one, and qtype_has_amx_kernels in amx/common.h). AMX takes matrices of FP16 as well,
// unchanged, but none of experts.
var repackedTypes = map[machine.Repack][]gguf.GGMLType{
	machine.RepackAVX2: {gguf.GGMLTypeQ4_0, gguf.GGMLTypeQ4_K, gguf.GGMLTypeIQ4_NL, gguf.GGMLTypeMXFP4},
	machine.RepackNEON: {
		gguf.GGMLTypeQ4_0, gguf.GGMLTypeQ4_K, gguf.GGMLTypeQ5_K, gguf.GGMLTypeQ6_K, gguf.GGMLTypeQ8_0,
		gguf.GGMLTypeIQ4_NL, gguf.GGMLTypeMXFP4,
	},
	machine.RepackAMX: {
		gguf.GGMLTypeQ4_0, gguf.GGMLTypeQ4_1, gguf.GGMLTypeQ8_0, gguf.GGMLTypeQ4_K, gguf.GGMLTypeQ5_K,
		gguf.GGMLTypeQ6_K, gguf.GGMLTypeIQ4_XS, gguf.GGMLTypeF16,
	},
}

// amxBlock is what AMX adds to a block of eight bits, its compensation (measured: 179.6 MiB of copies for
// 160.8 MiB of Q8_0).
const amxBlock = 4

// repackedBytes returns the size of the copies on the host, and of what they are copies of. With layers
// on GPUs the host's share of both is assumed to be that of the layers it keeps.
func (f *File) repackedBytes(s setting) (copies, originals uint64) {
	types := repackedTypes[s.repack]
	for _, t := range f.parsed.TensorInfos {
		if t.NDimensions < 2 || t.Name == "token_embd.weight" || !slices.Contains(types, t.Type) ||
			s.repack == machine.RepackAMX && t.NDimensions > 2 {
			continue
		}
		n, _, _ := tensorBytes(t)
		originals += n
		if s.repack == machine.RepackAMX && t.Type == gguf.GGMLTypeQ8_0 {
			n += n / 34 * amxBlock
		}
		copies += n
	}
	if layers := int(f.arch.BlockCount) + 1; s.layers > 0 {
		kept := uint64(layers - min(s.layers, layers))
		copies, originals = copies/uint64(layers)*kept, originals/uint64(layers)*kept
	}
	return copies, originals
}
