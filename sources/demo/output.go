package demo

import (
	"context"
	"fmt"
	"net/http"
)

// flushBytes is how much of an unpaced answer is sent at once.
const flushBytes = 32 << 10

// output takes the tokens of a generation.
type output interface {
	token(Token) error // takes one token, at once or with later ones
	flush() error      // sends what was taken: nothing comes for a while
}

// eventOutput sends tokens as events.
type eventOutput struct {
	ctx      context.Context
	w        http.ResponseWriter
	literals [][]byte
	encoder  *chunkEncoder
	call     *toolCall // nil for an answer
	opened   bool      // the call's first chunk, which names the tool, has been made
	pending  []byte    // chunks not yet sent
}

func (o *eventOutput) token(token Token) error {
	switch literal := o.literals[token]; {
	case o.call == nil:
		o.pending = o.encoder.content(o.pending, literal)
	case !o.opened:
		o.pending = o.encoder.openCall(o.pending, o.call, literal)
		o.opened = true
	default:
		o.pending = o.encoder.callArguments(o.pending, literal)
	}
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

func (o *textOutput) appendMessage(dst []byte, call *toolCall) []byte {
	if call == nil {
		return fmt.Appendf(dst, `{"role":"assistant","content":%s}`, jsonString(string(o.text)))
	}
	return fmt.Appendf(dst, `{"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":%s,"arguments":%s},"id":"%s"}]}`,
		jsonString(call.name), jsonString(string(o.text)), call.id)
}
