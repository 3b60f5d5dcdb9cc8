package demo

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
)

// Constants of the GGUF version 3 specification (ggml, docs/gguf.md, "File structure").
const (
	ggufMagic     = "GGUF"
	ggufVersion   = 3
	ggufAlignment = 32 // the default of general.alignment, in bytes
	ggmlTypeF32   = 0  // enum ggml_type
)

// enum gguf_metadata_value_type, as far as used here.
const (
	ggufInt32   = 5
	ggufUint32  = 4
	ggufFloat32 = 6
	ggufBool    = 7
	ggufString  = 8
	ggufArray   = 9
)

// ggufWriter writes the parts of a GGUF file in order. After the first error it
// writes nothing more and keeps that error.
type ggufWriter struct {
	w       *bufio.Writer
	written uint64 // bytes so far; alignment counts from the start of the file
	err     error
	scratch [8]byte
}

func (g *ggufWriter) bytes(p []byte) {
	if g.err == nil {
		_, g.err = g.w.Write(p)
		g.written += uint64(len(p))
	}
}

func (g *ggufWriter) uint32(n uint32) {
	binary.LittleEndian.PutUint32(g.scratch[:], n)
	g.bytes(g.scratch[:4])
}

func (g *ggufWriter) uint64(n uint64) {
	binary.LittleEndian.PutUint64(g.scratch[:], n)
	g.bytes(g.scratch[:8])
}

func (g *ggufWriter) float32(n float32) {
	g.uint32(math.Float32bits(n))
}

func (g *ggufWriter) string(s string) {
	g.uint64(uint64(len(s)))
	g.bytes([]byte(s))
}

func (g *ggufWriter) align() {
	for g.written%ggufAlignment != 0 && g.err == nil {
		g.bytes([]byte{0})
	}
}

func (g *ggufWriter) header(tensors, entries int) {
	g.bytes([]byte(ggufMagic))
	g.uint32(ggufVersion)
	g.uint64(uint64(tensors))
	g.uint64(uint64(entries))
}

func (g *ggufWriter) metadata(key string, value any) {
	g.string(key)
	switch value := value.(type) {
	case string:
		g.uint32(ggufString)
		g.string(value)
	case uint32:
		g.uint32(ggufUint32)
		g.uint32(value)
	case float32:
		g.uint32(ggufFloat32)
		g.float32(value)
	case bool:
		g.uint32(ggufBool)
		if value {
			g.bytes([]byte{1})
		} else {
			g.bytes([]byte{0})
		}
	case []string:
		writeArray(g, ggufString, value, g.string)
	case []float32:
		writeArray(g, ggufFloat32, value, g.float32)
	case []int32:
		writeArray(g, ggufInt32, value, func(n int32) { g.uint32(uint32(n)) })
	default:
		panic(fmt.Sprintf("gguf: no encoding for %s of type %T", key, value))
	}
}

func writeArray[T any](g *ggufWriter, kind uint32, values []T, write func(T)) {
	g.uint32(ggufArray)
	g.uint32(kind)
	g.uint64(uint64(len(values)))
	for _, value := range values {
		write(value)
	}
}

// tensorTable writes what describes the tensors, and the padding before their data.
// Offsets count from the start of the data.
func (g *ggufWriter) tensorTable(tensors []ggufTensor) {
	offset := uint64(0)
	for _, tensor := range tensors {
		g.string(tensor.name)
		if tensor.rows == 0 {
			g.uint32(1)
			g.uint64(uint64(tensor.columns))
		} else {
			g.uint32(2)
			g.uint64(uint64(tensor.columns)) // the fastest running dimension comes first
			g.uint64(uint64(tensor.rows))
		}
		g.uint32(ggmlTypeF32)
		g.uint64(offset)
		size := uint64(tensor.columns) * uint64(max(tensor.rows, 1)) * 4
		offset += (size + ggufAlignment - 1) / ggufAlignment * ggufAlignment
	}
	g.align()
}

func (g *ggufWriter) tensorData(tensor ggufTensor) {
	values, encoded := make([]float32, tensor.columns), make([]byte, 4*tensor.columns)
	for index := range max(tensor.rows, 1) {
		if tensor.fill != nil {
			clear(values)
			tensor.fill(index, values)
		}
		for i, value := range values {
			binary.LittleEndian.PutUint32(encoded[4*i:], math.Float32bits(value))
		}
		g.bytes(encoded)
	}
	g.align()
}
