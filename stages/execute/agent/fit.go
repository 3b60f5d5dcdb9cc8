package agent

import (
	"context"
	"fmt"

	"sluice/internal/wire"
)

const (
	// bytesPerToken is about how long a token is; it decides how much of the history is loaded, not how
	// much is sent.
	bytesPerToken = 6
	// unknownHistory is how much of it is loaded when the size of the context isn't known, in bytes.
	unknownHistory = 128 << 10
	// shortToken is how long a token of a tool's schema is at least, on average.
	shortToken = 4
	// templateBytes is what a chat template adds to a message, templateTools what it adds to the tools,
	// at most: only a prompt that is shorter than the context even so goes uncounted.
	templateBytes, templateTools = 64, 1024
	// maxReserve is the most that is left for the answer of a step without max_tokens, in tokens.
	maxReserve = 4096
	// shortResult is how much of a tool's result is sent when nothing else can be left out, in bytes.
	shortResult = 1024
	// maxCounts bounds how often the server is asked for one request.
	maxCounts = 8
)

// prepare implements Prepare.
func (p *prompt) prepare(ctx context.Context, window Window, overflow *wire.Overflow) (*wire.ModelRequest, error) {
	p.load(ctx, window)
	if overflow == nil {
		p.fit(ctx, window)
		return p.request(), nil
	}
	if overflow.ContextSize > 0 {
		p.size = overflow.ContextSize
	}
	// There is one more attempt only, so rather too much is left out than too little.
	tokens := max(overflow.PromptTokens, 4)
	excess := max(overflow.PromptTokens-p.limit(), tokens/4)
	if !p.shorten(max(excess*promptBytes(p.request())/tokens, excess)) {
		return nil, overflow
	}
	p.fit(ctx, window)
	return p.request(), nil
}

// load reads the history once.
func (p *prompt) load(ctx context.Context, window Window) {
	if p.loaded {
		return
	}
	p.loaded = true
	p.size = window.ContextSize(ctx)
	budget := unknownHistory
	if p.size > 0 {
		budget = p.size * bytesPerToken
	}
	t := p.turn
	history, err := t.session.History(ctx, t.record.ID, budget, t.ResultBytes)
	if err != nil && ctx.Err() == nil {
		t.warn("the session's earlier turns can't be read, so the model doesn't know them: " + err.Error())
	}
	p.history, p.keep = history, len(history)
}

// limit is how many tokens the prompt may have.
func (p *prompt) limit() int {
	reserve := min(p.size/4, maxReserve)
	if asked := p.turn.MaxTokens; asked > 0 {
		reserve = min(asked, p.size/2)
	}
	return p.size - reserve
}

// fit leaves out what doesn't fit, the oldest turns first. The server counts, unless even a token for
// each byte would fit.
func (p *prompt) fit(ctx context.Context, window Window) {
	if p.size == 0 {
		return
	}
	for range maxCounts {
		request := p.request()
		bytes := promptBytes(request)
		if bytes <= p.limit() {
			return
		}
		tokens, err := window.Count(ctx, request)
		if err != nil {
			return // the server will say so if it is too long
		}
		// Rather too little is left out than too much: it is counted again.
		if excess := tokens - p.limit(); excess <= 0 || !p.shorten(excess*max(bytes/tokens, 1)) {
			return
		}
	}
}

// tooLong says why a prompt doesn't fit and what to do, when nothing can be left out any more.
func (p *prompt) tooLong() string {
	described := 0
	for _, tool := range p.turn.tools {
		described += len(tool.Function) + len(tool.Description) + len(tool.Schema)
	}
	if p.size > 0 && described/shortToken > p.limit() {
		return fmt.Sprintf("what describes the %s takes more of the model's context than there is; offer fewer with agents[].tools, or raise models[].ctx_size",
			counted(len(p.turn.tools), "tool"))
	}
	return "the conversation doesn't fit into the model's context, even without its older part; " +
		"shorten the input, begin a new session, or raise models[].ctx_size"
}

// promptBytes is what a prompt comes to at most, in tokens: no token is shorter than a byte.
func promptBytes(r *wire.ModelRequest) int {
	bytes := 0
	for i := range r.Messages {
		bytes += messageBytes(&r.Messages[i])
	}
	for i := range r.Tools {
		bytes += templateBytes + len(r.Tools[i].Function) + len(r.Tools[i].Description) + len(r.Tools[i].Schema)
	}
	if len(r.Tools) > 0 {
		bytes += templateTools
	}
	return bytes
}

func messageBytes(m *wire.Message) int {
	bytes := templateBytes + len(m.Content)
	for i := range m.Calls {
		bytes += templateBytes + len(m.Calls[i].Function) + len(m.Calls[i].Arguments)
	}
	return bytes
}

// shorten leaves out about so many bytes of the prompt, as promptBytes counts them; false when nothing
// can be left out any more.
func (p *prompt) shorten(bytes int) bool {
	if p.keep > 0 {
		for p.keep > 0 && bytes > 0 {
			p.keep--
			for _, m := range p.turn.turnMessages(&p.history[p.keep]) {
				bytes -= messageBytes(&m)
			}
		}
		return true
	}
	if len(p.snippets) > 0 {
		p.snippets = nil
		return true
	}
	if p.resultBytes == 0 && promptHasLongResult(p.own) {
		p.resultBytes = shortResult
		return true
	}
	return false
}

func promptHasLongResult(messages []wire.Message) bool {
	for i := range messages {
		if messages[i].Role == wire.RoleTool && len(messages[i].Content) > shortResult+256 {
			return true
		}
	}
	return false
}
