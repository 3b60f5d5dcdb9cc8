package memory

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// turnsVariable says how many turns the benchmarks store: the figures of the package comment are of
//
//	SLUICE_MEMORY_TURNS=100000 go test -run '^$' -bench Memory -benchtime 2000x ./stages/execute/memory
const turnsVariable = "SLUICE_MEMORY_TURNS"

const benchDimensions = 384

func benchTurns(b *testing.B) int {
	text := os.Getenv(turnsVariable)
	if text == "" {
		return 2000
	}
	turns, err := strconv.Atoi(text)
	if err != nil || turns < 1 {
		b.Fatalf("%s=%q is no number of turns", turnsVariable, text)
	}
	return turns
}

// BenchmarkMemory makes its corpus once, for all that follow.
func BenchmarkMemory(b *testing.B) {
	dir, turns := b.TempDir(), benchTurns(b)
	newCorpus(1).fill(b, dir, turns)
	benchBuild(b, dir, turns)
	b.Run("open", func(b *testing.B) { benchOpen(b, dir) })
	b.Run("retrieve", func(b *testing.B) { benchRetrieve(b, Options{Dir: dir}) })
	b.Run("follow", func(b *testing.B) { benchFollow(b, dir) })
	vectors := Options{Dir: dir, Embed: randomVectors, EmbeddingModel: "random"}
	benchEmbed(b, vectors)
	b.Run("retrieve-vectors", func(b *testing.B) { benchRetrieve(b, vectors) })
}

// benchBuild builds the index that the others use, once, whatever -benchtime says.
func benchBuild(b *testing.B, dir string, turns int) {
	begin := time.Now()
	x := open(b, Options{Dir: dir, BuildWait: time.Hour})
	find(b, x, "u1", "none", "anything")
	took := time.Since(begin)
	closeIndex(b, x)
	info, err := os.Stat(x.path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("build", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric(float64(turns)/took.Seconds(), "turns/s")
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	})
}

func benchOpen(b *testing.B, dir string) {
	corpus := newCorpus(3)
	for b.Loop() {
		x := open(b, Options{Dir: dir})
		find(b, x, "u0", "none", corpus.text(8))
		closeIndex(b, x)
	}
}

// benchRetrieve asks as the user with half of the turns.
func benchRetrieve(b *testing.B, options Options) {
	x := open(b, options)
	find(b, x, "u0", "none", "anything")
	corpus := newCorpus(4)
	for _, c := range []struct {
		name  string
		query func() string
	}{
		{"question", func() string { return corpus.text(5 + corpus.random.IntN(20)) }},
		{"rare", func() string { return corpus.between(3, 500, 20_000) }},
		{"common", func() string { return corpus.between(8, 0, 20) }},
		{"middling", func() string { return corpus.between(20, 50, 500) }},
		{"long", func() string { return corpus.text(2000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				query := c.query()
				begin := time.Now()
				find(b, x, "u0", "none", query)
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}

// benchFollow stores a turn and looks for it.
func benchFollow(b *testing.B, dir string) {
	s, corpus := openSessions(b, dir), newCorpus(5)
	x := open(b, Options{Dir: dir})
	find(b, x, "u0", "none", "anything")
	for b.Loop() {
		s.turn("u0", "new", corpus.text(20), corpus.text(150))
		find(b, x, "u0", "none", corpus.text(8))
	}
}

func randomVectors(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range texts {
		vectors[i] = randomVector(benchDimensions)
	}
	return vectors, nil
}

func randomVector(dimensions int) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(rand.NormFloat64())
	}
	return v
}

// benchEmbed waits until all turns have vectors, once.
func benchEmbed(b *testing.B, options Options) {
	x := open(b, options)
	begin := time.Now()
	find(b, x, "u0", "none", "anything")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n, turns := 0, 1; n < turns; <-tick.C {
		err := x.store.read.QueryRow(`SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM docs)`).Scan(&n, &turns)
		if err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(begin)
	b.Run("embed", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(took.Seconds(), "s")
	})
}

// BenchmarkExactCosine is the alternative to signs: every vector in memory, each compared.
func BenchmarkExactCosine(b *testing.B) {
	turns := benchTurns(b)
	all := make([]float32, 0, turns*benchDimensions)
	for range turns {
		all = append(all, normalise(randomVector(benchDimensions))...)
	}
	query := normalise(randomVector(benchDimensions))
	scores := make([]float32, turns)
	for b.Loop() {
		for i := range turns {
			scores[i] = dot(query, all[i*benchDimensions:(i+1)*benchDimensions])
		}
	}
}

// dot keeps four sums, for the processor not to wait for each.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	return s0 + s1 + s2 + s3
}
