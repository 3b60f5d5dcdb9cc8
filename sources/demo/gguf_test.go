package demo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// ggufFile is what the test's own reader, written from the specification, found.
type ggufFile struct {
	metadata map[string]any
	tensors  map[string]parsedTensor
	order    []string
	data     []byte // from the first tensor on
}

type parsedTensor struct {
	dimensions []uint64
	kind       uint32
	offset     uint64
}

type ggufReader struct {
	t    *testing.T
	file []byte
	at   int
}

func (r *ggufReader) take(n int) []byte {
	r.t.Helper()
	if r.at+n > len(r.file) {
		r.t.Fatalf("file ends at %d, wanted %d bytes at %d", len(r.file), n, r.at)
	}
	r.at += n
	return r.file[r.at-n : r.at]
}

func (r *ggufReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *ggufReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *ggufReader) string() string { return string(r.take(int(r.uint64()))) }

func (r *ggufReader) value(kind uint32) any {
	switch kind {
	case 4:
		return r.uint32()
	case 5:
		return int32(r.uint32())
	case 6:
		return math.Float32frombits(r.uint32())
	case 7:
		return r.take(1)[0] == 1
	case 8:
		return r.string()
	case 9:
		element, values := r.uint32(), make([]any, r.uint64())
		for i := range values {
			values[i] = r.value(element)
		}
		return values
	}
	r.t.Fatalf("value type %d at %d", kind, r.at)
	return nil
}

func parseGGUF(t *testing.T, file []byte) ggufFile {
	t.Helper()
	r := &ggufReader{t: t, file: file}
	if magic, version := string(r.take(4)), r.uint32(); magic != "GGUF" || version != 3 {
		t.Fatalf("magic %q version %d", magic, version)
	}
	tensors, entries := r.uint64(), r.uint64()
	parsed := ggufFile{metadata: map[string]any{}, tensors: map[string]parsedTensor{}}
	for range entries {
		key := r.string()
		parsed.metadata[key] = r.value(r.uint32())
	}
	for range tensors {
		name, tensor := r.string(), parsedTensor{}
		for range r.uint32() {
			tensor.dimensions = append(tensor.dimensions, r.uint64())
		}
		tensor.kind, tensor.offset = r.uint32(), r.uint64()
		parsed.tensors[name] = tensor
		parsed.order = append(parsed.order, name)
	}
	parsed.data = file[(r.at+31)/32*32:]
	return parsed
}

// value returns the element of a matrix in the given row and column.
func (f *ggufFile) value(name string, row, column int) float64 {
	tensor := f.tensors[name]
	at := tensor.offset + 4*(uint64(row)*tensor.dimensions[0]+uint64(column))
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(f.data[at:])))
}

func writtenGGUF(t *testing.T, m *Model) ggufFile {
	t.Helper()
	var file bytes.Buffer
	if err := WriteGGUF(&file, m); err != nil {
		t.Fatal(err)
	}
	return parseGGUF(t, file.Bytes())
}

func TestGGUFMetadata(t *testing.T) {
	m := Default()
	file := writtenGGUF(t, m)
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

func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.gguf")
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := WriteGGUF(&want, Default()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("the file differs from WriteGGUF's output: %v", err)
	}
	failing := func(io.Writer) error { return errFull }
	if err := writeFileAtomically(path, failing); !errors.Is(err, errFull) {
		t.Errorf("a failed write says %v", err)
	}
	if err := WriteFile(filepath.Join(folder, "none", "model.gguf")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder says %v", err)
	}
	entries, _ := os.ReadDir(folder)
	if info, _ := os.Stat(path); len(entries) != 1 || info.Size() != int64(want.Len()) {
		t.Errorf("%d files are left, the model has %d bytes", len(entries), info.Size())
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
