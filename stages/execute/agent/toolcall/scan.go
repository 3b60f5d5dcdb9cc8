package toolcall

import (
	"strings"
	"unicode/utf8"
)

// block is markup that holds calls, or announces some that can't be read.
type block struct {
	start, end int
	drafts     []draft
	fault      *fault
	// amid says that the block stands amid a sentence.
	amid bool
}

// scanner looks for blocks in an answer, from left to right.
type scanner struct {
	text  string
	cut   bool
	types typer
	find  finder
	place place
	// closers remembers where a closing token was found last; len(text) when there is none.
	closers map[string]int
	blocks  []block
	// spans are the plain tokens that were passed.
	spans []block
	fixes fix
}

func newScanner(text string, step Step) *scanner {
	return &scanner{
		text: text, cut: step.Cut, types: typer{tools: step.Tools},
		find: finder{text: text}, place: place{text: text, word: -1}, closers: map[string]int{},
	}
}

// scan finds the blocks.
func (s *scanner) scan() {
	for i := 0; ; {
		at, m := s.find.from(i)
		if m == nil {
			return
		}
		s.place.move(at)
		next, ok := s.step(at, m)
		if !ok {
			return
		}
		i = next
	}
}

// step handles the markup at a place and returns where to go on; not ok ends the search.
func (s *scanner) step(at int, m *markup) (next int, ok bool) {
	behind := at + len(m.open)
	if s.place.at > at || s.place.quoted() {
		return behind, true
	}
	switch m.kind {
	case plain:
		return s.pass(at, behind), true
	case thoughtStart:
		return s.skipThought(behind, m.close[0]), true
	case thoughtEnd:
		// What came before was thought, whether or not its beginning stood in the text.
		s.blocks, s.spans = nil, nil
		s.place.jump(behind)
		return behind, true
	}
	b, found := s.read(at, m)
	if !found {
		return s.unread(at, m)
	}
	if b.amid = !s.place.starts(); b.fault != nil {
		if !b.amid {
			s.blocks = append(s.blocks, b)
		}
		return 0, false
	}
	if !b.amid || s.offered(b) {
		s.blocks = append(s.blocks, b)
	}
	s.place.jump(b.end)
	return b.end, true
}

// pass notes a plain token, so that it is taken out of the text if there are calls. Special tokens end a
// sentence, wherever they stand.
func (s *scanner) pass(at, behind int) int {
	s.spans = append(s.spans, block{start: at, end: behind})
	if special := s.text[at+1]; special == '|' || special >= utf8.RuneSelf || s.place.starts() {
		s.place.jump(behind)
	} else {
		s.place.at = behind
	}
	return behind
}

// skipThought goes behind the thought that begins here, if a sentence may.
func (s *scanner) skipThought(behind int, closer string) int {
	if !s.place.starts() {
		return behind
	}
	end := min(s.closer(closer, behind)+len(closer), len(s.text))
	s.place.jump(end)
	return end
}

// unread handles markup that announces no call: the header of a message, whose thoughts are skipped;
// wrappers; tokens at the end of the text; else it is text.
func (s *scanner) unread(at int, m *markup) (next int, ok bool) {
	behind := at + len(m.open)
	switch {
	case m.kind == harmony:
		header, body := s.header(behind)
		if body == 0 {
			return behind, true
		}
		if s.pass(at, body); strings.Contains(header, "analysis") {
			body = s.closer("<|end|>", body)
			s.place.jump(body)
		}
		return body, true
	case m.kind == wrapper && s.place.starts(), skipSpace(s.text, behind) == len(s.text):
		return s.pass(at, behind), true
	}
	return behind, true
}

// closer returns where the next such token begins at or after i; len(text) when there is none.
func (s *scanner) closer(token string, i int) int {
	at, known := s.closers[token]
	if !known || at < i {
		if at = strings.Index(s.text[i:], token); at < 0 {
			at = len(s.text)
		} else {
			at += i
		}
		s.closers[token] = at
	}
	return at
}

// offered reports whether all calls of a block name offered tools.
func (s *scanner) offered(b block) bool {
	for _, d := range b.drafts {
		if resolve(d.name, s.types.tools).tool == nil {
			return false
		}
	}
	return true
}

// tail reports whether text follows the last block, other than plain tokens.
func (s *scanner) tail() bool {
	i := s.blocks[len(s.blocks)-1].end
	for {
		i = skipSpace(s.text, i)
		m := markupAt(s.text, i)
		if m == nil || m.kind != plain && skipSpace(s.text, i+len(m.open)) < len(s.text) {
			return i < len(s.text)
		}
		i += len(m.open)
	}
}

// readText makes out the calls that the answer's text holds.
func (b *builder) readText() {
	if b.readWhole() {
		return
	}
	s := newScanner(b.step.Text, b.step)
	if s.scan(); len(s.blocks) == 0 {
		return
	}
	// Behind a block that can't be read nothing was looked at, so it counts as the end.
	tail := s.blocks[len(s.blocks)-1].fault == nil && s.tail()
	var taken []block
	for _, each := range s.blocks {
		switch {
		case each.fault != nil:
			b.problem(textProblem(each.fault))
		case tail:
			if !each.amid {
				b.problem(followedProblem(each.drafts[0].name))
			}
		case each.amid:
			b.problem(amidProblem(each.drafts[0].name))
		default:
			if b.addAll(each.drafts) {
				taken = append(taken, each)
			}
		}
	}
	if len(taken) > 0 {
		b.repaired(s.fixes | fixText)
		b.reading.Text = without(b.step.Text, taken, s.spans)
	}
}

// addAll reports whether all of a block's calls were added.
func (b *builder) addAll(drafts []draft) bool {
	before := len(b.reading.Calls)
	for _, d := range drafts {
		b.add(d)
	}
	return len(b.reading.Calls) == before+len(drafts)
}

// without returns the text less the blocks and spans, each list in order and none within another.
func without(text string, blocks, spans []block) string {
	var kept strings.Builder
	at := 0
	for len(blocks)+len(spans) > 0 {
		var next block
		if len(spans) == 0 || len(blocks) > 0 && blocks[0].start < spans[0].start {
			next, blocks = blocks[0], blocks[1:]
		} else {
			next, spans = spans[0], spans[1:]
		}
		kept.WriteString(text[at:next.start])
		at = next.end
	}
	kept.WriteString(text[at:])
	return strings.TrimSpace(kept.String())
}
