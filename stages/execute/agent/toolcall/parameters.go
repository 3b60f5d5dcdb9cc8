package toolcall

import (
	"strings"

	"sluice/internal/wire"
)

// maxParameters bounds the parameters of one call: the schema is looked at for each.
const maxParameters = 256

// form is a way to write one parameter as markup: open, its name, middle, its value, end.
type form struct {
	open, middle, end string
	// lines says that a line break at the beginning of the value and one at its end belong to the markup.
	lines bool
}

var forms = []form{
	{"<parameter=", ">", "</parameter>", true},       // Qwen3-Coder
	{"<parameter name=", ">", "</parameter>", false}, // MiniMax M2
	{"<arg_key>", "</arg_key>", "</arg_value>", false},
}

// formAt returns the form of the parameter that begins at i.
func formAt(text string, i int) *form {
	for k := range forms {
		if strings.HasPrefix(text[i:], forms[k].open) {
			return &forms[k]
		}
	}
	return nil
}

// parameters reads the parameters of a call; b.end is behind the last.
func (s *scanner) parameters(b *block, name string, i int) {
	out := []byte{'{'}
	for count := 0; ; count++ {
		f := formAt(s.text, i)
		if f == nil {
			break
		}
		key, value, next := s.parameter(f, i)
		switch {
		case count == maxParameters:
			b.fault = &fault{what: "the call has too many parameters"}
		case next == 0:
			b.fault = &fault{what: "a parameter has no name or is not closed", near: excerpt(s.text[i:])}
		}
		if b.fault != nil {
			return
		}
		if count > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendString(out, key, false), ':')
		if out, b.fault = s.types.append(out, name, key, value); b.fault != nil {
			return
		}
		i = next
	}
	if s.cut && i == len(s.text) {
		b.fault = &fault{what: "the answer was cut off behind a parameter"}
		return
	}
	args, fixes, f := readArguments(string(append(out, '}')), false)
	s.fixes |= fixes
	b.drafts, b.fault, b.end = append(b.drafts, draft{name: name, args: args}), f, i
}

// parameter reads one parameter; next is where the text goes on behind it and blanks, 0 when it can't be read.
func (s *scanner) parameter(f *form, i int) (key, value string, next int) {
	i += len(f.open)
	key, _, ok := strings.Cut(s.text[i:min(i+maxName, len(s.text))], f.middle)
	i += len(key) + len(f.middle)
	if key = strings.Trim(key, " \"'\n"); !ok || key == "" || strings.ContainsAny(key, "<>\n\" ") {
		return "", "", 0
	}
	if f.open == "<arg_key>" {
		if i = skipSpace(s.text, i); !strings.HasPrefix(s.text[i:], "<arg_value>") {
			return "", "", 0
		}
		i += len("<arg_value>")
	}
	end := s.closer(f.end, i)
	if end == len(s.text) {
		return "", "", 0
	}
	if value = s.text[i:end]; f.lines {
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
	}
	return key, value, skipSpace(s.text, end+len(f.end))
}

// glm reads a name and its parameters inside <tool_call>, as GLM models write calls. A name alone is a
// call only when it is an offered tool's.
func (s *scanner) glm(b *block, i int, m *markup) bool {
	name := dotted(s.text[i:])
	behind := skipSpace(s.text, i+len(name))
	switch {
	case name == "" || len(m.close) == 0:
		return false
	case strings.HasPrefix(s.text[behind:], "<arg_key>"):
		s.parameters(b, name, behind)
		return true
	case strings.HasPrefix(s.text[behind:], m.close[0]) && resolve(name, s.types.tools).tool != nil:
		b.drafts, b.end = append(b.drafts, draft{name: name, args: "{}"}), behind
		return true
	}
	return false
}
