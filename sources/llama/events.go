package llama

import (
	"bytes"

	"sluice/internal/wire"
	"sluice/sources/sse"
)

// decode reads the next piece of the stream. Events that are like the last one are recognised as a
// whole; all else, and what isn't whole, goes through the decoder.
func (s *Stream) decode(decoder *sse.Decoder, p []byte, take func(sse.Event) error) error {
	for len(p) > 0 && !s.done {
		if decoder.Between() {
			p = s.takeAlike(p)
		}
		piece := p
		if i := bytes.Index(p, []byte(frameTail)); i >= 0 {
			piece = p[:i+len(frameTail)]
		}
		if err := decoder.Decode(piece, take); err != nil {
			return err
		}
		p = p[len(piece):]
	}
	return nil
}

// takeAlike reads the events at the start of p that are like the last one, and returns what follows.
// Their texts alias p, which is pushed before it is read into again.
func (s *Stream) takeAlike(p []byte) []byte {
	for {
		text, length := s.parser.template.frame(p)
		if length == 0 {
			return p
		}
		if len(text) > 0 {
			s.tokens.Items = append(s.tokens.Items, wire.Token{Kind: s.parser.template.kind, Plain: true, Raw: text})
		}
		p = p[length:]
	}
}

// take reads one event of the stream.
func (s *Stream) take(event sse.Event) error {
	s.begun = true
	switch {
	case s.done:
		return nil
	case len(event.Data) == len(endMark) && string(event.Data) == endMark:
		s.done = true
		return nil
	}
	before := len(s.tokens.Items)
	if fault := s.parser.parse(event.Data, &s.tokens); fault != nil {
		return fault
	}
	s.keep(s.tokens.Items[before:])
	return nil
}

// keep copies the texts of new tokens: an event's data is borrowed until take returns, but the batch
// is pushed after the whole read.
func (s *Stream) keep(tokens []wire.Token) {
	for i := range tokens {
		from := len(s.texts)
		s.texts = append(s.texts, tokens[i].Raw...)
		tokens[i].Raw = s.texts[from:]
	}
}

// endMark is the data of the event that ends a stream.
const endMark = "[DONE]"
