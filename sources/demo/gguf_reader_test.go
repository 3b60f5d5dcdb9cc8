package demo

import (
	"encoding/binary"
	"math"
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
