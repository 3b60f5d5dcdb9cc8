package planner

import (
	"encoding/binary"
	"math"

	gguf "github.com/gpustack/gguf-parser-go"
)

// widths are the bytes of one element of each type; 0 is one whose length varies.
var widths = map[gguf.GGUFMetadataValueType]uint64{
	gguf.GGUFMetadataValueTypeUint8: 1, gguf.GGUFMetadataValueTypeInt8: 1, gguf.GGUFMetadataValueTypeBool: 1,
	gguf.GGUFMetadataValueTypeUint16: 2, gguf.GGUFMetadataValueTypeInt16: 2,
	gguf.GGUFMetadataValueTypeUint32: 4, gguf.GGUFMetadataValueTypeInt32: 4, gguf.GGUFMetadataValueTypeFloat32: 4,
	gguf.GGUFMetadataValueTypeUint64: 8, gguf.GGUFMetadataValueTypeInt64: 8, gguf.GGUFMetadataValueTypeFloat64: 8,
	gguf.GGUFMetadataValueTypeString: 0, gguf.GGUFMetadataValueTypeArray: 0,
}

func (r *reader) entry() gguf.GGUFMetadataKV {
	entry := gguf.GGUFMetadataKV{Key: r.text("metadata key", maxKeyLength)}
	entry.ValueType = gguf.GGUFMetadataValueType(r.uint32())
	if r.err != nil {
		return entry
	}
	switch _, known := widths[entry.ValueType]; {
	case !known:
		r.fail("has the metadata key %q with the unknown type %d; it is damaged", entry.Key, uint32(entry.ValueType))
	case entry.ValueType == gguf.GGUFMetadataValueTypeArray:
		entry.Value = r.array(entry.Key)
	case entry.ValueType == gguf.GGUFMetadataValueTypeString:
		entry.Value, _ = r.longText(maxText)
	default:
		entry.Value = r.scalar(entry.ValueType)
	}
	return entry
}

// array reads an array; the elements of a long one, and strings, are passed over.
func (r *reader) array(key string) gguf.GGUFMetadataKVArrayValue {
	a := gguf.GGUFMetadataKVArrayValue{StartOffset: r.at, Type: gguf.GGUFMetadataValueType(r.uint32()), Len: r.uint64()}
	from := r.at
	width, known := widths[a.Type]
	switch {
	case r.err != nil:
	case !known, a.Type == gguf.GGUFMetadataValueTypeArray:
		r.fail("has the metadata key %q with an array of the type %d, which llama.cpp doesn't read; it is damaged", key, uint32(a.Type))
	case a.Len > maxHeaderBytes: // so that nothing below overflows
		r.room(a.Len)
		r.fail("has the metadata key %q with %d elements; it is damaged", key, a.Len)
	case width == 0:
		r.skipTexts(a.Len)
	case a.Len > maxKept, r.kept+a.Len > maxKeptTotal:
		r.skip(a.Len * width)
	default:
		a.Array = r.scalars(a.Type, a.Len, width)
	}
	a.Size = r.at - from
	return a
}

func (r *reader) skipTexts(count uint64) {
	if !r.room(count * 8) {
		return
	}
	for range count {
		if r.skip(r.uint64()); r.err != nil {
			return
		}
	}
}

func (r *reader) scalars(kind gguf.GGUFMetadataValueType, count, width uint64) []any {
	if !r.room(count * width) {
		return nil
	}
	r.kept += count
	values := make([]any, count)
	for i := range values {
		values[i] = r.scalar(kind)
	}
	return values
}

// scalar reads a value of a fixed width, in the Go type that gguf-parser-go expects.
func (r *reader) scalar(kind gguf.GGUFMetadataValueType) any {
	clear(r.scratch[:])
	r.bytes(r.scratch[:widths[kind]])
	bits := binary.LittleEndian.Uint64(r.scratch[:])
	switch kind {
	case gguf.GGUFMetadataValueTypeUint8:
		return uint8(bits)
	case gguf.GGUFMetadataValueTypeInt8:
		return int8(bits)
	case gguf.GGUFMetadataValueTypeUint16:
		return uint16(bits)
	case gguf.GGUFMetadataValueTypeInt16:
		return int16(bits)
	case gguf.GGUFMetadataValueTypeUint32:
		return uint32(bits)
	case gguf.GGUFMetadataValueTypeInt32:
		return int32(bits)
	case gguf.GGUFMetadataValueTypeUint64:
		return bits
	case gguf.GGUFMetadataValueTypeInt64:
		return int64(bits)
	case gguf.GGUFMetadataValueTypeFloat32:
		return math.Float32frombits(uint32(bits))
	case gguf.GGUFMetadataValueTypeFloat64:
		return math.Float64frombits(bits)
	}
	return bits&0xff != 0
}

// whole returns a number that isn't negative; not ok is a value of another kind.
func whole(value any) (n uint64, ok bool) {
	switch v := value.(type) {
	case uint8:
		return uint64(v), true
	case uint16:
		return uint64(v), true
	case uint32:
		return uint64(v), true
	case uint64:
		return v, true
	case int8:
		return uint64(v), v >= 0
	case int16:
		return uint64(v), v >= 0
	case int32:
		return uint64(v), v >= 0
	case int64:
		return uint64(v), v >= 0
	}
	return 0, false
}
