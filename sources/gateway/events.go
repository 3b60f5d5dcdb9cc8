package gateway

import (
	"bytes"

	"sluice/internal/wire"
	"sluice/sources/sse"
)

const (
	// keptTexts is how much memory for texts stays after a read, in bytes: more than what most reads need.
	keptTexts = 256 << 10
	// keptItems is how many tokens a batch has room for when it stays.
	keptItems = 8 << 10
)

// reader turns the bytes of one event stream into batches of tokens. It does no I/O.
type reader struct {
	decoder  *sse.Decoder
	template template
	tokens   wire.Tokens
	texts    []byte // what the tokens of one read hold that the read itself doesn't; reused
	take     func(sse.Event) error
	ended    bool // a frame end came
	full     int  // frames that took the full parse, for tests
}

func newReader() *reader {
	r := &reader{decoder: sse.New(sse.Options{MaxFrameBytes: maxFrameBytes, KeepUnfinished: true})}
	r.take = r.takeEvent
	return r
}

// read takes the next piece of the stream, cut anywhere. The tokens that it adds to the batch alias p.
// Frames of text that are like the last one are recognised as a whole; all else, and what isn't whole,
// goes through the decoder.
func (r *reader) read(p []byte) error {
	for len(p) > 0 && !r.ended {
		if r.decoder.Between() {
			p = r.takeAlike(p)
		}
		piece := p[:firstFrame(p)]
		if err := r.decoder.Decode(piece, r.take); err != nil {
			return err
		}
		p = p[len(piece):]
	}
	return nil
}

// finish says that the stream has ended in order: its last frame counts without an empty line.
func (r *reader) finish() error {
	if r.ended {
		return nil
	}
	return r.decoder.Finish(r.take)
}

// reset empties the batch, once it was pushed.
func (r *reader) reset() {
	r.tokens.Reset()
	r.texts = r.texts[:0]
	if cap(r.texts) > keptTexts {
		r.texts = nil
	}
	if cap(r.tokens.Items) > keptItems {
		r.tokens.Items = nil
	}
}

// firstFrame is how much of p belongs to the frame that ends first; all of it when none does.
func firstFrame(p []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			return len(p)
		}
		at += i + 1
		if bytes.HasPrefix(p[at:], bytesOf("\n")) {
			return at + 1
		}
		if bytes.HasPrefix(p[at:], bytesOf("\r\n")) {
			return at + 2
		}
	}
}

// takeAlike takes the frames at the start of p that are like the last one, and returns what follows.
func (r *reader) takeAlike(p []byte) []byte {
	for {
		text, plain, length := r.template.frame(p)
		if length == 0 {
			return p
		}
		r.addText(text, plain)
		p = p[length:]
	}
}

// takeEvent takes one frame that the decoder read. Its data is borrowed until it returns, but the batch
// is pushed after the whole read, so that what it brings is copied.
func (r *reader) takeEvent(event sse.Event) error {
	if r.ended {
		return nil
	}
	from := len(r.texts)
	if isDefault(event.Type) {
		if raw, plain, ok := r.template.match(event.Data); ok {
			r.texts = append(r.texts, raw...)
			r.addText(r.texts[from:], plain)
			return nil
		}
	}
	r.full++
	var kind frameKind
	r.texts, kind = appendFrame(r.texts, stringOf(event.Type), event.Data)
	switch added := r.texts[from:]; kind {
	case frameText:
		r.addText(added, wire.IsPlain(added))
		r.template.learn(event.Data)
	case frameEvent, frameEnd:
		r.tokens.Items = append(r.tokens.Items, wire.Token{Kind: wire.TokenFrame, Raw: added})
		r.ended = kind == frameEnd
	}
	return nil
}

func (r *reader) addText(raw []byte, plain bool) {
	r.tokens.Items = append(r.tokens.Items, wire.Token{Kind: wire.TokenContent, Plain: plain, Raw: raw})
}

func isDefault(name []byte) bool { return len(name) == 0 || string(name) == "message" }
