package planner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// inspectVariable makes the test's program inspect a file and print the memory that this took.
const inspectVariable = "PLANNER_TEST_INSPECT"

func inspectInChild(path string) int {
	_, err := Inspect(path)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%d\n%v\n", m.Sys, err)
	return 0
}

// header begins a file: magic, version, counts.
func headerOf(version uint32, tensors, entries uint64) *ggufBuffer {
	b := &ggufBuffer{}
	b.WriteString("GGUF")
	b.number(version, tensors, entries)
	return b
}

// oneTensor is a file with one tensor that has these dimensions.
func oneTensor(kind uint32, offset uint64, dims ...uint64) []byte {
	b := headerOf(3, 1, 1)
	b.text("general.architecture")
	b.value("llama")
	b.text("token_embd.weight")
	b.number(uint32(len(dims)))
	for _, d := range dims {
		b.number(d)
	}
	b.number(kind, offset)
	return b.Bytes()
}

// withEntries is a file of these entries and a tensor.
func withEntries(pairs ...pair) []byte {
	header, data := encodeGGUF(append([]pair{{"general.architecture", "llama"}}, pairs...), []ggufMatrix{{"token_embd.weight", []uint64{32, 4}, ggmlF32}})
	return append(header, make([]byte, data)...)
}

func arrayOf(kind uint32, length uint64) []byte {
	b := headerOf(3, 0, 1)
	b.text("a.key")
	b.number(uint32(9), kind, length)
	return b.Bytes()
}

func stringOf(length uint64) []byte {
	b := headerOf(3, 0, 1)
	b.text("a.key")
	b.number(uint32(8), length)
	return b.Bytes()
}

// hostile are files that lie, what the message must say, and how large the file pretends to be.
var hostile = map[string]struct {
	text []byte
	says string
	size int64 // the file is this long, with a hole; 0 is as long as text
}{
	"text":                  {[]byte("hello, I am a model"), "is no GGUF file", 0},
	"three bytes":           {[]byte("GGU"), "is no GGUF file", 0},
	"web page":              {[]byte("<!DOCTYPE html><html>"), "web page", 0},
	"git lfs":               {[]byte("version https://git-lfs.github.com/spec/v1\noid"), "git lfs pull", 0},
	"zip":                   {[]byte("PK\x03\x04abcdefgh"), "convert it to GGUF", 0},
	"safetensors":           {append(binary.LittleEndian.AppendUint64(nil, 20), `{"__metadata__":{}}  `...), "safetensors", 0},
	"old format":            {[]byte("tjgg\x03\x00\x00\x00"), "GGJT", 0},
	"magic alone":           {[]byte("GGUF"), "truncated", 0},
	"version 99":            {headerOf(99, 0, 0).Bytes(), "version 99", 0},
	"version 1":             {headerOf(1, 0, 0).Bytes(), "version 1", 0},
	"version 0":             {headerOf(0, 0, 0).Bytes(), "version 0", 0},
	"big endian":            {headerOf(3<<24, 0, 0).Bytes(), "big-endian", 0},
	"2^63 tensors":          {headerOf(3, 1<<63, 1).Bytes(), "tensors", 1 << 40},
	"2^64-1 entries":        {headerOf(3, 1, math.MaxUint64).Bytes(), "metadata entries", 1 << 40},
	"more than fits":        {headerOf(3, 1000, 1000).Bytes(), "more than fit", 0},
	"many of nothing":       {headerOf(3, maxTensors, maxEntries).Bytes(), "", 1 << 40},
	"string of gigabytes":   {stringOf(8 << 30), "truncated", 0},
	"string in a hole":      {stringOf(8 << 30), "header of more than", 1 << 40},
	"string of 2^64-1":      {stringOf(math.MaxUint64), "truncated", 1 << 40},
	"key of gigabytes":      {append(headerOf(3, 0, 1).Bytes(), binary.LittleEndian.AppendUint64(nil, 4<<30)...), "header of more than", 1 << 40},
	"key of a thousand":     {append(headerOf(3, 0, 1).Bytes(), binary.LittleEndian.AppendUint64(nil, 1000)...), "metadata key", 1 << 20},
	"array of 2^63":         {arrayOf(0, 1<<63), "truncated", 1 << 40},
	"array of bytes":        {arrayOf(0, 30<<30), "header of more than", 1 << 40},
	"array of strings":      {arrayOf(8, 1<<60), "truncated", 1 << 40},
	"strings in a hole":     {arrayOf(8, 7<<20), "", 1 << 40},
	"array of arrays":       {arrayOf(9, 3), "array of the type 9", 1 << 20},
	"array of unknown":      {arrayOf(77, 3), "array of the type 77", 1 << 20},
	"unknown type":          {append(headerOf(3, 0, 1).Bytes(), []byte("\x01\x00\x00\x00\x00\x00\x00\x00a\x63\x00\x00\x00")...), "unknown type", 1 << 20},
	"key twice":             {withEntries(pair{"a", "1"}, pair{"a", "2"}), "twice", 0},
	"no dimension":          {oneTensor(0, 0), "0 dimensions", 1 << 20},
	"nine dimensions":       {oneTensor(0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1), "9 dimensions", 1 << 20},
	"empty dimension":       {oneTensor(0, 0, 32, 0), "impossible dimensions", 1 << 20},
	"dimensions overflow":   {oneTensor(0, 0, 1<<33, 1<<33), "impossible dimensions", 1 << 40},
	"dimensions lie":        {oneTensor(0, 0, 1<<20, 1<<20), "ends before its tensor", 1 << 20},
	"offset lies":           {oneTensor(0, 1<<62, 32), "ends before its tensor", 1 << 20},
	"offset isn't aligned":  {oneTensor(0, 7, 32), "aligned", 1 << 20},
	"part of a block":       {oneTensor(ggmlQ8_0, 0, 33), "whole blocks", 1 << 20},
	"no architecture":       {headerWithoutArchitecture(), "general.architecture", 0},
	"alignment 0":           {withEntries(pair{"general.alignment", uint32(0)}), "general.alignment", 0},
	"alignment of text":     {withEntries(pair{"general.alignment", "32"}), "general.alignment", 0},
	"2^31 layers":           {withEntries(pair{"llama.block_count", uint32(1 << 31)}), "llama.block_count", 0},
	"2^64-1 context":        {withEntries(pair{"llama.context_length", uint64(math.MaxUint64)}), "llama.context_length", 0},
	"negative heads":        {withEntries(pair{"llama.attention.head_count", int32(-4)}), "llama.attention.head_count", 0},
	"a million head counts": {withEntries(pair{"llama.attention.head_count_kv", make([]uint32, 1<<20)}), "one a layer", 0},
}

