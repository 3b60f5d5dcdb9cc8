package planner

import (
	"fmt"
	"slices"
	"strconv"
)

// What the tests' files are made of: enum ggml_type and enum gguf_type of ggml's gguf.h.
const (
	ggmlF32  = 0
	ggmlF16  = 1
	ggmlQ4_0 = 2
	ggmlQ8_0 = 8
	ggmlQ2K  = 10
	ggmlQ4_K = 12
	ggmlQ6_K = 14
	// ggmlNewer is a type that no program knows yet.
	ggmlNewer = 4711
)

// pair is one entry of a file's metadata. The value is a string, bool, uint32, uint64, int32, float32,
// []string, []float32, []int32, []uint32 or []bool.
type pair struct {
	key   string
	value any
}

// ggufShape describes a transformer whose weights are all zero: a hole in a sparse file, so that a file
// of any size costs no room.
type ggufShape struct {
	arch                    string
	vocab, embd, layers     int
	heads, headsKV, headDim int // headDim 0: embd / heads
	ff, ctx                 int
	experts, expertsUsed    int
	kind                    uint32 // of matrices; vectors are F32
	embedKind               uint32 // of token_embd and output; 0 with kind != 0 is kind
	fileType                uint32
	tied                    bool // no output.weight
	biasQKV                 bool
	postNorms               bool   // Gemma 2 has four norms a block
	more                    []pair // further metadata
	without                 []string
	byteTokens              bool // a vocabulary that llama.cpp can tokenize with
}

type ggufMatrix struct {
	name string
	dims []uint64
	kind uint32
}

func (s ggufShape) prefix() string {
	if s.arch == "" {
		return "llama"
	}
	return s.arch
}

func (s ggufShape) dim() int {
	if s.headDim > 0 {
		return s.headDim
	}
	return s.embd / s.heads
}

func (s ggufShape) metadata() []pair {
	arch := s.prefix()
	pairs := []pair{
		{"general.architecture", arch},
		{"general.name", "made by a test"},
		{"general.file_type", s.fileType},
		{arch + ".context_length", uint32(s.ctx)},
		{arch + ".embedding_length", uint32(s.embd)},
		{arch + ".block_count", uint32(s.layers)},
		{arch + ".feed_forward_length", uint32(s.ff)},
		{arch + ".attention.head_count", uint32(s.heads)},
		{arch + ".attention.head_count_kv", uint32(s.headsKV)},
		{arch + ".attention.key_length", uint32(s.dim())},
		{arch + ".attention.value_length", uint32(s.dim())},
		{arch + ".attention.layer_norm_rms_epsilon", float32(1e-5)},
		{arch + ".rope.dimension_count", uint32(s.dim())},
		{arch + ".vocab_size", uint32(s.vocab)},
	}
	if s.experts > 0 {
		pairs = append(pairs, pair{arch + ".expert_count", uint32(s.experts)}, pair{arch + ".expert_used_count", uint32(s.expertsUsed)})
	}
	pairs = append(pairs, s.tokenizer()...)
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return slices.Contains(s.without, p.key) })
	return append(pairs, s.more...)
}

func (s ggufShape) tokenizer() []pair {
	tokens, scores, kinds := make([]string, s.vocab), make([]float32, s.vocab), make([]int32, s.vocab)
	for i := range tokens {
		tokens[i], scores[i], kinds[i] = "t"+strconv.Itoa(i), float32(-i), 1
	}
	if s.byteTokens {
		copy(tokens, []string{"<unk>", "<s>", "</s>"})
		kinds[0], kinds[1], kinds[2] = 2, 3, 3
		for b := range 256 {
			tokens[3+b], kinds[3+b] = fmt.Sprintf("<0x%02X>", b), 6
		}
	}
	return []pair{
		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.tokens", tokens},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", kinds},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(2)},
		{"tokenizer.ggml.unknown_token_id", uint32(0)},
		{"tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}"},
	}
}

