package memory

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// normalise returns the vector at length 1; nil for one that has no direction.
func normalise(v []float32) []float32 {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	scale := 1 / math.Sqrt(sum)
	unit := make([]float32, len(v))
	for i, f := range v {
		unit[i] = float32(float64(f) * scale)
	}
	return unit
}

// encodeVector returns little-endian float32s.
func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func decodeVector(encoded []byte) []float32 {
	v := make([]float32, len(encoded)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(encoded[4*i:]))
	}
	return v
}

// cosine returns the product of a unit vector with an encoded one, -1 for one of another length.
func cosine(v []float32, encoded []byte) (sum float32) {
	if len(encoded) != 4*len(v) {
		return -1
	}
	for i, f := range v {
		sum += f * math.Float32frombits(binary.LittleEndian.Uint32(encoded[4*i:]))
	}
	return sum
}

// product returns the cosine of two unit vectors, -1 for those of different lengths.
func product(a, b []float32) (sum float32) {
	if len(a) != len(b) {
		return -1
	}
	for i, f := range a {
		sum += f * b[i]
	}
	return sum
}

// signWords is how many words hold the signs of a vector.
func signWords(dimensions int) int { return (dimensions + 63) / 64 }

// signsOf returns a bit for each dimension, set where it is above 0.
func signsOf(v []float32) []uint64 {
	signs := make([]uint64, signWords(len(v)))
	for i, f := range v {
		if f > 0 {
			signs[i/64] |= 1 << (i % 64)
		}
	}
	return signs
}

func encodeSigns(signs []uint64) []byte {
	b := make([]byte, 0, 8*len(signs))
	for _, word := range signs {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// distance counts the signs that differ.
func distance(a, b []uint64) (n int) {
	for i, word := range a {
		n += bits.OnesCount64(word ^ b[i])
	}
	return n
}

// scored is a turn with the cosine of its vector, of this id, and the query's.
type scored struct {
	id, turn int64
	cosine   float32
}

// best returns those of the highest cosines, falling, each turn once, at most limit.
func best(list []scored, limit int) []scored {
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(b.turn, a.turn))
	})
	var first []scored
	for _, one := range list {
		if len(first) < limit && !slices.ContainsFunc(first, func(s scored) bool { return s.turn == one.turn }) {
			first = append(first, one)
		}
	}
	return first
}
