package toolcall

import "sluice/internal/wire"

// pythonAt reports whether a call in Python's form, or a list of such, begins at i.
func pythonAt(text string, i int) bool {
	if i < len(text) && text[i] == '[' {
		i = skipSpace(text, i+1)
	}
	name := dotted(text[min(i, len(text)):])
	return name != "" && i+len(name) < len(text) && text[i+len(name)] == '('
}

// dotted returns the name at the start of text, with dots and slashes.
func dotted(text string) string {
	end := 0
	for end < len(text) && end <= maxName && (isWord(text[end]) || end > 0 && (text[end] == '.' || text[end] == '-' || text[end] == '/')) {
		end++
	}
	return text[:end]
}

// python reads name(member=value, …), or a list of such in brackets.
func (r *reader) python() (drafts []draft, ok bool) {
	r.blank()
	list := r.pos < len(r.in) && r.in[r.pos] == '['
	if list {
		r.pos++
	}
	for {
		d, ok := r.pythonCall()
		if !ok {
			return nil, false
		}
		drafts = append(drafts, d)
		if !list {
			return drafts, true
		}
		switch {
		case r.takes(']'):
			return drafts, true
		case !r.takes(','):
			return nil, r.fail(`a comma or "]" is missing between calls`)
		case r.takes(']'):
			r.fixes |= fixComma
			return drafts, true
		}
	}
}

func (r *reader) pythonCall() (d draft, ok bool) {
	r.blank()
	d.name, d.hasArgs = dotted(r.in[r.pos:]), true
	if r.pos += len(d.name); d.name == "" || !r.takes('(') {
		return d, r.fail("a call name(member=value) is missing")
	}
	r.out = append(r.out[:0], '{')
	for !r.takes(')') {
		if len(r.out) > 1 {
			if !r.takes(',') {
				return d, r.fail(`a comma or ")" is missing`)
			}
			if r.takes(')') {
				break
			}
			r.out = append(r.out, ',')
		}
		if !r.pythonMember() {
			return d, false
		}
	}
	r.out = append(r.out, '}')
	args, fixes, f := readArguments(string(r.out), false)
	if f == nil && fixes&fixTwice != 0 {
		f = &fault{what: "an argument is given twice"}
	}
	r.fault, d.args = f, args
	return d, f == nil
}

func (r *reader) pythonMember() bool {
	r.blank()
	name := identifier(r.in[r.pos:])
	if r.pos += len(name); name == "" || !r.takes('=') {
		return r.fail("arguments need names, as in name(member=value)")
	}
	r.out = append(wire.AppendString(r.out, name, false), ':')
	return r.value()
}

// takes takes the character when it is what comes next.
func (r *reader) takes(c byte) bool {
	r.blank()
	if r.pos < len(r.in) && r.in[r.pos] == c {
		r.pos++
		return true
	}
	return false
}
