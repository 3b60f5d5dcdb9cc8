package demo

import (
	"net/http/httptest"
	"testing"
)

// writeSizes is a ResponseWriter that notes how much each write brings.
type writeSizes struct {
	*httptest.ResponseRecorder
	sizes []int
}

func (w *writeSizes) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	return len(p), nil
}

func TestUnpacedTokensLeaveInBoundedPieces(t *testing.T) {
	w := &writeSizes{ResponseRecorder: httptest.NewRecorder()}
	out := &eventOutput{ctx: t.Context(), w: w, literals: [][]byte{[]byte(`" word"`)}, encoder: newChunkEncoder()}
	const tokens = 2000
	for range tokens {
		if err := out.token(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	total := 0
	for i, size := range w.sizes {
		if last := i == len(w.sizes)-1; size > flushBytes+1024 || size < flushBytes && !last {
			t.Errorf("write %d has %d bytes", i, size)
		}
		total += size
	}
	if chunk := len(out.encoder.content(nil, out.literals[0])); total != tokens*chunk {
		t.Errorf("%d bytes left, want %d", total, tokens*chunk)
	}
}

func TestTokenChunksDontAllocate(t *testing.T) {
	encoder, dst := newChunkEncoder(), make([]byte, 0, 1024)
	dst = encoder.content(dst, []byte(`" word"`))
	if allocations := testing.AllocsPerRun(100, func() { dst = encoder.content(dst[:0], []byte(`" word"`)) }); allocations > 0 {
		t.Errorf("%v allocations a token", allocations)
	}
}
