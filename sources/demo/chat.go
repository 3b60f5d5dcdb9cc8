package demo

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// flushBytes is how much of an unpaced answer is sent at once.
const flushBytes = 32 << 10

// chat answers POST /v1/chat/completions. It holds a slot from here to the end of
// the answer, and ends early when the client leaves.
func (h *handler) chat(w http.ResponseWriter, r *http.Request) {
	request, refused := decodeChat(r)
	if refused != nil {
		writeError(w, refused)
		return
	}
	begun := time.Now()
	prompt := request.promptTokens(h.model)
	if prompt >= contextLength {
		writeError(w, &apiError{
			Code: http.StatusBadRequest, Type: "exceed_context_size_error", PromptTokens: prompt, Context: contextLength,
			Message: fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", prompt, contextLength),
		})
		return
	}
	slot, err := h.slots.take(r.Context())
	if err != nil {
		return // the client left while it waited
	}
	defer h.slots.release(slot)
	generation := &generation{
		answer:   h.model.NewAnswer(request.answerOptions()),
		interval: h.interval,
		limit:    contextLength - prompt,
		done:     completion{promptTokens: prompt, promptDuration: time.Since(begun)},
	}
	if limit := request.limit(); limit > 0 {
		generation.limit = min(generation.limit, limit)
	}
	if request.Stream {
		h.stream(w, r, request, generation)
	} else {
		h.respond(w, r, generation)
	}
}

// output takes the tokens of a generation.
type output interface {
	token(Token) error // takes one token, at once or with later ones
	flush() error      // sends what was taken: nothing comes for a while
}

// generation is one answer being made.
type generation struct {
	answer   *Answer
	interval time.Duration // between tokens; 0: none
	limit    int           // of tokens
	done     completion    // filled when run returns without error
}

// run makes the answer. It returns an error when the context ends or out fails.
func (g *generation) run(ctx context.Context, out output) error {
	start := time.Now()
	g.done.reason = "length"
	for ; g.done.tokens < g.limit; g.done.tokens++ {
		token, more := g.answer.Next()
		if !more {
			g.done.reason = "stop"
			break
		}
		due := start.Add(time.Duration(g.done.tokens) * g.interval)
		if err := waitUntil(ctx, due, out.flush); err != nil {
			return err
		}
		if err := out.token(token); err != nil {
			return err
		}
	}
	g.done.duration = time.Since(start)
	return ctx.Err()
}

// waitUntil returns at once when the time has come, and otherwise calls before and
// then waits. A generation that fell behind so catches up in one piece.
func waitUntil(ctx context.Context, due time.Time, before func() error) error {
	if !time.Now().Before(due) {
		return nil
	}
	if err := before(); err != nil {
		return err
	}
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *handler) stream(w http.ResponseWriter, r *http.Request, request *chatRequest, generation *generation) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := &eventOutput{ctx: r.Context(), w: w, literals: h.literals, encoder: newChunkEncoder()}
	if request.ReturnProgress {
		total, took := generation.done.promptTokens, generation.done.promptDuration
		out.pending = out.encoder.progress(out.pending, 0, total, 0)
		out.pending = out.encoder.progress(out.pending, total, total, took)
	}
	out.pending = out.encoder.role(out.pending)
	if generation.run(r.Context(), out) != nil {
		return // the client left: nobody reads an ending
	}
	out.pending = out.encoder.finish(out.pending, generation.done, request.StreamOptions.IncludeUsage)
	out.flush() // an error means that the client left, too
}

// eventOutput sends tokens as events.
type eventOutput struct {
	ctx      context.Context
	w        http.ResponseWriter
	literals [][]byte
	encoder  *chunkEncoder
	pending  []byte // chunks not yet sent
}

func (o *eventOutput) token(token Token) error {
	o.pending = o.encoder.content(o.pending, o.literals[token])
	if len(o.pending) < flushBytes {
		return nil
	}
	return o.flush()
}

func (o *eventOutput) flush() error {
	if len(o.pending) == 0 {
		return o.ctx.Err()
	}
	_, err := o.w.Write(o.pending)
	o.pending = o.pending[:0]
	if err == nil {
		err = http.NewResponseController(o.w).Flush()
	}
	if err == nil {
		err = o.ctx.Err()
	}
	return err
}

// respond sends the whole answer as one JSON document.
func (h *handler) respond(w http.ResponseWriter, r *http.Request, generation *generation) {
	out := &textOutput{model: h.model}
	if generation.run(r.Context(), out) != nil {
		return
	}
	body := fmt.Appendf(nil, `{"choices":[{"finish_reason":"%s","index":0,"message":{"role":"assistant","content":%s}}],"created":%d,"model":"%s",`+
		`"system_fingerprint":"%s","object":"chat.completion","usage":`, generation.done.reason, jsonString(string(out.text)),
		time.Now().Unix(), ModelName, systemFingerprint)
	body = generation.done.appendUsage(body)
	body = fmt.Appendf(body, `,"id":"%s","timings":`, completionID())
	body = append(generation.done.appendTimings(body), '}')
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write(body) // a client that has gone needs no answer
}

// textOutput gathers the text of an answer.
type textOutput struct {
	model *Model
	text  []byte
}

func (o *textOutput) token(token Token) error {
	o.text = append(o.text, o.model.Text(token)...)
	return nil
}

func (o *textOutput) flush() error { return nil }
