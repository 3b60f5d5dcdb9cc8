package demo

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// chat answers POST /v1/chat/completions. It holds a slot from here to the end of
// the answer, and ends early when the client leaves.
func (h *handler) chat(w http.ResponseWriter, r *http.Request) {
	request, refused := decodeChat(r)
	if refused != nil {
		writeError(w, refused)
		return
	}
	begun := time.Now()
	prompt := len(h.model.TokenizePrompt(request.prompt()))
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
		call:     request.toolCall(),
		interval: h.interval,
		limit:    contextLength - prompt,
		done:     completion{promptTokens: prompt, promptDuration: time.Since(begun)},
	}
	if limit := request.limit(); limit > 0 {
		generation.limit = min(generation.limit, limit)
	}
	if generation.call != nil {
		generation.next = generation.call.tokens()
	} else {
		generation.next = h.model.NewAnswer(request.answerOptions()).Next
	}
	if request.Stream {
		h.stream(w, r, request, generation)
	} else {
		h.respond(w, r, generation)
	}
}

// generation is one answer, or one tool call, being made.
type generation struct {
	next     func() (Token, bool)
	call     *toolCall     // nil for an answer
	interval time.Duration // between tokens; 0: none
	limit    int           // of tokens
	done     completion    // filled when run returns without error
}

// run makes the answer. It returns an error when the context ends or out fails.
func (g *generation) run(ctx context.Context, out output) error {
	start := time.Now()
	g.done.reason = "length"
	for ; g.done.tokens < g.limit; g.done.tokens++ {
		token, more := g.next()
		if !more {
			g.done.reason = g.endReason()
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

// endReason is the finish_reason of what ended by itself.
func (g *generation) endReason() string {
	if g.call != nil {
		return "tool_calls"
	}
	return "stop"
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
	out := &eventOutput{ctx: r.Context(), w: w, literals: h.literals, encoder: newChunkEncoder(), call: generation.call}
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

// respond sends the whole answer as one JSON document.
func (h *handler) respond(w http.ResponseWriter, r *http.Request, generation *generation) {
	out := &textOutput{model: h.model}
	if generation.run(r.Context(), out) != nil {
		return
	}
	body := fmt.Appendf(nil, `{"choices":[{"finish_reason":"%s","index":0,"message":`, generation.done.reason)
	body = out.appendMessage(body, generation.call)
	body = fmt.Appendf(body, `}],"created":%d,"model":"%s","system_fingerprint":"%s","object":"chat.completion","usage":`,
		time.Now().Unix(), ModelName, systemFingerprint)
	body = generation.done.appendUsage(body)
	body = fmt.Appendf(body, `,"id":"%s","timings":`, completionID())
	body = append(generation.done.appendTimings(body), '}')
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write(body) // a client that has gone needs no answer
}
