package pipeline

import (
	"sluice/internal/wire"
	"sluice/stages/encode"
	"sluice/stages/parse"
	"sluice/stages/route"
	"sluice/stages/validate"
)

// Protocol names the stages that differ from protocol to protocol.
type Protocol struct {
	Parse           func(*wire.Lines) *wire.Requests
	Validate, Route func(*wire.Requests) *wire.Requests
	// Reply appends the line that ends a request.
	Reply func(dst []byte, id wire.ID, reply wire.Reply, d wire.Delivery) []byte
	// Events returns the encoder of one chat's events.
	Events func(id wire.ID, offsets bool) func(*wire.Events) *wire.Frames
	ASCII  bool
}

// NDJSON returns NDJSON v1.
func NDJSON(maxLineBytes int, ascii bool) Protocol {
	parser := &parse.NDJSON{MaxLineBytes: maxLineBytes}
	encoder := encode.NDJSON{ASCII: ascii}
	return Protocol{
		Parse:    parser.Apply,
		Validate: validate.NDJSON,
		Route:    route.NDJSON,
		Reply:    encoder.AppendReply,
		Events: func(id wire.ID, offsets bool) func(*wire.Events) *wire.Frames {
			return encoder.Events(id, offsets).Apply
		},
		ASCII: ascii,
	}
}

// JSONRPC returns JSON-RPC v1.
func JSONRPC(maxLineBytes int, ascii bool) Protocol {
	parser := &parse.JSONRPC{MaxLineBytes: maxLineBytes}
	encoder := encode.JSONRPC{ASCII: ascii}
	return Protocol{
		Parse:    parser.Apply,
		Validate: validate.JSONRPC,
		Route:    route.JSONRPC,
		Reply:    encoder.AppendReply,
		Events: func(id wire.ID, _ bool) func(*wire.Events) *wire.Frames {
			return encoder.Events(id).Apply
		},
		ASCII: ascii,
	}
}
