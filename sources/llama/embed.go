package llama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"sluice/internal/wire"
)

const (
	// embeddingTokens is the batch of a server for embeddings: the longest text in tokens. llama-server's
	// default of 512 is less than a text of 2 KiB can come to.
	embeddingTokens = "2048"
	// maxEmbedding bounds one vector's text in the answer.
	maxEmbedding = 1 << 20
)

// Embed returns the vectors of texts, in their order, all of one length (POST /v1/embeddings). It waits
// for the server and a slot as a chat does; model is as for [Lease.Stream]. The server refuses a text
// of more tokens than its batch holds, 2048 for one spawned with Embeddings. The error says what to
// do, or is the cause of ctx.
func (s *Server) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	lease, err := s.Acquire(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	watched, silence, stop := lease.Watch(ctx)
	defer stop()
	status, answer, err := lease.post(watched, "/v1/embeddings", appendTexts(nil, model, texts), int64(len(texts)+1)*maxEmbedding)
	silence.Touch()
	if cause := context.Cause(watched); err != nil && cause != nil {
		return nil, cause
	} else if err != nil {
		return nil, lease.Describe(err)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("the model server answered HTTP %d to a request for embeddings: %s; %s", status, answerText(answer, lease.Key), embeddingAdvice(status))
	}
	return readVectors(answer, len(texts))
}

func embeddingAdvice(status int) string {
	switch status {
	case http.StatusNotFound, http.StatusNotImplemented:
		return "start it with --embeddings, or empty memory.embedding_model"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "check llama_server.api_key"
	}
	return "check that memory.embedding_model is a model for embeddings (others need --pooling mean in llama_server.args), and look at its log"
}

func appendTexts(dst []byte, model string, texts []string) []byte {
	dst = append(dst, `{"input":[`...)
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(dst, text, false)
	}
	dst = append(dst, `],"encoding_format":"float"`...)
	if model != "" {
		dst = wire.AppendString(append(dst, `,"model":`...), model, false)
	}
	return append(dst, '}')
}

// errVectors says that an answer isn't what was asked for.
var errVectors = errors.New("check that memory.embedding_model is a model for embeddings whose pooling gives one vector a text (--pooling)")

// readVectors reads the answer for count texts.
func readVectors(answer []byte, count int) ([][]float32, error) {
	var list struct {
		Data []struct {
			Index     int
			Embedding []float32
		}
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, fmt.Errorf("the model server's embeddings can't be read: %w", errVectors)
	}
	if len(list.Data) != count {
		return nil, fmt.Errorf("the model server gave %d embeddings for %d texts: %w", len(list.Data), count, errVectors)
	}
	vectors := make([][]float32, count)
	for _, d := range list.Data {
		if d.Index < 0 || d.Index >= count || vectors[d.Index] != nil {
			return nil, fmt.Errorf("the model server's embeddings aren't numbered from 0 to %d: %w", count-1, errVectors)
		}
		if len(d.Embedding) == 0 || len(d.Embedding) != len(list.Data[0].Embedding) {
			return nil, fmt.Errorf("the model server's embeddings differ in length or are empty: %w", errVectors)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}
