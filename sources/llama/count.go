package llama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

const (
	// countTimeout bounds a count, and after one that took longer none is asked for during countPause,
	// so that a server that doesn't answer delays a step now and then, and ends none.
	countTimeout = 10 * time.Second
	countPause   = time.Minute
	// maxCountBody bounds a rendered prompt, and the list of its tokens.
	maxCountBody = 64 << 20
)

// errNoCount says that a server doesn't tell what a prompt takes.
var errNoCount = errors.New("the model server doesn't count tokens")

// ContextSize is how many tokens one chat may hold, prompt and answer together, as the server told when
// the lease's instance became ready; 0 when it didn't (/props, default_generation_settings.n_ctx, which
// is that of one slot).
func (l *Lease) ContextSize() int {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.instance.contextSize
}

// Count returns how many tokens the prompt of a request takes, as POST /v1/chat/completions would
// count it: the server renders its template with the messages and tools (POST /apply-template) and cuts
// the result (POST /tokenize). It takes 10 s at most. An error means that the server doesn't tell; where
// it can't it isn't asked again, and for a minute where it took too long. model is as for Stream.
func (l *Lease) Count(ctx context.Context, model string, request *wire.ModelRequest) (int, error) {
	silent := &l.instance.uncountedUntil
	if time.Now().UnixNano() < silent.Load() {
		return 0, errNoCount
	}
	bounded, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	count, err := l.count(bounded, append(appendPrompt(nil, model, request), '}'))
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, errNoCount):
		silent.Store(math.MaxInt64)
	case bounded.Err() != nil:
		silent.Store(time.Now().Add(countPause).UnixNano())
	}
	return count, err
}

func (l *Lease) count(ctx context.Context, body []byte) (int, error) {
	answer, err := l.ask(ctx, "/apply-template", body)
	if err != nil {
		return 0, err
	}
	prompt := gjson.GetBytes(answer, "prompt")
	if prompt.Type != gjson.String {
		return 0, errors.New("the model server rendered no prompt")
	}
	// The options are those with which llama-server cuts the prompt of a chat.
	body = append(append(append(body[:0], `{"content":`...), prompt.Raw...), `,"add_special":true,"parse_special":true}`...)
	if answer, err = l.ask(ctx, "/tokenize", body); err != nil {
		return 0, err
	}
	tokens := gjson.GetBytes(answer, "tokens")
	if !tokens.IsArray() {
		return 0, errors.New("the model server gave no tokens")
	}
	return int(tokens.Get("#").Int()), nil
}

// ask posts to one of the routes for counting and returns a valid JSON answer.
func (l *Lease) ask(ctx context.Context, route string, body []byte) ([]byte, error) {
	status, answer, err := l.post(ctx, route, body, maxCountBody)
	switch {
	case err != nil:
		return nil, fmt.Errorf("asking %s failed: %w", route, err)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented:
		return nil, fmt.Errorf("%w: HTTP %d at %s", errNoCount, status, route)
	case status != http.StatusOK:
		return nil, fmt.Errorf("%s answered HTTP %d: %s", route, status, answerText(answer, l.Key))
	case !validJSON(answer):
		return nil, fmt.Errorf("%s answered no JSON, or more than %d MiB", route, maxCountBody>>20)
	}
	return answer, nil
}
