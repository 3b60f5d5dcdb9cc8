package toolcall

import (
	"bytes"
	"fmt"
	"strings"

	"sluice/internal/wire"
)

// reader reads one JSON value leniently and writes it in normal form.
type reader struct {
	in  string
	pos int
	// out is the normal form of what was read.
	out   []byte
	depth int
	// cut forbids to complete what ends too early.
	cut   bool
	fixes fix
	fault *fault
}

// fault says why a value can't be read and where.
type fault struct {
	what, near string
}

// fail notes the first fault; it is always false.
func (r *reader) fail(format string, args ...any) bool {
	if r.fault == nil {
		r.fault = &fault{what: fmt.Sprintf(format, args...), near: around(r.in, r.pos)}
	}
	return false
}

// value reads the value at pos, blanks and comments before it included.
func (r *reader) value() bool {
	r.blank()
	if r.atEnd() {
		return r.fail("the JSON ends where a value is missing")
	}
	switch c := r.in[r.pos]; {
	case c == '{':
		return r.object()
	case c == '[':
		return r.container(']', func() (bool, bool) { return true, r.value() })
	case c == '"' || c == '\'':
		return r.text()
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	return r.word()
}

// atEnd reports whether the body ends here: at the end of the text, or where markup begins. The caller
// looks at what follows.
func (r *reader) atEnd() bool {
	return r.pos == len(r.in) || r.in[r.pos] == '<' || strings.HasPrefix(r.in[r.pos:], "```")
}

// container reads an object or array, whose members member reads; its first result says whether the
// member stays.
func (r *reader) container(end byte, member func() (keep, ok bool)) bool {
	if r.depth == wire.MaxDepth {
		return r.fail("it is nested deeper than %d levels", wire.MaxDepth)
	}
	r.depth++
	r.out = append(r.out, r.in[r.pos])
	r.pos++
	if r.closes(end) {
		return true
	}
	for first := true; ; {
		mark := len(r.out)
		if !first {
			r.out = append(r.out, ',')
		}
		keep, ok := member()
		if !ok {
			return false
		}
		if first = first && !keep; !keep {
			r.out = r.out[:mark]
		}
		done, ok := r.separator(end)
		if done || !ok {
			return ok
		}
	}
}

// closes takes the closing bracket when it stands here.
func (r *reader) closes(end byte) bool {
	r.blank()
	if r.pos == len(r.in) || r.in[r.pos] != end {
		return false
	}
	r.pos++
	r.close(end)
	return true
}

func (r *reader) close(end byte) {
	r.out = append(r.out, end)
	r.depth--
}

// separator reads what stands behind a member: a comma, the closing bracket, both, or the end.
func (r *reader) separator(end byte) (done, ok bool) {
	if r.closes(end) {
		return true, true
	}
	switch {
	case r.atEnd() && r.cut:
		return false, r.fail("the answer was cut off before %q", end)
	case r.atEnd():
		r.fixes |= fixClosers
		r.close(end)
		return true, true
	case r.in[r.pos] != ',':
		return false, r.fail("a comma or %q is missing", end)
	}
	r.pos++
	if r.closes(end) {
		r.fixes |= fixComma
		return true, true
	}
	return false, true
}

// span is where a member's name and value stand in out.
type span struct{ key, colon, end int }

// object reads an object; a member that comes again with the same value is left out.
func (r *reader) object() bool {
	var members []span
	var index map[string]int
	return r.container('}', func() (bool, bool) {
		m, ok := r.member()
		if !ok {
			return false, false
		}
		key := r.out[m.key:m.colon]
		if len(members) == 16 && index == nil {
			index = map[string]int{}
			for i, each := range members {
				index[string(r.out[each.key:each.colon])] = i
			}
		}
		if i := find(r.out, members, index, key); i >= 0 {
			r.fixes |= fixTwice
			if !bytes.Equal(r.out[members[i].colon:members[i].end], r.out[m.colon:m.end]) {
				return false, r.fail("the member %s stands twice with different values", excerpt(string(key)))
			}
			return false, true
		}
		if index != nil {
			index[string(key)] = len(members)
		}
		members = append(members, m)
		return true, true
	})
}

func find(out []byte, members []span, index map[string]int, key []byte) int {
	if index != nil {
		if i, ok := index[string(key)]; ok {
			return i
		}
		return -1
	}
	for i, m := range members {
		if bytes.Equal(out[m.key:m.colon], key) {
			return i
		}
	}
	return -1
}

// member reads name, colon and value.
func (r *reader) member() (m span, ok bool) {
	r.blank()
	m.key = len(r.out)
	if !r.key() {
		return m, false
	}
	m.colon = len(r.out)
	r.blank()
	if r.pos == len(r.in) || r.in[r.pos] != ':' {
		return m, r.fail("a colon is missing after the member's name")
	}
	r.pos++
	r.out = append(r.out, ':')
	ok = r.value()
	m.end = len(r.out)
	return m, ok
}

func (r *reader) key() bool {
	switch {
	case r.atEnd():
		return r.fail("the JSON ends inside an object")
	case r.in[r.pos] == '"' || r.in[r.pos] == '\'':
		return r.text()
	}
	name := identifier(r.in[r.pos:])
	if name == "" {
		return r.fail("a member's name in double quotes is missing")
	}
	r.pos += len(name)
	r.fixes |= fixKeys
	r.out = wire.AppendString(r.out, name, false)
	return true
}
