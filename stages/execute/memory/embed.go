package memory

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// embeddedBytes bounds a text that is embedded: small models read 512 tokens, about 4 bytes each in
	// English and 3 in Chinese.
	embeddedBytes = 1200
	// embeddedInput is what an input leaves at most for the response of its turn.
	embeddedInput = 800
	// batchTexts and batchTimeout are for the texts of past turns, which nobody waits for.
	batchTexts   = 16
	batchTimeout = time.Minute
)

// embeddedText returns what stands for a turn.
func embeddedText(input, response string) string {
	input = cutBytes(input, max(embeddedInput, embeddedBytes-1-len(response)))
	return input + "\n" + cutBytes(response, embeddedBytes-1-len(input))
}

// embeddedQuery returns what stands for a query: its end, where a long one says what it is about.
func embeddedQuery(text string) string {
	if len(text) <= embeddedBytes {
		return text
	}
	return text[runeStart(text, len(text)-embeddedBytes):]
}

// queryVector is the vector of a query, while it is made.
type queryVector struct {
	done chan struct{} // closed when value is set
	unit []float32     // nil when it failed
}

// wait returns the vector, of length 1; nil when there is none.
func (q *queryVector) wait(ctx context.Context) []float32 {
	if q == nil {
		return nil
	}
	select {
	case <-q.done:
		return q.unit
	case <-ctx.Done():
		return nil
	}
}

// embedQuery begins to make the vector of a text; nil without an embedding model. It is ready, or
// given up, after EmbedTimeout.
func (x *Index) embedQuery(ctx context.Context, text string) *queryVector {
	if x.options.Embed == nil {
		return nil
	}
	q := &queryVector{done: make(chan struct{})}
	ctx, cancel := context.WithTimeoutCause(ctx, x.options.EmbedTimeout,
		fmt.Errorf("no vector within %v", x.options.EmbedTimeout))
	answers := make(chan []float32, 1)
	x.running.Go(func() { answers <- x.embedOne(ctx, text) })
	x.running.Go(func() {
		defer cancel()
		defer close(q.done)
		select {
		case q.unit = <-answers:
		case <-ctx.Done():
			x.logEmbed(ctx, context.Cause(ctx))
		}
	})
	return q
}

func (x *Index) embedOne(ctx context.Context, text string) []float32 {
	vectors, err := x.embed(ctx, []string{embeddedQuery(text)})
	if err != nil {
		if ctx.Err() == nil {
			x.logEmbed(ctx, err)
		}
		return nil
	}
	return vectors[0]
}

// logEmbed says that a search does without vectors. A chat that ended is no failure.
func (x *Index) logEmbed(ctx context.Context, err error) {
	if errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	x.log.WarnContext(ctx, "past sessions are searched by words alone: the embedding model gave no vector; check memory.embedding_model and its server",
		"model", x.options.EmbeddingModel, "error", err)
}

// embed returns the vectors of texts at length 1; of a text without a direction it is nil.
func (x *Index) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := x.options.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%d vectors came for %d texts", len(vectors), len(texts))
	}
	units := make([][]float32, len(vectors))
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("vector %d has %d dimensions, the first %d", i, len(v), len(vectors[0]))
		}
		units[i] = normalise(v)
	}
	x.dimensions.Store(int64(len(vectors[0])))
	return units, nil
}

// searchMeaning returns the turns nearest to a vector that have to do with it, none without one.
func (x *Index) searchMeaning(ctx context.Context, r request, vector []float32, byWords []int64) ([]int64, error) {
	if vector == nil {
		return nil, nil
	}
	x.files.RLock()
	defer x.files.RUnlock()
	if x.store == nil {
		return nil, x.problem
	}
	user, ok, err := x.store.user(ctx, r.user)
	if err != nil || !ok {
		return nil, err
	}
	model, err := x.store.model(ctx, x.options.EmbeddingModel, len(vector))
	if err != nil || model == 0 {
		return nil, err
	}
	key := signKey{model, user}
	list, floor, err := x.signs.table(key, signWords(len(vector))).nearest(ctx, x.store, key, r.session, vector)
	return related(list, floor, byWords), err
}
