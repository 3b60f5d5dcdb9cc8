package memory

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/testkit"
)

func TestMeaning(t *testing.T) {
	s, model := newSessions(t, t.TempDir()), newTopics()
	kitten := s.turn("ada", "one", "my kitten", "")
	s.turn("bob", "one", "his dog", "")
	s.turn("ada", "two", "a dog of this session", "")
	lorry := s.turn("ada", "one", "a lorry", "")
	x := open(t, Options{Dir: s.dir, TopK: 1, Embed: model.embed, EmbeddingModel: "m"})
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "m", 64, 4)
	wantTurns(t, find(t, x, "ada", "two", "cat"), kitten)
	wantTurns(t, find(t, x, "ada", "two", "car"), lorry)

	dog := s.turn("ada", "one", "dog dog", "")
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "m", 64, 5)
	s.delete(kitten)
	wantTurns(t, find(t, x, "ada", "two", "cat"), dog)
	closeIndex(t, x)

	calls := model.calls.Load()
	x = open(t, Options{Dir: s.dir, TopK: 1, Embed: model.embed, EmbeddingModel: "m"})
	wantTurns(t, find(t, x, "ada", "two", "cat"), dog)
	closeIndex(t, x)
	if n := model.calls.Load() - calls; n != 1 {
		t.Errorf("%d texts were embedded where only the query was new", n)
	}
}

func TestWordsAndMeaningAreFused(t *testing.T) {
	s, model := newSessions(t, t.TempDir()), newTopics()
	meaning := s.turn("ada", "one", "my kitten", "")
	both := s.turn("ada", "one", "the cat and the dog", "")
	words := s.turn("ada", "one", "the concatenated cat-alogue: cat", "")
	x := open(t, Options{Dir: s.dir, Embed: model.embed, EmbeddingModel: "m"})
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "m", 64, 3)
	got := find(t, x, "ada", "two", "cat")
	if len(got) != 3 || got[2] != meaning || !slices.Contains(got[:2], both) || !slices.Contains(got[:2], words) {
		t.Errorf("found %v; want %d last", got, meaning)
	}
}

func TestAnotherModelAndOtherDimensions(t *testing.T) {
	s, model := newSessions(t, t.TempDir()), newTopics()
	s.many(40, `'kitten ' || i`, `''`)
	for _, c := range []struct {
		name       string
		dimensions int64
	}{{"m", 64}, {"n", 64}, {"m", 100}, {"m", 64}} {
		model.dimensions.Store(c.dimensions)
		x := open(t, Options{Dir: s.dir, TopK: 1, Embed: model.embed, EmbeddingModel: c.name})
		find(t, x, "ada", "two", "cat")
		waitVectors(t, x, c.name, c.dimensions, 40)
		if got := find(t, x, "ada", "two", "cat"); len(got) != 1 {
			t.Errorf("%+v: found %v", c, got)
		}
		closeIndex(t, x)
	}
	// The model changes behind its name while it is used.
	x := open(t, Options{Dir: s.dir, TopK: 1, Embed: model.embed, EmbeddingModel: "m"})
	find(t, x, "ada", "two", "cat")
	model.dimensions.Store(7)
	s.turn("ada", "one", "cat", "")
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "m", 7, 41)
}

// TestModelsThatNobodyUses lose their vectors.
func TestModelsThatNobodyUses(t *testing.T) {
	s, model := newSessions(t, t.TempDir()), newTopics()
	s.turn("ada", "one", "kitten", "")
	x := open(t, Options{Dir: s.dir, Embed: model.embed, EmbeddingModel: "old"})
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "old", 64, 1)
	if _, err := x.store.write.Exec(`UPDATE models SET used = used - ?`, int64(modelKept/time.Second)+9); err != nil {
		t.Fatal(err)
	}
	closeIndex(t, x)
	x = open(t, Options{Dir: s.dir, Embed: model.embed, EmbeddingModel: "new"})
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "new", 64, 1)
	if n := vectorsOf(t, x, "old", 64); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestAFailingModelCostsNothing(t *testing.T) {
	s, model := newSessions(t, t.TempDir()), newTopics()
	turn := s.turn("ada", "one", "my kitten", "")
	var log lockedBuffer
	x := open(t, Options{Dir: s.dir, Embed: model.embed, EmbeddingModel: "m", Logger: textLogger(&log)})
	model.fail.Store(true)
	wantTurns(t, find(t, x, "ada", "two", "kitten"), turn)
	wantTurns(t, find(t, x, "ada", "two", "cat"))
	testkit.Until(t, "the log says so", func() bool { return strings.Contains(log.String(), "words alone") })
	model.fail.Store(false)
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "m", 64, 1)
	wantTurns(t, find(t, x, "ada", "two", "cat"), turn)
}

// TestASilentModel: one that doesn't answer is given up, and ends with the Index.
func TestASilentModel(t *testing.T) {
	s := newSessions(t, t.TempDir())
	turn := s.turn("ada", "one", "my kitten", "")
	silent := func(ctx context.Context, _ []string) ([][]float32, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	x := open(t, Options{Dir: s.dir, Embed: silent, EmbeddingModel: "m", EmbedTimeout: time.Millisecond})
	wantTurns(t, find(t, x, "ada", "two", "kitten"), turn)
}

// TestWrongVectors: what a model must not return is no vector.
func TestWrongVectors(t *testing.T) {
	for name, vectors := range map[string][][]float32{
		"none": {}, "empty": {{}}, "too many": {{1}, {1}}, "zero": {{0, 0}}, "NaN": {{float32(math.NaN()), 1}}, "infinite": {{float32(math.Inf(1)), 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, t.TempDir())
			turn := s.turn("ada", "one", "my kitten", "")
			embed := func(context.Context, []string) ([][]float32, error) { return vectors, nil }
			x := open(t, Options{Dir: s.dir, Embed: embed, EmbeddingModel: "m"})
			wantTurns(t, find(t, x, "ada", "two", "kitten"), turn)
			wantTurns(t, find(t, x, "ada", "two", "cat"))
		})
	}
}

// TestOneTextThatTheModelRefuses keeps no other from its vector.
func TestOneTextThatTheModelRefuses(t *testing.T) {
	s, model := newSessions(t, t.TempDir()), newTopics()
	model.refused = "poison"
	s.many(40, `'kitten ' || CASE i % 5 WHEN 0 THEN 'poison' ELSE i END`, `''`)
	x := open(t, Options{Dir: s.dir, Embed: model.embed, EmbeddingModel: "m"})
	find(t, x, "ada", "two", "cat")
	waitVectors(t, x, "m", 64, 40) // those that were refused are stored as having none
	calls := model.calls.Load()
	if got := find(t, x, "ada", "two", "cat"); len(got) != 5 {
		t.Errorf("found %v", got)
	}
	closeIndex(t, x)
	if n := model.calls.Load() - calls; n > 1 {
		t.Errorf("refused texts were tried again, %d calls", n)
	}
}
