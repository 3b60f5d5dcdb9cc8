package tools

import (
	"encoding/base64"
	"io"
	"strconv"
	"strings"
)

// mending replaces, within a JSON text that is valid, what the SDK's decoder refuses: it refuses a whole
// result for one member of a wrong type. All else keeps its bytes.
type mending struct {
	text    string
	edits   []edit // by where they stand, without overlap
	dropped int    // items that are left out or shown as a note
	changed int    // members that are left out or replaced
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	by       string
}

func (m *mending) replace(v value, by string) {
	m.edits = append(m.edits, edit{v.at, v.at + len(v.raw), by})
}

// done returns the mended text.
func (m *mending) done() string {
	var text strings.Builder
	from := 0
	for _, e := range m.edits {
		text.WriteString(m.text[from:e.from])
		text.WriteString(e.by)
		from = e.to
	}
	text.WriteString(m.text[from:])
	return text.String()
}

// members leaves out what doesn't fit, by putting null in its place, which the decoder takes for nothing.
func (m *mending) members(object value, fit fits) {
	object.each(func(name string, member value) bool {
		if !fit.allow(name, member) {
			m.replace(member, "null")
			m.changed++
		}
		return true
	})
}

// fits says of members what fits the decoder. Members that aren't named may be anything.
type fits map[string]func(value) bool

func (f fits) allow(name string, v value) bool {
	fit := f[name]
	return fit == nil || v.isNull() || fit(v)
}

func isText(v value) bool   { return v.kind() == '"' }
func isBool(v value) bool   { return v.kind() == 't' || v.kind() == 'f' }
func isObject(v value) bool { return v.kind() == '{' }
func isList(v value) bool   { return v.kind() == '[' }
func never(value) bool      { return false }

func isWhole(v value) bool {
	_, err := strconv.ParseInt(v.raw, 10, 64)
	return err == nil
}

func isNumber(v value) bool {
	_, err := strconv.ParseFloat(v.raw, 64)
	return err == nil
}

func isBase64(v value) bool {
	if !isText(v) {
		return false
	}
	_, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(v.text())))
	return err == nil
}

// listOf reports whether a value is a list of what fits.
func listOf(fit func(value) bool) func(value) bool {
	return func(v value) bool {
		fine := isList(v)
		if fine {
			v.each(func(_ string, one value) bool {
				fine = one.isNull() || fit(one)
				return fine
			})
		}
		return fine
	}
}

// objectOf reports whether a value is an object all of whose members fit.
func objectOf(members fits) func(value) bool {
	return func(v value) bool {
		fine := isObject(v)
		if fine {
			v.each(func(name string, member value) bool {
				fine = members.allow(name, member)
				return fine
			})
		}
		return fine
	}
}
