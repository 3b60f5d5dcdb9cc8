package planner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// inspected reads a file that must be readable.
func inspected(t testing.TB, path string) *File {
	t.Helper()
	file, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// wantFault wants a fault with this code whose message holds all of says.
func wantFault(t testing.TB, err error, code wire.Code, says ...string) {
	t.Helper()
	var fault *wire.Fault
	if !errors.As(err, &fault) || fault.Code != code {
		t.Fatalf("%v, want %s", err, code)
	}
	for _, text := range says {
		if !strings.Contains(fault.Message, text) {
			t.Errorf("says %q, without %q", fault.Message, text)
		}
	}
}

func TestFacts(t *testing.T) {
	path := small.write(t, "small.gguf")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	matrices := 2*512*4096 + 4*(2*512*512+2*512*256+3*512*1536)
	want := Model{
		Name: "made by a test", Path: path, Architecture: "llama", Parameters: uint64(matrices + 9*512),
		Quantization: "F16", FileBytes: uint64(info.Size()), Parts: 1, TrainedContext: 32768, Layers: 4, ChatTemplate: true,
	}
	if got := inspected(t, path); got.Model != want || len(got.Warnings) > 0 || !got.estimable || got.Chats() != nil {
		t.Errorf("got  %+v %q\nwant %+v", got.Model, got.Warnings, want)
	}
}

func TestRecognised(t *testing.T) {
	bert := ggufShape{arch: "bert", vocab: 300, embd: 64, layers: 2, heads: 2, headsKV: 2, ff: 128, ctx: 512,
		more: []pair{{"bert.attention.causal", false}, {"bert.pooling_type", uint32(1)}}, without: []string{"tokenizer.chat_template"}}
	clip := ggufShape{arch: "clip", vocab: 10, embd: 64, layers: 1, heads: 2, headsKV: 2, ff: 128,
		more: []pair{{"clip.projector_type", "mlp"}, {"clip.has_vision_encoder", true}, {"clip.vision.image_size", uint32(336)}, {"clip.vision.patch_size", uint32(14)}}}
	adapter := small
	adapter.more = []pair{{"general.type", "adapter"}, {"adapter.type", "lora"}}
	for name, c := range map[string]struct {
		shape ggufShape
		holds func(Model) bool
		chats string // why it doesn't
	}{
		"dense":     {small, func(m Model) bool { return m.Experts == 0 && !m.Embedding && !m.Projector }, ""},
		"experts":   {experts, func(m Model) bool { return m.Experts == 8 && m.ExpertsUsed == 2 }, ""},
		"embedding": {bert, func(m Model) bool { return m.Embedding && !m.Projector }, ""},
		"projector": {clip, func(m Model) bool { return m.Projector && !m.Embedding }, "vision projector"},
		"adapter":   {adapter, func(m Model) bool { return m.Architecture == "llama" }, "adapter"},
		"four bits": {four, func(m Model) bool { return m.Quantization == "Q4_K_M" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := inspected(t, c.shape.write(t, "model.gguf"))
			if !c.holds(file.Model) {
				t.Errorf("%+v", file.Model)
			}
			if c.chats == "" {
				if err := file.Chats(); err != nil {
					t.Error(err)
				}
				return
			}
			wantFault(t, file.Chats(), wire.CodeModelPlan, c.chats, file.Model.Path)
		})
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(*ggufShape)
		says      string
		estimable bool
	}{
		"no template": {func(s *ggufShape) { s.without = []string{"tokenizer.chat_template"} }, "chat template", true},
		"no context":  {func(s *ggufShape) { s.without = []string{"llama.context_length"} }, "llama.context_length", false},
		"no heads":    {func(s *ggufShape) { s.without = []string{"llama.attention.head_count"} }, "llama.attention.head_count", false},
		"no layers":   {func(s *ggufShape) { s.without = []string{"llama.block_count"} }, "llama.block_count", false},
		"heads of 0": {func(s *ggufShape) {
			s.without = []string{"llama.attention.head_count"}
			s.more = []pair{{"llama.attention.head_count", uint32(0)}}
		}, "llama.attention.head_count", false},
		"number for a word": {func(s *ggufShape) { s.more = []pair{{"llama.rope.scaling.type", uint32(7)}} }, "can't be understood", false},
		"newer type":        {func(s *ggufShape) { s.kind = ggmlNewer }, "newer than this engine", false},
	} {
		t.Run(name, func(t *testing.T) {
			shape := small
			c.change(&shape)
			file := inspected(t, shape.write(t, "model.gguf"))
			if !slices.ContainsFunc(file.Warnings, func(w string) bool { return strings.Contains(w, c.says) }) || file.estimable != c.estimable {
				t.Errorf("estimable %v, warnings %q", file.estimable, file.Warnings)
			}
		})
	}
}

// split writes a model in parts, the tensors spread over them.
func split(t *testing.T, folder string, parts int) []string {
	t.Helper()
	var paths []string
	tensors := small.tensors()
	for i := range parts {
		own := tensors[i*len(tensors)/parts : (i+1)*len(tensors)/parts]
		metadata := []pair{{"split.no", uint16(i)}, {"split.count", uint16(parts)}, {"split.tensors.count", int32(len(tensors))}}
		if i == 0 {
			metadata = append(small.metadata(), metadata...)
		}
		path := filepath.Join(folder, fmt.Sprintf("small-%05d-of-%05d.gguf", i+1, parts))
		paths = append(paths, writeGGUF(t, path, metadata, own))
	}
	return paths
}

func TestSplitFiles(t *testing.T) {
	whole := inspected(t, small.write(t, "small.gguf"))
	paths := split(t, t.TempDir(), 3)
	file := inspected(t, paths[0])
	if file.Model.Parts != 3 || file.Model.Parameters != whole.Model.Parameters || file.Model.TrainedContext != 32768 {
		t.Errorf("%+v", file.Model)
	}
	var sum int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	if file.Model.FileBytes != uint64(sum) {
		t.Errorf("%d bytes, want %d", file.Model.FileBytes, sum)
	}

	_, err := Inspect(paths[1])
	wantFault(t, err, wire.CodeModelMissing, "part 2 of 3", paths[0])

	if err := os.Rename(paths[2], paths[2]+".partial"); err != nil {
		t.Fatal(err)
	}
	_, err = Inspect(paths[0])
	wantFault(t, err, wire.CodeModelMissing, "is split into 3 parts", paths[2])

	text, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(paths[2], text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Inspect(paths[0])
	wantFault(t, err, wire.CodeModelMissing, paths[2], "another part")

	for _, name := range []string{"m-00001-of-99999.gguf", "m-00000-of-00002.gguf", "m-00003-of-00002.gguf", "m-00000-of-00000.gguf"} {
		_, err := Inspect(filepath.Join(t.TempDir(), name))
		wantFault(t, err, wire.CodeModelMissing, "impossible number")
	}
}

// TestSplitHeadersTogether: many parts may not be longer than one file may.
func TestSplitHeadersTogether(t *testing.T) {
	const parts = 40
	folder := t.TempDir()
	long := strings.Repeat("x", 2<<20)
	for i := range parts {
		metadata := []pair{{"general.architecture", "llama"}, {"split.no", uint16(i)}, {"long", long}}
		writeGGUF(t, filepath.Join(folder, fmt.Sprintf("m-%05d-of-%05d.gguf", i+1, parts)), metadata, nil)
	}
	_, err := Inspect(filepath.Join(folder, fmt.Sprintf("m-00001-of-%05d.gguf", parts)))
	wantFault(t, err, wire.CodeModelMissing, "header of more than 64 MiB", fmt.Sprintf("m-00032-of-%05d.gguf", parts))
}

// TestTruncated cuts a file at every place of its header and in its data.
func TestTruncated(t *testing.T) {
	shape := ggufShape{vocab: 4, embd: 32, layers: 1, heads: 1, headsKV: 1, ff: 32, ctx: 64}
	path := shape.write(t, "model.gguf")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inspected(t, path)
	for length := len(text) - 1; length > 0; length -= 7 {
		if err := os.Truncate(path, int64(length)); err != nil {
			t.Fatal(err)
		}
		if _, err := Inspect(path); err == nil {
			t.Fatalf("%d of %d bytes are accepted", length, len(text))
		}
	}
}