func (s ggufShape) tensors() []ggufMatrix {
	embd, vocab, ff := uint64(s.embd), uint64(s.vocab), uint64(s.ff)
	q, kv := uint64(s.heads*s.dim()), uint64(s.headsKV*s.dim())
	outer := s.kind
	if s.embedKind != 0 {
		outer = s.embedKind
	}
	all := []ggufMatrix{{"token_embd.weight", []uint64{embd, vocab}, outer}, {"output_norm.weight", []uint64{embd}, ggmlF32}}
	if !s.tied {
		all = append(all, ggufMatrix{"output.weight", []uint64{embd, vocab}, outer})
	}
	for i := range s.layers {
		add := func(name string, kind uint32, dims ...uint64) {
			all = append(all, ggufMatrix{fmt.Sprintf("blk.%d.%s", i, name), dims, kind})
		}
		add("attn_norm.weight", ggmlF32, embd)
		add("attn_q.weight", s.kind, embd, q)
		add("attn_k.weight", s.kind, embd, kv)
		add("attn_v.weight", s.kind, embd, kv)
		add("attn_output.weight", s.kind, q, embd)
		if s.biasQKV {
			add("attn_q.bias", ggmlF32, q)
			add("attn_k.bias", ggmlF32, kv)
			add("attn_v.bias", ggmlF32, kv)
		}
		add("ffn_norm.weight", ggmlF32, embd)
		if s.postNorms {
			add("post_attention_norm.weight", ggmlF32, embd)
			add("post_ffw_norm.weight", ggmlF32, embd)
		}
		if s.experts > 0 {
			add("ffn_gate_inp.weight", ggmlF32, embd, uint64(s.experts))
			add("ffn_gate_exps.weight", s.kind, embd, ff, uint64(s.experts))
			add("ffn_up_exps.weight", s.kind, embd, ff, uint64(s.experts))
			add("ffn_down_exps.weight", s.kind, ff, embd, uint64(s.experts))
			continue
		}
		add("ffn_gate.weight", s.kind, embd, ff)
		add("ffn_up.weight", s.kind, embd, ff)
		add("ffn_down.weight", s.kind, ff, embd)
	}
	return all
}

// small, wide and so on are the models of the tests; what is zero costs no disk.
var (
	small   = ggufShape{vocab: 4096, embd: 512, layers: 4, heads: 8, headsKV: 4, ff: 1536, ctx: 32768, kind: ggmlF16, fileType: 1, byteTokens: true}
	wide    = ggufShape{vocab: 32000, embd: 1024, layers: 3, heads: 16, headsKV: 16, ff: 4096, ctx: 65536, kind: ggmlF32, byteTokens: true}
	eight   = ggufShape{vocab: 32000, embd: 1024, layers: 4, heads: 16, headsKV: 8, ff: 4096, ctx: 65536, kind: ggmlQ8_0, fileType: 7, byteTokens: true}
	four    = ggufShape{vocab: 32000, embd: 1024, layers: 6, heads: 16, headsKV: 4, ff: 2816, ctx: 65536, kind: ggmlQ4_K, fileType: 15, byteTokens: true}
	experts = ggufShape{vocab: 8000, embd: 512, layers: 8, heads: 16, headsKV: 4, ff: 1024, ctx: 65536, kind: ggmlF16, fileType: 1, experts: 8, expertsUsed: 2, byteTokens: true}
	shared  = ggufShape{vocab: 16000, embd: 768, layers: 6, heads: 12, headsKV: 12, ff: 2048, ctx: 16384, kind: ggmlF16, fileType: 1, tied: true, byteTokens: true}
	sliding = ggufShape{arch: "gemma2", vocab: 8000, embd: 512, layers: 8, heads: 8, headsKV: 4, headDim: 64, ff: 2048, ctx: 32768, kind: ggmlF16,
		fileType: 1, tied: true, postNorms: true, byteTokens: true, more: []pair{{"gemma2.attention.sliding_window", uint32(1024)}}}
)
