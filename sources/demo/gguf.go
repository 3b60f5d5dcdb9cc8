package demo

import (
	"bufio"
	_ "embed" // the chat template
	"fmt"
	"io"
	"math"
	"strings"
)

// chatTemplate renders messages into a prompt that ends with a newline, after
// which an answer begins, or with <|call|> when tools are given and the user's
// last message holds "/call": the model then makes a tool call.
//
//go:embed chat.jinja
var chatTemplate string

// The shape of the network around the bigram. The block computes nothing, so its
// matrices are as small as llama.cpp takes them.
const (
	contextLength = 32768
	headLength    = 32    // of one attention head; also the width of the feed-forward part
	widthMultiple = 32    // the embedding length is the vocabulary's, rounded up to this
	normEpsilon   = 1e-12 // far below the mean square 1/width, so that the norm scales by √width
	unseenLogit   = -30   // of followers never seen: even thousands of them add up to nothing
)

// WriteGGUF writes the model as a GGUF file that llama.cpp loads. It writes in
// one pass, one matrix row at a time, and keeps nothing; w isn't closed. The
// error is the first that w returned.
func WriteGGUF(w io.Writer, m *Model) error {
	out := &ggufWriter{w: bufio.NewWriterSize(w, 64<<10)}
	metadata, tensors := ggufMetadata(m), ggufTensors(m)
	out.header(len(tensors), len(metadata))
	for _, entry := range metadata {
		out.metadata(entry.key, entry.value)
	}
	out.tensorTable(tensors)
	for _, tensor := range tensors {
		out.tensorData(tensor)
	}
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return fmt.Errorf("write GGUF: %w", out.err)
	}
	return nil
}

type ggufEntry struct {
	key   string
	value any // string, bool, uint32, float32, []string, []int32 or []float32
}

// ggufMetadata lists what llama.cpp needs to know of a llama model; the keys are
// those of docs/gguf.md, "Standardized key-value pairs".
func ggufMetadata(m *Model) []ggufEntry {
	scores, kinds := make([]float32, m.Len()), make([]int32, m.Len())
	for token := range Token(m.Len()) {
		kinds[token] = int32(m.vocabulary.kinds[token])
		if token >= firstPhraseToken {
			scores[token] = -float32(token - firstPhraseToken + 1) // frequent phrases merge first
		}
	}
	return []ggufEntry{
		{"general.architecture", "llama"},
		{"general.name", ModelName},
		{"general.description", "A bigram of phrases about streams, pipes and engines"},
		{"general.license", "mit"},
		{"general.alignment", uint32(ggufAlignment)},
		{"general.file_type", uint32(0)}, // all tensors F32
		{"llama.vocab_size", uint32(m.Len())},
		{"llama.context_length", uint32(contextLength)},
		{"llama.embedding_length", uint32(m.width())},
		{"llama.block_count", uint32(1)},
		{"llama.feed_forward_length", uint32(headLength)},
		{"llama.attention.head_count", uint32(1)},
		{"llama.attention.head_count_kv", uint32(1)},
		{"llama.attention.key_length", uint32(headLength)},
		{"llama.attention.value_length", uint32(headLength)},
		{"llama.attention.layer_norm_rms_epsilon", float32(normEpsilon)},
		{"llama.rope.dimension_count", uint32(headLength)},
		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.tokens", m.vocabulary.pieces},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", kinds},
		{"tokenizer.ggml.bos_token_id", uint32(beginToken)},
		{"tokenizer.ggml.eos_token_id", uint32(endToken)},
		{"tokenizer.ggml.unknown_token_id", uint32(unknownToken)},
		{"tokenizer.ggml.add_bos_token", true},
		{"tokenizer.ggml.add_space_prefix", false},
		{"tokenizer.chat_template", strings.TrimSuffix(chatTemplate, "\n")},
	}
}

// ggufTensor is a matrix of rows × columns, or a vector when rows is 0.
type ggufTensor struct {
	name          string
	columns, rows int
	fill          func(index int, row []float32) // row arrives zeroed; nil leaves all at zero
}

// ggufTensors lists the tensors of a llama model with one block, in file order.
func ggufTensors(m *Model) []ggufTensor {
	width, tokens := m.width(), m.Len()
	return []ggufTensor{
		{"token_embd.weight", width, tokens, fillOneHot},
		{"output_norm.weight", width, 0, fillOnes},
		{"output.weight", width, tokens, m.fillLogits},
		{"blk.0.attn_norm.weight", width, 0, fillOnes},
		{"blk.0.attn_q.weight", width, headLength, nil},
		{"blk.0.attn_k.weight", width, headLength, nil},
		{"blk.0.attn_v.weight", width, headLength, nil},
		{"blk.0.attn_output.weight", headLength, width, nil},
		{"blk.0.ffn_norm.weight", width, 0, fillOnes},
		{"blk.0.ffn_gate.weight", width, headLength, nil},
		{"blk.0.ffn_up.weight", width, headLength, nil},
		{"blk.0.ffn_down.weight", headLength, width, nil},
	}
}

// width is the embedding length: a one-hot vector needs a place for each token.
func (m *Model) width() int {
	return (m.Len() + widthMultiple - 1) / widthMultiple * widthMultiple
}

func fillOneHot(index int, row []float32) {
	row[index] = 1
}

func fillOnes(_ int, row []float32) {
	for i := range row {
		row[i] = 1
	}
}

// fillLogits fills the output row of one token: its log probability after each
// other token, divided by √width because the norm before it multiplies by that.
func (m *Model) fillLogits(index int, row []float32) {
	scale := 1 / math.Sqrt(float64(len(row)))
	for prev := range m.rows {
		row[prev] = float32(m.logit(Token(prev), Token(index)) * scale)
	}
}

// logit is log P(next|prev), unseenLogit where next never followed.
func (m *Model) logit(prev, next Token) float64 {
	row := &m.rows[prev]
	if len(row.next) == 0 && next == endToken {
		return 0
	}
	if weight := row.weight(next); weight > 0 {
		return math.Log(float64(weight) / float64(row.total))
	}
	return unseenLogit
}
