package toolcall

import "strings"

// maxHeader is how far behind the opening token the arguments of a call may begin.
const maxHeader = 512

// read reads the block whose opening token stands at a place. It is not found where nothing that looks
// like a call stands behind the token.
func (s *scanner) read(at int, m *markup) (b block, found bool) {
	b.start = at
	i := at + len(m.open)
	switch m.kind {
	case function:
		found = s.function(&b, i, m)
	case named:
		found = s.named(&b, i, m)
	case harmony:
		found = s.addressed(&b, i, m)
	case fenced:
		i += len(identifier(s.text[i:]))
		found = s.values(&b, i, m)
	default:
		found = s.values(&b, i, m)
	}
	return b, found
}

// values reads JSON, Python calls or <function=…> behind the token that ends at i.
func (s *scanner) values(b *block, i int, m *markup) bool {
	i = skipSpace(s.text, i)
	rest := s.text[i:]
	switch {
	case pythonAt(s.text, i) && m.kind != wrapper:
		r := reader{in: s.text, pos: i, cut: s.cut}
		b.drafts, _ = r.python()
		s.fixes |= r.fixes | fixPython
		b.fault, b.end = r.fault, r.pos
	case rest != "" && (rest[0] == '{' || rest[0] == '[') || strings.HasPrefix(rest, "```") && m.kind != fenced:
		s.json(b, i)
	case strings.HasPrefix(rest, "<function=") && m.kind != fenced:
		s.functions(b, i)
	case m.kind != wrapper && s.glm(b, i, m):
	case m.kind == mistral:
		return s.named(b, i, m)
	case m.kind == wrapper || len(m.close) == 0 || s.closer(m.close[0], i) == len(s.text):
		return false
	default:
		b.fault = &fault{what: "what stands in it is no call", near: excerpt(rest)}
	}
	s.finish(b, m)
	return true
}

// json reads JSON values, one behind another.
func (s *scanner) json(b *block, i int) {
	r := reader{in: s.text, pos: i, cut: s.cut}
	for {
		r.out = r.out[:0]
		end, ok := r.fenced()
		s.fixes |= r.fixes
		if !ok {
			b.fault = r.fault
			return
		}
		drafts, fixes, f := shape(r.out)
		s.fixes |= fixes
		b.drafts, b.fault, b.end = append(b.drafts, drafts...), f, end
		if f != nil {
			return
		}
		if i = behindSeparator(s.text, end); i == len(s.text) || s.text[i] != '{' {
			return
		}
		r.pos = i
	}
}

// behindSeparator returns what is behind a value, blanks and one separator between two.
func behindSeparator(text string, i int) int {
	if i = skipSpace(text, i); i < len(text) && (text[i] == ';' || text[i] == ',') {
		i = skipSpace(text, i+1)
	}
	return i
}

// finish reads the closing token, which may be left out where other markup or the end follows.
func (s *scanner) finish(b *block, m *markup) {
	if b.fault != nil {
		return
	}
	i := skipSpace(s.text, b.end)
	for _, token := range m.close {
		if strings.HasPrefix(s.text[i:], token) {
			b.end = i + len(token)
			return
		}
	}
	if len(m.close) == 0 {
		return
	}
	if i < len(s.text) && markupAt(s.text, i) == nil {
		b.fault = &fault{what: "more text stands behind the call and before its closing " + m.close[0], near: excerpt(s.text[i:])}
		return
	}
	s.fixes |= fixTag
}

// functions reads <function=…> blocks inside other markup.
func (s *scanner) functions(b *block, i int) {
	for b.fault == nil {
		if !s.function(b, i+len("<function="), markupAt(s.text, i)) {
			b.fault = &fault{what: "<function=name> needs a JSON object behind it", near: excerpt(s.text[i:])}
			return
		}
		if i = skipSpace(s.text, b.end); !strings.HasPrefix(s.text[i:], "<function=") {
			return
		}
	}
}

