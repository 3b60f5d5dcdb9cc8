package demo

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writtenGGUF(t *testing.T, m *Model) ggufFile {
	t.Helper()
	var file bytes.Buffer
	if err := WriteGGUF(&file, m); err != nil {
		t.Fatal(err)
	}
	return parseGGUF(t, file.Bytes())
}

func TestGGUFMetadata(t *testing.T) {
	m, path := Default(), filepath.Join(t.TempDir(), "model.gguf")
	if err := WriteFile(path); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := parseGGUF(t, written)
	for key, want := range map[string]any{
		"general.architecture":            "llama",
		"llama.vocab_size":                uint32(m.Len()),
		"llama.embedding_length":          uint32(m.width()),
		"llama.block_count":               uint32(1),
		"tokenizer.ggml.model":            "llama",
		"tokenizer.ggml.eos_token_id":     uint32(260),
		"tokenizer.ggml.add_space_prefix": false,
	} {
		if got := file.metadata[key]; got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	tokens := file.metadata["tokenizer.ggml.tokens"].([]any)
	kinds := file.metadata["tokenizer.ggml.token_type"].([]any)
	scores := file.metadata["tokenizer.ggml.scores"].([]any)
	if len(tokens) != m.Len() || len(kinds) != m.Len() || len(scores) != m.Len() {
		t.Fatalf("%d tokens, %d types, %d scores, want %d of each", len(tokens), len(kinds), len(scores), m.Len())
	}
	for token, want := range map[Token]any{0: "<unk>", 3: "<0x00>", 258: "<0xFF>", 260: "<|im_end|>"} {
		if tokens[token] != want {
			t.Errorf("token %d is %v, want %v", token, tokens[token], want)
		}
	}
	if kinds[byteToken('a')] != int32(6) || kinds[endToken] != int32(3) || kinds[firstPhraseToken] != int32(1) {
		t.Error("token types are wrong")
	}
}

func TestGGUFTensors(t *testing.T) {
	file := writtenGGUF(t, Build("A pipe waits. It waits, and then it runs."))
	end := uint64(0)
	for _, name := range file.order {
		tensor := file.tensors[name]
		if tensor.kind != 0 || tensor.offset%32 != 0 || tensor.offset < end || tensor.offset-end >= 32 {
			t.Errorf("%s: type %d at %d, after %d", name, tensor.kind, tensor.offset, end)
		}
		size := uint64(4)
		for _, n := range tensor.dimensions {
			size *= n
		}
		end = tensor.offset + size
	}
	if length := uint64(len(file.data)); length < end || length-end >= 32 {
		t.Errorf("%d bytes of data, want %d and padding", length, end)
	}
	for _, name := range []string{"blk.0.attn_q.weight", "blk.0.attn_output.weight", "blk.0.ffn_down.weight"} {
		tensor := file.tensors[name]
		if file.value(name, 0, 0) != 0 || file.value(name, int(tensor.dimensions[1])-1, int(tensor.dimensions[0])-1) != 0 {
			t.Errorf("%s isn't zero", name)
		}
	}
}

// TestGGUFComputesTheModel does what llama.cpp does with the file: look up the
// embedding, normalise, multiply by the output matrix.
func TestGGUFComputesTheModel(t *testing.T) {
	m := Build("A pipe waits. It waits, and then it runs. A pipe runs.")
	file, width := writtenGGUF(t, m), m.width()
	for prev := range m.Len() {
		for column := range width {
			want := 0.0
			if column == prev {
				want = 1
			}
			if got := file.value("token_embd.weight", prev, column); got != want {
				t.Fatalf("embedding of %d at %d: %v", prev, column, got)
			}
		}
		norm := 1 / math.Sqrt(1/float64(width)+normEpsilon) // RMS of a one-hot vector
		sum := 0.0
		for next := range m.Len() {
			logit := norm * file.value("output.weight", next, prev)
			sum += math.Exp(logit)
			weight := m.rows[prev].weight(Token(next))
			if weight == 0 {
				continue
			}
			if want := math.Log(float64(weight) / float64(m.rows[prev].total)); math.Abs(logit-want) > 1e-5 {
				t.Fatalf("logit of %d after %d is %v, want %v", next, prev, logit, want)
			}
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("probabilities after %d add up to %v", prev, sum)
		}
	}
}

// shortWriter fails after so many bytes.
type shortWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

func TestGGUFWriteError(t *testing.T) {
	for _, room := range []int{0, 100_000, 400_000} {
		if err := WriteGGUF(&shortWriter{room}, Build("A pipe waits.")); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

func TestWriteFileIsAtomic(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.gguf")
	writing := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error { io.WriteString(w, text); return err }
	}
	for _, test := range []struct {
		name, text string
		err        error
		want       string // in the file afterwards
	}{
		{"new", "first", nil, "first"},
		{"replaced", "second", nil, "second"},
		{"kept on error", "thi", errFull, "second"},
	} {
		if err := writeFileAtomically(path, writing(test.text, test.err)); !errors.Is(err, test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != test.want {
			t.Errorf("%s: the file holds %q, want %q", test.name, got, test.want)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	missing := filepath.Join(folder, "none", "model.gguf")
	if err := WriteFile(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing folder says %v", err)
	}
}

func BenchmarkWriteGGUF(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteGGUF(io.Discard, Default()); err != nil {
			b.Fatal(err)
		}
	}
}