// TestNoTensors: nothing is known of such a file, and the configured values are used.
func TestNoTensors(t *testing.T) {
	header, _ := encodeGGUF([]pair{{"general.architecture", "llama"}}, nil)
	path := writeHostile(t, "no tensors", header, 0)
	result, err := New(Options{Memory: fixed}).Plan(t.Context(), Request{Path: path, CtxSize: 2048, GPULayers: "0"})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(result.Warnings, "\n"); !strings.Contains(all, "no tensors") || !result.Fits {
		t.Errorf("%+v", result)
	}
	if want := []string{"-c", "2048", "-ngl", "0"}; !slices.Equal(result.Plan.Flags(), want) {
		t.Errorf("the flags are %q", result.Plan.Flags())
	}
}

func headerWithoutArchitecture() []byte {
	header, data := encodeGGUF(nil, []ggufMatrix{{"token_embd.weight", []uint64{32, 4}, ggmlF32}})
	return append(header, make([]byte, data)...)
}

func writeHostile(t testing.TB, name string, text []byte, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.ReplaceAll(name, " ", "-")+".gguf")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if size > 0 {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestHostileFiles(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			path := writeHostile(t, name, c.text, c.size)
			_, err := Inspect(path)
			var fault *wire.Fault
			if !errors.As(err, &fault) || fault.Code != wire.CodeModelMissing {
				t.Fatalf("%v", err)
			}
			if !strings.Contains(fault.Message, path) || !strings.Contains(fault.Message, c.says) {
				t.Errorf("says %q, not %q", fault.Message, c.says)
			}
		})
	}
}

// greedy is the file that makes the reader keep as much as it ever does.
func greedy() []byte {
	b := headerOf(3, maxTensors, maxEntries)
	long := strings.Repeat("x", maxKeyLength-8)
	for i := range maxEntries {
		b.text(fmt.Sprintf("%08d", i) + long)
		if i%2 == 0 {
			b.value(strings.Repeat("v", maxText))
		} else {
			b.value(make([]bool, maxKept))
		}
	}
	for i := range maxTensors {
		b.text(fmt.Sprintf("%08d", i) + strings.Repeat("n", maxTensorName-9))
		b.number(uint32(4), uint64(1), uint64(1), uint64(1), uint64(1), uint32(0), uint64(0))
	}
	return append(b.Bytes(), make([]byte, 64)...)
}

// TestHostileFilesTakeLittleMemory measures whole processes, which hold the test's program too.
func TestHostileFilesTakeLittleMemory(t *testing.T) {
	const most = 100 << 20
	files := map[string]string{
		"greedy":            writeHostile(t, "greedy", greedy(), 0),
		"strings in a hole": writeHostile(t, "strings", hostile["strings in a hole"].text, 1<<40),
		"string in a hole":  writeHostile(t, "string", hostile["string in a hole"].text, 1<<40),
		"2^63 tensors":      writeHostile(t, "tensors", hostile["2^63 tensors"].text, 1<<40),
		"array of 2^63":     writeHostile(t, "array", hostile["array of 2^63"].text, 1<<40),
	}
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), inspectVariable+"="+path)
			output, err := child.Output()
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(string(output), "\n")
			memory, err := strconv.Atoi(first)
			if err != nil || memory > most || !strings.Contains(rest, "model_missing") {
				t.Errorf("%d MiB: %s", memory>>20, rest)
			}
			t.Logf("%d MiB", memory>>20)
		})
	}
}