// function reads name>…</function>, with JSON or parameters inside.
func (s *scanner) function(b *block, i int, m *markup) bool {
	name, behind, ok := s.nameBefore(i)
	closed := s.closer(m.close[0], i) < len(s.text)
	if !ok {
		b.fault = &fault{what: "the name in " + m.open + "…> is not closed", near: around(s.text, i)}
		return closed
	}
	switch i = skipSpace(s.text, behind); {
	case formAt(s.text, i) != nil:
		s.parameters(b, name, i)
	case strings.HasPrefix(s.text[i:], m.close[0]):
		b.drafts, b.end = append(b.drafts, draft{name: name, args: "{}"}), i
	case i < len(s.text) && (s.text[i] == '{' || s.text[i] == '`'):
		s.arguments(b, name, i)
	default:
		b.fault = &fault{what: "a call in " + m.open + "…> needs a JSON object inside", near: excerpt(s.text[i:])}
		return closed
	}
	s.finish(b, m)
	return true
}

// nameBefore reads a name up to ">".
func (s *scanner) nameBefore(i int) (name string, behind int, ok bool) {
	window := s.text[i:min(i+maxName, len(s.text))]
	end := strings.IndexAny(window, ">\n<{")
	if end <= 0 || window[end] != '>' {
		return "", 0, false
	}
	return window[:end], i + end + 1, true
}

// arguments reads the JSON object of a call whose name is known.
func (s *scanner) arguments(b *block, name string, i int) {
	r := reader{in: s.text, pos: i, cut: s.cut}
	end, ok := r.fenced()
	s.fixes |= r.fixes
	if b.end = end; !ok {
		b.fault = r.fault
		return
	}
	args, fixes, f := readArguments(string(r.out), false)
	s.fixes |= fixes
	b.drafts, b.fault = append(b.drafts, draft{name: name, args: args}), f
}

// named reads a name and then the arguments, as DeepSeek, Kimi and newer Mistral models write calls.
func (s *scanner) named(b *block, i int, m *markup) bool {
	window := s.text[i:min(i+maxHeader, len(s.text))]
	end := strings.IndexAny(window, "{`")
	if end < 0 {
		if len(m.close) == 0 || s.closer(m.close[0], i) == len(s.text) {
			return false
		}
		b.fault = &fault{what: "a JSON object is missing behind the call's name", near: excerpt(window)}
		return true
	}
	name := headerName(window[:end])
	if name == "" || strings.ContainsAny(name, " \t\n<") {
		b.fault = &fault{what: "the call has no name", near: excerpt(window)}
		return len(m.close) > 0
	}
	s.arguments(b, name, i+end)
	s.finish(b, m)
	return true
}

// headerName finds the name between an opening token and the arguments.
func headerName(header string) string {
	left, right, _ := strings.Cut(header, "<｜tool▁sep｜>")
	if right = strings.TrimSpace(right); right != "" && strings.TrimSpace(left) == "function" {
		return right
	}
	for _, token := range []string{"[ARGS]", "[CALL_ID]", "<|tool_call_argument_begin|>"} {
		left, _, _ = strings.Cut(left, token)
	}
	if right != "" {
		return ""
	}
	return strings.TrimSpace(left)
}

// header reads what stands between the first token of a harmony message and <|message|>; body is 0 when
// there is no such header.
func (s *scanner) header(i int) (header string, body int) {
	window := s.text[i:min(i+maxHeader, len(s.text))]
	header, _, ok := strings.Cut(window, "<|message|>")
	if !ok {
		return "", 0
	}
	return header, i + len(header) + len("<|message|>")
}

// addressed reads a harmony message that is addressed to a function.
func (s *scanner) addressed(b *block, i int, m *markup) bool {
	header, body := s.header(i)
	_, to, ok := strings.Cut(header, "to=")
	if body == 0 || !ok {
		return false
	}
	end := strings.IndexAny(to+" ", " \n<")
	s.arguments(b, to[:end], body)
	s.finish(b, m)
	return true
}
