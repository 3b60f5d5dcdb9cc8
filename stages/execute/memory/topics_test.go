package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sluice/internal/testkit"
)

// topics is an embedding model that knows what a few words are about.
type topics struct {
	dimensions atomic.Int64
	fail       atomic.Bool
	calls      atomic.Int64
	refused    string // a text that holds this fails all that it comes with
}

func (m *topics) embed(_ context.Context, texts []string) ([][]float32, error) {
	m.calls.Add(1)
	if m.fail.Load() {
		return nil, errors.New("the server is down")
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if m.refused != "" && strings.Contains(text, m.refused) {
			return nil, errors.New("too long")
		}
		vectors[i] = make([]float32, m.dimensions.Load())
		for _, word := range strings.Fields(strings.ToLower(text)) {
			topic := map[string]string{"cat": "animal", "kitten": "animal", "dog": "animal", "car": "vehicle", "lorry": "vehicle"}[word]
			hash := fnv.New64a()
			fmt.Fprint(hash, topic)
			random := rand.New(rand.NewPCG(hash.Sum64(), 1))
			for d := range vectors[i] {
				if topic != "" {
					vectors[i][d] += float32(random.NormFloat64())
				}
			}
		}
		vectors[i][0] += 0.01
	}
	return vectors, nil
}

func newTopics() *topics {
	m := &topics{}
	m.dimensions.Store(64)
	return m
}

// vectorsOf counts the vectors of a model's name and dimensions.
func vectorsOf(t *testing.T, x *Index, model string, dimensions int64) (n int) {
	t.Helper()
	x.files.RLock()
	defer x.files.RUnlock()
	err := x.store.read.QueryRow(`SELECT count(*) FROM vectors v JOIN models m ON m.id = v.model WHERE m.name = ? AND m.dimensions = ?`,
		model, dimensions).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func waitVectors(t *testing.T, x *Index, model string, dimensions int64, want int) {
	t.Helper()
	testkit.Until(t, fmt.Sprintf("%d vectors of %s with %d dimensions", want, model, dimensions),
		func() bool { return vectorsOf(t, x, model, dimensions) == want })
}

// lockedBuffer is a log that a test reads while it is written.
type lockedBuffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}
