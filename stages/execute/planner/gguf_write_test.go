package planner

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// write writes the file into a folder of the test and returns its path.
func (s ggufShape) write(t testing.TB, name string) string {
	t.Helper()
	return writeGGUF(t, filepath.Join(t.TempDir(), name), s.metadata(), s.tensors())
}

// read makes the file once and returns what is read from it.
func (s ggufShape) read(t testing.TB) *File {
	t.Helper()
	key := fmt.Sprintf("%+v", s)
	if file, found := read.Load(key); found {
		return file.(*File)
	}
	file := inspected(t, s.write(t, "model.gguf"))
	read.Store(key, file)
	return file
}

// read holds what was read of each shape: files never change.
var read sync.Map

// writeGGUF writes a file whose tensors are a hole.
func writeGGUF(t testing.TB, path string, metadata []pair, tensors []ggufMatrix) string {
	t.Helper()
	header, data := encodeGGUF(metadata, tensors)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(header); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(int64(len(header)) + data); err != nil {
		t.Fatal(err)
	}
	return path
}

// encodeGGUF returns the header with its padding, and the length of the data that follows.
func encodeGGUF(metadata []pair, tensors []ggufMatrix) (header []byte, data int64) {
	out := &ggufBuffer{}
	out.WriteString("GGUF")
	out.number(uint32(3), uint64(len(tensors)), uint64(len(metadata)))
	for _, p := range metadata {
		out.text(p.key)
		out.value(p.value)
	}
	for _, tensor := range tensors {
		out.text(tensor.name)
		out.number(uint32(len(tensor.dims)))
		for _, n := range tensor.dims {
			out.number(n)
		}
		out.number(tensor.kind, uint64(data))
		data += (tensor.bytes() + 31) / 32 * 32
	}
	out.Write(make([]byte, (32-out.Len()%32)%32))
	return out.Bytes(), data
}

func (m ggufMatrix) bytes() int64 {
	n := int64(1)
	for _, d := range m.dims {
		n *= int64(d)
	}
	switch m.kind {
	case ggmlF32:
		return 4 * n
	case ggmlF16:
		return 2 * n
	case ggmlQ4_0:
		return n / 32 * 18
	case ggmlQ8_0:
		return n / 32 * 34
	case ggmlQ4_K:
		return n / 256 * 144
	case ggmlQ2K:
		return n / 256 * 84
	case ggmlNewer:
		return n
	case ggmlQ6_K:
		return n / 256 * 210
	}
	panic("a type that the tests don't know")
}

type ggufBuffer struct{ bytes.Buffer }

func (b *ggufBuffer) number(values ...any) {
	for _, v := range values {
		_ = binary.Write(&b.Buffer, binary.LittleEndian, v) // never fails on a bytes.Buffer
	}
}

// length is number without reflection: a vocabulary has many.
func (b *ggufBuffer) length(n int) {
	b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), uint64(n)))
}

func (b *ggufBuffer) text(s string) {
	b.length(len(s))
	b.WriteString(s)
}

func (b *ggufBuffer) value(value any) {
	switch v := value.(type) {
	case string:
		b.number(uint32(8))
		b.text(v)
	case bool:
		b.number(uint32(7), v)
	case uint32:
		b.number(uint32(4), v)
	case int32:
		b.number(uint32(5), v)
	case float32:
		b.number(uint32(6), math.Float32bits(v))
	case uint64:
		b.number(uint32(10), v)
	case uint16:
		b.number(uint32(2), v)
	case []string:
		b.number(uint32(9), uint32(8), uint64(len(v)))
		for _, s := range v {
			b.text(s)
		}
	case []float32:
		b.number(uint32(9), uint32(6), uint64(len(v)), v)
	case []int32:
		b.number(uint32(9), uint32(5), uint64(len(v)), v)
	case []uint32:
		b.number(uint32(9), uint32(4), uint64(len(v)), v)
	case []bool:
		b.number(uint32(9), uint32(7), uint64(len(v)), v)
	default:
		panic(fmt.Sprintf("a value that the tests don't know: %T", value))
	}
}
